// SPDX-License-Identifier: Apache-2.0
// --vf of npusim exec: which programs have a virtual function as their device.
#pragma once

#include <string>
#include <vector>

#include "apps/exec/server.hpp"
#include "model/config/system_config.hpp"
#include "tools/cli/failure.hpp"

namespace npu::cli {

// ServerOptions::functions and ::function_of, for `programs` programs.
Outcome read_functions(const std::vector<std::string>& words, const model::SystemConfig& config,
                       std::size_t programs, exec::ServerOptions& server);

}  // namespace npu::cli
