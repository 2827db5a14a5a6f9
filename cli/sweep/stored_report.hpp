// SPDX-License-Identifier: Apache-2.0
// A report of `npusim run` as it lies in a file.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace npu::sweep {

struct StoredMetric {
  std::string name;
  std::string value;  // the digits that stand there
  std::string unit;
};

struct StoredReport {
  nlohmann::json identity;  // npusim, workload, config_sha256, seed, parameters; numbers as text
  std::vector<StoredMetric> metrics;
};

// Nothing: it is no whole report.
std::optional<StoredReport> parse_report(const std::string& text);
std::optional<StoredReport> read_report(const std::string& path);

// The file's text; nothing if it cannot be read.
std::optional<std::string> read_file(const std::string& path);

}  // namespace npu::sweep
