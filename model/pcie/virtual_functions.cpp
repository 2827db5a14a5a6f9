// SPDX-License-Identifier: Apache-2.0
#include "model/pcie/virtual_functions.hpp"

#include "npu/abi/layout.hpp"

namespace npu::model {

void VirtualFunctions::follow(const VirtualFunctionState& state) {
  state_ = state;
  if (state.count == functions_.size()) return;
  // The number never changes while there are any: these are new ones or none.
  functions_.clear();
  functions_.reserve(state.count);
  for (unsigned i = 0; i < state.count; ++i) {
    const auto number = chip_.pci.sriov_first_vf_offset + i * chip_.pci.sriov_vf_stride;
    functions_.push_back(EndpointFunction::make_virtual(chip_, number));
  }
}

EndpointFunction* VirtualFunctions::find(unsigned number) {
  const unsigned first = chip_.pci.sriov_first_vf_offset;
  if (functions_.empty() || number < first) return nullptr;
  const unsigned steps = number - first;
  const unsigned index = steps / chip_.pci.sriov_vf_stride;
  const bool exists = steps % chip_.pci.sriov_vf_stride == 0 && index < functions_.size();
  return exists ? &functions_[index] : nullptr;
}

EndpointFunction* VirtualFunctions::inside(const VirtualFunctionState::Window& window,
                                           std::uint64_t address, Bytes length, Bytes& offset) {
  if (address < window.base) return nullptr;
  const std::uint64_t index = (address - window.base) / window.size;
  offset = (address - window.base) % window.size;
  const bool fits = index < functions_.size() && length <= window.size - offset;
  return fits ? &functions_[index] : nullptr;
}

EndpointFunction* VirtualFunctions::decode(std::uint64_t address, Bytes length, int& bar,
                                           Bytes& offset) {
  if (functions_.empty() || !state_.memory) return nullptr;
  bar = static_cast<int>(abi::kRegisterBar);
  if (auto* found = inside(state_.bar0, address, length, offset)) return found;
  bar = static_cast<int>(abi::kMemoryBar);
  return inside(state_.bar2, address, length, offset);
}

}  // namespace npu::model
