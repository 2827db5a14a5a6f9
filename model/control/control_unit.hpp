// SPDX-License-Identifier: Apache-2.0
// A function's control processor as its driver (abi/control.hpp) and its program
// (abi/control_window.hpp) see it.
#pragma once

#include <array>
#include <deque>
#include <vector>

#include "model/mmu/invalidation.hpp"
#include "model/mmu/page_faults.hpp"
#include "model/registers/card_registers.hpp"
#include "npu/abi/control.hpp"
#include "npu/abi/control_window.hpp"

namespace npu::model {

// What the units of all functions stand on.
class ControlPort {
 public:
  virtual ~ControlPort() = default;
  virtual void start_program(unsigned function, std::uint64_t image, std::uint64_t arguments) = 0;
  virtual void post(unsigned function, std::uint64_t bus, const abi::Message& message,
                    std::uint64_t cause) = 0;
  // What the program may read in its window has changed.
  virtual void window_changed(unsigned function) = 0;
};

class ControlUnit : private PageFaults::Listener {
 public:
  // Installs itself behind the registers, and as who is told of `faults`.
  ControlUnit(CardRegisters& registers, Mmu& mmu, PageFaults& faults, ControlPort& port);
  ControlUnit(const ControlUnit&) = delete;
  ControlUnit& operator=(const ControlUnit&) = delete;

  // The program's.
  std::uint32_t read(std::uint32_t offset) const;
  void write(std::uint32_t offset, std::uint32_t value);
  void program_ended(const CommandFault& fault);
  void reset();
  // The host has said something that did not come.
  void host_write_lost();
  // What it could not.
  void may_send_again() { send_again(); }

 private:
  bool takes_faults() const override { return running_; }
  void fault_waits() override { port_.window_changed(function_); }
  void state_written(abi::ControlState state);
  void enable(abi::MessageControl control);
  void consumed();
  void received(std::uint64_t head);
  void post(std::uint32_t number);
  void send_again();
  void put(const abi::Message& message);
  void send();
  void take_fault();
  void reply(abi::Reply reply);
  void invalidate(abi::Invalidate value);
  std::uint32_t room() const;
  std::uint64_t address(std::uint32_t low) const;
  void raise(std::uint64_t cause);
  std::uint32_t& word(std::uint32_t offset) { return words_[offset / 4]; }

  CardRegisters& registers_;
  RegisterBank& bank_;
  const unsigned function_;
  PageFaults& faults_;
  ControlPort& port_;
  Invalidation invalidation_;
  bool running_ = false;
  std::uint32_t size_ = 0;  // of the ring; 0: none
  std::uint64_t base_ = 0;
  std::uint32_t produced_ = 0, taken_ = 0, received_ = 0;
  bool announcing_ = false;           // that the host's writes are lost
  unsigned written_ = 0;              // words of the next message of the host, a bit each
  std::vector<abi::Message> outbox_;  // what was sent, by its place in the ring
  std::deque<abi::Message> inbox_;
  std::array<std::uint32_t, abi::kControlWindowSize / 4> words_{};  // the window as last written
};

}  // namespace npu::model
