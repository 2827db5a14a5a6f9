// SPDX-License-Identifier: Apache-2.0
// Runs steps and prints a line for each.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apps/demo/session.hpp"
#include "apps/demo/steps.hpp"

namespace npu::demo {

// Gets one line, without its end.
using Print = std::function<void(const std::string&)>;

// What happens to the card in the end, by somebody else's hand.
enum class Ending {
  kNone,
  kRemoved,  // it is taken away
  kError,    // it has an uncorrectable error
};

struct Selection {
  std::vector<std::string> steps;  // names; empty: all
  Ending ending = Ending::kNone;
};

// kInvalidArgument: a name that is no step's.
Status check_selection(const Selection& selection);

// "ok <name>: <figures>" or "FAILED <name>: <error>" for each step, and a line of totals. A card
// that cannot be opened is a step "open" that failed, and ends the run. True if all were ok.
bool run_steps(Session& session, const Selection& selection, const Print& print);

}  // namespace npu::demo
