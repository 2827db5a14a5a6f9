// SPDX-License-Identifier: Apache-2.0
// What a report says of the run it is of, so that it can be told from others and made again.
#pragma once

#include <string>
#include <vector>

#include "cli/output.hpp"
#include "model/config/system_config.hpp"
#include "reports/report.hpp"

namespace npu::cli {

// A report with all but what the run itself finds. `overrides`: those of --set that were keys of
// the configuration, as they were given.
reports::Report begin_report(const std::string& workload, const std::string& config_name,
                             const model::SystemConfig& config,
                             const std::vector<std::string>& overrides);

// The report for machines to `file`, as a page to `page`, then as text to standard output: whoever
// reads that may have gone. The first of their errors.
Outcome publish(OptionFile& file, OptionFile& page, const reports::Report& report);

// --config-out: the resolved configuration, whose SHA-256 is the report's config_sha256.
Outcome write_config(const std::string& path, const model::SystemConfig& config);

}  // namespace npu::cli
