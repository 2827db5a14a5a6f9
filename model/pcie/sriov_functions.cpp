// SPDX-License-Identifier: Apache-2.0
#include "model/pcie/sriov_functions.hpp"

#include "npu/abi/layout.hpp"

namespace npu::model {

SriovFunctions::SriovFunctions(const ChipConfig& chip)
    : chip_(chip), functions_(chip.pci.sriov_total_vfs) {}

// Made when it is first needed: most cards have none in use.
EndpointFunction& SriovFunctions::at(unsigned index) {
  auto& function = functions_[index];
  if (!function) function = EndpointFunction::make_virtual(chip_, index);
  return *function;
}

// The number never changes while there are any: these are new ones or none. New ones are as after
// power-up.
unsigned SriovFunctions::follow(const VirtualFunctionState& state) {
  const unsigned gone = state.count == 0 ? state_.count : 0;
  for (unsigned i = 0; i < gone; ++i) {
    at(i).reset(FunctionReset::kConventional, sim_now());
  }
  state_ = state;
  return gone;
}

EndpointFunction* SriovFunctions::find(unsigned number) {
  const unsigned first = chip_.pci.sriov_first_vf_offset;
  if (state_.count == 0 || number < first) return nullptr;
  const unsigned steps = number - first;
  const unsigned index = steps / chip_.pci.sriov_vf_stride;
  const bool exists = steps % chip_.pci.sriov_vf_stride == 0 && index < state_.count;
  return exists ? &at(index) : nullptr;
}

EndpointFunction* SriovFunctions::inside(const VirtualFunctionState::Window& window,
                                         std::uint64_t address, Bytes length, Bytes& offset) {
  if (address < window.base) return nullptr;
  const std::uint64_t index = (address - window.base) / window.size;
  offset = (address - window.base) % window.size;
  const bool fits = index < state_.count && length <= window.size - offset;
  return fits ? &at(static_cast<unsigned>(index)) : nullptr;
}

EndpointFunction* SriovFunctions::decode(std::uint64_t address, Bytes length, int& bar,
                                         Bytes& offset) {
  if (state_.count == 0 || !state_.memory) return nullptr;
  bar = static_cast<int>(abi::kRegisterBar);
  if (auto* found = inside(state_.bar0, address, length, offset)) return found;
  bar = static_cast<int>(abi::kMemoryBar);
  return inside(state_.bar2, address, length, offset);
}

}  // namespace npu::model
