// SPDX-License-Identifier: Apache-2.0
// The registers of a function: BAR0 (include/npu/abi/registers.hpp) and the state behind the event
// block and the stream windows. Also its fault latch.
#pragma once

#include <tlm_utils/passthrough_target_socket.h>

#include <functional>

#include "model/config/chip_config.hpp"
#include "model/core/ports.hpp"
#include "model/core/register_bank.hpp"
#include "model/core/simulation.hpp"
#include "model/registers/event_registers.hpp"
#include "model/registers/stream_registers.hpp"
#include "model/registers/word_windows.hpp"
#include "npu/abi/registers.hpp"

namespace npu::model {

class CardRegisters : public sc_core::sc_module, public FaultSink, public ResetListener {
 public:
  // Vector that a newly latched fault raises.
  static constexpr unsigned kFaultVector = 0;

  CardRegisters(const sc_core::sc_module_name& name, Simulation& sim, const ChipConfig& config,
                unsigned device_index, unsigned function = 0);

  // Addresses are offsets in BAR0. Answers at once and never waits. Accesses are naturally
  // aligned multiples of 4 bytes; others get TLM_BURST_ERROR_RESPONSE and kUnsupportedRequest.
  // transport_dbg does the same for a debugger that looks at the machine from outside.
  tlm_utils::passthrough_target_socket<CardRegisters> register_socket{"register_socket"};

  // Before the simulation starts; without it faults raise nothing.
  void connect(InterruptPort& interrupts) { interrupts_ = &interrupts; }

  RegisterBank& bank() { return bank_; }
  EventRegisters& events() { return events_; }
  StreamRegisters& streams() { return streams_; }
  std::uint32_t device_index() const { return device_index_; }
  unsigned function() const { return function_; }  // of the card
  // Of the function's units in traces.
  const std::string& track_prefix() const { return track_prefix_; }
  // DEVICE_TIME, ns.
  std::uint64_t device_time() const { return (sim_now() - reset_time_) / 1000; }
  // Offset in BAR2 of doorbell page 0.
  Bytes doorbell_base() const { return partition_.usable + abi::kReservedDoorbellOffset; }
  // Device-local address of stream window 0.
  Bytes stream_window_base() const { return partition_.usable + abi::kReservedStreamOffset; }
  // What the function has of the card.
  const Partition& partition() const { return partition_; }
  void set_partition(const Partition& partition);

  void raise(unsigned vector, std::uint64_t cause) {
    if (interrupts_ != nullptr) interrupts_->raise(function_, vector, cause);
  }
  // The first fault since FAULT_STATUS.Valid was cleared is latched and raises kFaultVector; later
  // ones set Overflow.
  void report(const ReportedFault& fault) override;
  // Called for every fault that is reported, latched or not.
  // Whether DEVICE_STATUS says that pages of the memory are out of use.
  void tell_isolated_pages(std::function<bool()> any) { pages_isolated_ = std::move(any); }
  void on_fault(std::function<void(const ReportedFault&)> listener) {
    on_fault_ = std::move(listener);
  }
  // A part of BAR0, outside all registers, that reads as what `read` gives for each of its words.
  void add_window(abi::WordWindow window, WordWindows::Read read) {
    windows_.add(window, std::move(read));
  }
  // Registers, events and stream windows to their reset values, if it is this function's.
  void function_reset(unsigned function) override;

 private:
  void b_transport(tlm::tlm_generic_payload& trans, sc_core::sc_time& delay);
  unsigned transport_dbg(tlm::tlm_generic_payload& trans);
  bool serve(tlm::tlm_command command, std::uint64_t offset, unsigned char* data,
             std::size_t length);
  void set_constants();
  void install_hooks();

  Simulation& sim_;
  const std::uint32_t device_index_;
  const unsigned function_;
  const std::string track_prefix_;
  const unsigned virtual_;  // n: virtual function n - 1; 0: a physical one
  const std::uint16_t device_id_;
  const std::uint8_t revision_;
  Partition partition_;
  RegisterBank bank_{abi::kBar0Table};
  EventRegisters events_;
  StreamRegisters streams_;
  WordWindows windows_;
  std::function<void(const ReportedFault&)> on_fault_;
  std::function<bool()> pages_isolated_ = [] { return false; };
  InterruptPort* interrupts_ = nullptr;
  SimTime reset_time_ = 0;
  std::uint32_t track_;
};

}  // namespace npu::model
