// SPDX-License-Identifier: Apache-2.0
// Copies of pages between host memory and device memory by device-local addresses, over the card's
// channel for them (abi/page_copy.hpp): commands of users may wait for what it brings. A copy that
// fails, or of which nothing is heard, is made again: its source stays as it was. Not locked:
// FaultService is.
#pragma once

#include <deque>
#include <memory>

#include "driver/link/vector_table.hpp"
#include "npu/abi/fault.hpp"
#include "npu/abi/page_copy.hpp"
#include "npu/driver/dma.hpp"

namespace npu::driver {

class PageMover {
 public:
  explicit PageMover(CardLink& link);
  ~PageMover() { close(); }
  PageMover(const PageMover&) = delete;
  PageMover& operator=(const PageMover&) = delete;

  // What memory and vectors report. `vector`: of its interrupts.
  Status open(VectorTable& vectors, unsigned vector);
  void close();
  // `memory`: device-local. Begins a copy, behind those before. What wait() reports of one of
  // those; then none is in flight any more.
  Status to_card(platform::BusAddress host, std::uint64_t memory, Bytes size) {
    return begin(DmaCommand::host_to_device(host, DeviceAddress{memory}, size));
  }
  // `peer`: PageTableEntry::peer_target().
  Status from_peer(std::uint64_t peer, std::uint64_t memory, Bytes size) {
    return begin(DmaCommand::peer_to_peer(DeviceAddress{peer}, DeviceAddress{memory}, size));
  }
  Status to_host(std::uint64_t memory, platform::BusAddress host, Bytes size) {
    return begin(DmaCommand::device_to_host(DeviceAddress{memory}, host, size));
  }
  // Returns when all that has begun is there, or one has failed several times and for
  // DeviceOptions::ready_timeout. kDeviceLost, kDeviceFault, kTimeout.
  Status wait();
  // So far: copies that had to be made again.
  std::uint64_t repeated() const { return repeated_; }

 private:
  class Wait;
  struct Move {
    DmaCommand command;
    std::uint32_t number = 0;
  };
  // How one has ended; lost: nothing is known.
  struct Outcome {
    bool lost = false;
    abi::FaultCode fault = abi::FaultCode::kNone;
    bool good() const { return !lost && fault == abi::FaultCode::kNone; }
  };

  void enable();
  Status begin(const DmaCommand& command);
  void start(Move move);
  Status finish_oldest();
  Status repeat(const Outcome& outcome);
  Status give_up(const Outcome& outcome);
  // Until none is in flight on the card.
  Status drain(Instant deadline);
  abi::PageCopyResult result(std::uint32_t number) const;

  CardLink& link_;
  const std::uint32_t submit_track_, wait_track_;
  std::unique_ptr<platform::DmaMemory> results_;  // null: not open
  unsigned number_of_vector_ = 0;
  platform::InterruptVector* vector_ = nullptr;
  std::uint32_t started_ = 0;  // since enable()
  std::deque<Move> begun_;     // and not known to have ended; of consecutive numbers
  std::uint64_t repeated_ = 0;
};

}  // namespace npu::driver
