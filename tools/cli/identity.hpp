// SPDX-License-Identifier: Apache-2.0
// What a run leaves behind, so that it can be told from others and made again: its report and its
// configuration.
#pragma once

#include <string>

#include "model/config/system_config.hpp"
#include "tools/cli/output.hpp"
#include "tools/reports/report.hpp"

namespace npu::cli {

// The report for machines to `file`, as a page to `page`, then as text to standard output: whoever
// reads that may have gone. The first of their errors.
Outcome publish(OptionFile& file, OptionFile& page, const reports::Report& report);

// --config-out: the resolved configuration, whose SHA-256 is the report's config_sha256.
Outcome write_config(const std::string& path, const model::SystemConfig& config);

}  // namespace npu::cli
