// SPDX-License-Identifier: Apache-2.0
// What a run depends on: two runs of the same identity have the same report.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tools/reports/report.hpp"

namespace npu::sweep {

struct RunIdentity {
  std::string version;  // of npusim
  std::string workload;
  std::string config_sha256;
  std::vector<reports::NamedValue> overrides;  // keys of the configuration, resolved
  std::uint64_t seed = 0;
  std::vector<reports::NamedValue> parameters;  // all of them, resolved
  // What may change behind the same point: its report is made anew then, under the same name.
  std::string build;                                        // SHA-256 of the programs
  std::vector<std::pair<std::string, std::string>> inputs;  // files the workload reads, SHA-256

  // 16 hexadecimal digits, of all but `build` and `inputs`.
  std::string name() const;
  // All of it as JSON, what point.json holds.
  std::string text() const;
};

// Whether the report says that it is of this run, and that the run ended well.
bool is_report_of(const reports::Report& report, const RunIdentity& run);

}  // namespace npu::sweep
