// SPDX-License-Identifier: Apache-2.0
// The steps of npudemo: workloads that run on any card, by name, each with its parameters.
#pragma once

#include <string>
#include <vector>

namespace npu::demo {

struct Step {
  std::string name;
  std::string workload;               // of workloads::card_workloads()
  std::vector<std::string> settings;  // "parameter=value"
  bool needs_card = true;             // there is no sense in it unless a card can be opened
  // What somebody else does to the card in the end, of a step that is only run when asked for.
  std::string until = {};
};

inline constexpr const char* kRemoval = "removal";
inline constexpr const char* kError = "error";

// In the order in which they run.
const std::vector<Step>& steps();

}  // namespace npu::demo
