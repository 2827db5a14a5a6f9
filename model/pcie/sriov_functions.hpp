// SPDX-License-Identifier: Apache-2.0
// The virtual functions of function 0: they come and go with VF Enable of its SR-IOV capability.
// Each has a configuration space, an MSI-X table in its part of VF BAR0 and a function level reset
// of its own; behind its BARs is the chip's function of its number behind the physical ones, which
// has registers and, when the physical function's driver gave it some, cores and memory.
// Source: Single Root I/O Virtualization and Sharing 1.1, 2.1, 3.3, 3.4.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/pcie/function.hpp"

namespace npu::model {

class SriovFunctions {
 public:
  explicit SriovFunctions(const ChipConfig& chip);

  // The physical function's capability may have changed. How many have gone: the first ones.
  unsigned follow(const VirtualFunctionState& state);
  // That answer at present, from the first one on.
  unsigned count() const { return state_.count; }
  // Whether it answers or not; as the chip numbers them, from 0.
  EndpointFunction& at(unsigned index);
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
  std::vector<std::optional<EndpointFunction>> functions_;  // that there can be
};

}  // namespace npu::model
