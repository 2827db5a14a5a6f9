// SPDX-License-Identifier: Apache-2.0
// The virtual functions of function 0: they come and go with VF Enable of its SR-IOV capability.
// Each has a configuration space, an MSI-X table in its part of VF BAR0 and a function level reset
// of its own. No registers and no memory of the card are behind them.
// Source: Single Root I/O Virtualization and Sharing 1.1, 2.1, 3.3, 3.4.
#pragma once

#include <cstdint>
#include <vector>

#include "model/pcie/function.hpp"

namespace npu::model {

class VirtualFunctions {
 public:
  explicit VirtualFunctions(const ChipConfig& chip) : chip_(chip) {}

  // The physical function's capability may have changed.
  void follow(const VirtualFunctionState& state);
  // By the low eight bits of its routing id (the physical function's are 0); null: none answers.
  EndpointFunction* find(unsigned number);
  // Whose BAR [address, address + length) lies in; null: nobody's. `bar` is 0 or 2, `offset` from
  // the start of that function's own part.
  EndpointFunction* decode(std::uint64_t address, Bytes length, int& bar, Bytes& offset);

 private:
  EndpointFunction* inside(const VirtualFunctionState::Window& window, std::uint64_t address,
                           Bytes length, Bytes& offset);

  const ChipConfig& chip_;
  VirtualFunctionState state_;
  std::vector<EndpointFunction> functions_;
};

}  // namespace npu::model
