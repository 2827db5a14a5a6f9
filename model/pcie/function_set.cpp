// SPDX-License-Identifier: Apache-2.0
#include "model/pcie/function_set.hpp"

#include <algorithm>

#include "npu/abi/pci.hpp"

namespace npu::model {

FunctionSet::FunctionSet(const ChipConfig& chip, unsigned functions)
    : chip_(chip), virtual_(chip), reset_times_(chip.functions()) {
  sc_assert(functions >= chip.physical_functions() && functions <= abi::pci::kFunctionsPerDevice);
  for (unsigned i = 0; i < functions; ++i) physical_.emplace_back(chip, i, functions);
}

EndpointFunction* FunctionSet::find(unsigned number) {
  if (number < physical_.size()) {
    return physical_[number].in_reset() ? nullptr : &physical_[number];
  }
  auto* const found = virtual_.find(number);
  const bool answers = found && !first().in_reset() && !found->in_reset();
  return answers ? found : nullptr;
}

FunctionSet::Place FunctionSet::decode(const Payload& payload) {
  Place place;
  const std::uint64_t address = payload.get_address();
  const Bytes length = payload.get_data_length();
  for (auto& function : physical_) {
    if (!function.has_device() || function.in_reset()) continue;
    place.bar = function.decode(address, length, place.offset);
    if (place.bar < 0) continue;
    place.function = &function;
    return place;
  }
  if (!first().in_reset()) {
    place.function = virtual_.decode(address, length, place.bar, place.offset);
  }
  return place;
}

EndpointFunction& FunctionSet::of_chip(unsigned function) {
  const unsigned physical = chip_.physical_functions();
  return function < physical ? physical_[function] : virtual_.at(function - physical);
}

bool FunctionSet::pasid_enabled(unsigned function) const {
  const bool is_virtual = function >= chip_.physical_functions();
  return (is_virtual ? first() : physical_[function]).pasid_enabled();
}

FunctionSet::Devices FunctionSet::function_level_reset(EndpointFunction& function) {
  SimTime time = ticks(chip_.endpoint.flr_time);
  if (function.has_device()) time = std::max(time, reset_times_[function.device()]);
  function.reset(FunctionReset::kFunctionLevel, sim_now() + time);
  Devices devices;
  if (&function == &first()) devices = follow_virtual_functions();
  if (function.has_device()) devices.push_back(function.device());
  return devices;
}

FunctionSet::Devices FunctionSet::hot_reset() {
  hot_reset_until_ = sim_now() + ticks(chip_.endpoint.flr_time);
  for (auto& function : physical_) function.reset(FunctionReset::kConventional, hot_reset_until_);
  Devices devices = follow_virtual_functions();
  for (const auto& function : physical_) {
    if (function.has_device()) devices.push_back(function.device());
  }
  return devices;
}

FunctionSet::Devices FunctionSet::follow_virtual_functions() {
  Devices devices;
  const unsigned gone = virtual_.follow(first().virtual_functions());
  for (unsigned i = 0; i < gone; ++i) {
    const auto& function = virtual_.at(i);
    if (function.has_device()) devices.push_back(function.device());
  }
  return devices;
}

}  // namespace npu::model
