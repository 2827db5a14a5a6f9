// SPDX-License-Identifier: Apache-2.0
// Reads a sweep's file (docs/sweeps.md), strictly.
#pragma once

#include <string>

#include "tools/cli/sweep/sweep_spec.hpp"

namespace npu::sweep {

// Every mistake that can be seen without knowing workloads and configurations: unknown, missing and
// duplicate keys, values of the wrong kind, empty lists, more than kMostPoints points.
model::ConfigResult<SweepSpec> read_sweep_file(const std::string& path);
model::ConfigResult<SweepSpec> parse_sweep(const std::string& text, const std::string& file);

}  // namespace npu::sweep
