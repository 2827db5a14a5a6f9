// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "apps/demo/backend.hpp"
#include "apps/demo/run.hpp"

namespace npu::demo {

struct Options {
  bool on_simulator = false;
  SimulatorChoice simulator;
  Request request;
  std::string answer;  // not empty: --help, --list; printed in place of running anything
};

// kInvalidArgument: what is wrong with the command line, in one line.
Result<Options> parse_options(int count, const char* const* arguments);

}  // namespace npu::demo
