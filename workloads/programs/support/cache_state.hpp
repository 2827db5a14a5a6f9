// SPDX-License-Identifier: Apache-2.0
// In which state of the L2 a kernel is measured: the parameter `l2` of workloads that launch one.
#pragma once

#include <algorithm>

#include "workloads/framework/context.hpp"

namespace npu::workloads {

inline ParameterSpec cache_state_parameter(const char* launches) {
  static const std::string kDoc =
      "of the launch that is reported; cold: it is the only one; warm: one "
      "before it at least; auto: as many as ";
  return {"l2", ParameterType::kChoice,  "", "auto", kDoc + launches + " says", 0,
          0,    {"auto", "cold", "warm"}};
}

// How many launches there are, of as many as the parameter `launches` says.
inline std::uint64_t launches_of(const ParameterSet& parameters, const char* launches) {
  const auto& state = parameters.choice("l2");
  if (state == "cold") return 1;
  return std::max<std::uint64_t>(parameters.integer(launches), state == "warm" ? 2 : 1);
}

}  // namespace npu::workloads
