// SPDX-License-Identifier: Apache-2.0
// Copies of pages between host memory and device memory by device-local addresses, over the card's
// channel for them (abi/page_copy.hpp): commands of users may wait for what it brings. A copy that
// fails, or of which nothing is heard, is made again: its source stays as it was. Not locked:
// FaultService is.
#pragma once

#include <deque>
#include <memory>

#include "driver/link/vector_table.hpp"
#include "driver/managed/local_address.hpp"
#include "npu/abi/dma.hpp"
#include "npu/abi/fault.hpp"
#include "npu/abi/page_copy.hpp"

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
  // Begins a copy, behind those before. What wait() reports of one of those; then none is in flight
  // any more.
  Status to_card(platform::BusAddress host, LocalAddress memory, Bytes size) {
    return begin({abi::DmaOpcode::kHostToDevice, host.value, memory.value, size, 0});
  }
  Status from_peer(PeerTarget peer, LocalAddress memory, Bytes size) {
    return begin({abi::DmaOpcode::kPeerToPeer, peer.value, memory.value, size, 0});
  }
  Status to_host(LocalAddress memory, platform::BusAddress host, Bytes size) {
    return begin({abi::DmaOpcode::kDeviceToHost, memory.value, host.value, size, 0});
  }
  // Returns when all that has begun is there, or one has failed several times and for
  // DeviceOptions::ready_timeout. kDeviceLost, kDeviceFault, kTimeout.
  Status wait();
  // So far: copies that had to be made again.
  std::uint64_t repeated() const { return repeated_; }

 private:
  class Wait;
  struct Move {
    abi::DmaOpcode opcode{};
    std::uint64_t source = 0, destination = 0;
    Bytes size = 0;
    std::uint32_t number = 0;
  };
  // How one has ended; lost: nothing is known.
  struct Outcome {
    bool lost = false;
    abi::FaultCode fault = abi::FaultCode::kNone;
    bool good() const { return !lost && fault == abi::FaultCode::kNone; }
  };

  void enable();
  Status begin(const Move& move);
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
