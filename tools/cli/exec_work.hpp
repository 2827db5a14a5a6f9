// SPDX-License-Identifier: Apache-2.0
// host.programs of the configuration: the time of what programs do between their calls.
#pragma once

#include <cstdint>

#include "model/config/system_config.hpp"
#include "tools/cli/failure.hpp"

namespace npu::cli {

// That it can be measured on this machine.
Outcome check_work(const model::SystemConfig& config);
// The variable's value programs are started with (compat::kWorkVariable); null: nothing is
// measured.
const char* work_variable(const model::SystemConfig& config);
// What a program says it has done, at most a minute of it: it may say anything.
Picoseconds time_of_work(const model::SystemConfig& config, std::uint64_t measured);

}  // namespace npu::cli
