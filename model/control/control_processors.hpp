// SPDX-License-Identifier: Apache-2.0
// The control processors of a card's functions (abi/control.hpp): one core each.
//
// Wiring: programs().memory_socket to an MMU client, host_socket to the endpoint; attach() for each
// function in its order; function_reset() from the card. Nothing is snooped: what others write, a
// program sees after invalidate().
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <vector>

#include "model/aicpu/aicpu_programs.hpp"
#include "model/control/control_unit.hpp"

namespace npu::model {

class ControlProcessors : public sc_core::sc_module,
                          public ControlPort,
                          public ResetListener,
                          private CoreWindows,
                          private KernelPort::Listener {
 public:
  ControlProcessors(const sc_core::sc_module_name& name, Simulation& simulation,
                    const ChipConfig& config, const std::string& track_prefix,
                    DeviceMemoryPort& device_memory);

  // Messages, posted; need not be bound where no program runs.
  tlm_utils::simple_initiator_socket_optional<ControlProcessors> host_socket{"host_socket"};

  void attach(ControlUnit& unit) { units_.push_back(&unit); }
  AicpuPrograms& programs() { return programs_; }
  // The core of the function executes nothing while it is hung: until a reset of the function.
  void set_hung(unsigned function, bool hung) { programs_.set_hung(function, hung); }
  void function_reset(unsigned function) override;

  void start_program(unsigned function, std::uint64_t image, std::uint64_t arguments) override;
  void post(unsigned function, std::uint64_t bus, const abi::Message& message,
            std::uint64_t cause) override;
  void window_changed(unsigned function) override;

 private:
  void connect(CoreWindows::Listener& listener) override { listener_ = &listener; }
  unsigned windows() const override { return functions_; }
  std::uint32_t read(unsigned function, std::uint32_t offset) const override;
  void write(unsigned function, std::uint32_t offset, std::uint32_t value) override;
  void block_done(unsigned core, const KernelBlock& block, const CommandFault& fault) override;

  Simulation& sim_;
  const unsigned functions_;
  AicpuPrograms programs_;
  std::vector<ControlUnit*> units_;  // by function
  CoreWindows::Listener* listener_ = nullptr;
};

}  // namespace npu::model
