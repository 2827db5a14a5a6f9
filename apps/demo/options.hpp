// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "apps/demo/backend.hpp"
#include "apps/demo/run.hpp"

namespace npu::demo {

struct Options {
  bool on_simulator = false;
  SimulatorChoice simulator;
  SessionOptions session;
  Selection selection;
  std::string answer;  // not empty: --help, --list; printed in place of running anything
};

// kInvalidArgument: what is wrong with the command line, in one line.
Result<Options> parse_options(int count, const char* const* arguments);

// "1:0.0", "01:00.0", "0000:01:00.0". kInvalidArgument.
Result<platform::Bdf> parse_bdf(const std::string& text);

}  // namespace npu::demo
