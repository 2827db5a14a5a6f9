// SPDX-License-Identifier: Apache-2.0
// Runs steps on a card and prints a line for each.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/demo/steps.hpp"
#include "npu/platform/platform.hpp"

namespace npu::demo {

// Gets one line, without its end.
using Print = std::function<void(const std::string&)>;

struct Request {
  std::optional<platform::Bdf> bdf = {};  // none: the first card that a scan finds
  std::vector<std::string> steps = {};    // names; empty: all
  std::string ending = {};                // kRemoval, kError; empty: none
  Bytes max_bytes = 64_MiB;               // of one copy
  // Of the platform's clock: what takes longer than this has failed.
  Picoseconds patience = 30_s;
  std::string ring = "device";  // memory of the DMA commands, as of workloads' parameter
};

// kInvalidArgument: a name that is no step's.
Status check_steps(const std::vector<std::string>& names);

// "ok <name>: <figures>" or "FAILED <name>: <error>" for each step, and a line of totals. A card
// that cannot be opened is a step "open" that failed, and ends the run. True if all were ok.
bool run_steps(platform::Platform& platform, Request request, const Print& print);

}  // namespace npu::demo
