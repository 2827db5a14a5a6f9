// SPDX-License-Identifier: Apache-2.0
// The functions of an endpoint: which of them answers, whom an address or a routing id is for, and
// what a reset of one does to the others.
#pragma once

#include <tlm>
#include <vector>

#include "model/pcie/function.hpp"
#include "model/pcie/sriov_functions.hpp"
#include "npu/abi/layout.hpp"

namespace npu::model {

class FunctionSet {
 public:
  using Payload = tlm::tlm_generic_payload;
  // Functions of the chip whose state behind the endpoint has to go, in the order to be told.
  using Devices = std::vector<unsigned>;

  // `functions`: physical ones of the device, the chip's first. The chip has to stay.
  FunctionSet(const ChipConfig& chip, unsigned functions);

  // By the low eight bits of its routing id: the device number is part of the function's (ARI), or
  // 0. Virtual ones answer while the physical one does; null: nobody answers.
  EndpointFunction* find(unsigned number);
  // Where an access of the host goes; `function` null: nowhere.
  struct Place {
    EndpointFunction* function = nullptr;
    int bar = -1;
    Bytes offset = 0;
    bool is_memory() const {
      return function != nullptr && function->has_device() &&
             bar == static_cast<int>(abi::kMemoryBar);
    }
  };
  Place decode(const Payload& payload);
  // By the chip's number.
  EndpointFunction& of_chip(unsigned function);
  const EndpointFunction& of_chip(unsigned function) const {
    return const_cast<FunctionSet*>(this)->of_chip(function);
  }
  // The physical ones, and the one among them that speaks for all.
  const std::vector<EndpointFunction>& physical() const { return physical_; }
  bool is_physical(const EndpointFunction& function) const {
    return function.number() < physical_.size();
  }
  EndpointFunction& first() { return physical_.front(); }
  const EndpointFunction& first() const { return physical_.front(); }

  // A function learns its bus number from the writes it gets (PCIe 2.2.6.2); platform::Bdf::bus.
  void set_bus(unsigned bus) { bus_ = static_cast<std::uint16_t>(bus); }
  // Its packed BDF: the routing id, and the segment that the root complex knows it by.
  std::uint32_t requester(const EndpointFunction& function) const {
    return std::uint32_t{bus_} << 8 | function.number();
  }
  // PASIDs of virtual functions are enabled in the physical one.
  bool pasid_enabled(unsigned function) const;

  // What is behind a function of the chip takes this long to be reset.
  void set_reset_time(unsigned function, Picoseconds time) { reset_times_[function] = ticks(time); }
  // PCIe 6.6.2.
  Devices function_level_reset(EndpointFunction& function);
  // PCIe 6.6.1: the conventional reset that comes with the link, also of the addresses.
  Devices hot_reset();
  bool in_hot_reset() const { return hot_reset_until_ != 0 && sim_now() < hot_reset_until_; }
  // After a write to function 0: those that go with VF Enable leave nothing behind.
  Devices follow_virtual_functions();

 private:
  const ChipConfig& chip_;
  std::vector<EndpointFunction> physical_;
  SriovFunctions virtual_;
  std::vector<SimTime> reset_times_;  // by function of the chip
  SimTime hot_reset_until_ = 0;
  std::uint16_t bus_ = 0;
};

}  // namespace npu::model
