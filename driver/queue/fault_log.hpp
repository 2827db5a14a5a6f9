// SPDX-License-Identifier: Apache-2.0
// Reads the card's log of queue faults (abi::QueueFaultRecord). Looking whether there is something
// new is one load from host memory.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "driver/link/card_link.hpp"
#include "driver/queue/management_ring.hpp"

namespace npu::driver {

class QueueFaultLog {
 public:
  static constexpr unsigned kLog2Records = 8;

  static Result<std::unique_ptr<QueueFaultLog>> create(CardLink& link, ManagerCounters& counters);

  // Tells the card where it is. `vector`: of faults that are no process'.
  void start(unsigned vector);
  void stop();
  bool has_news() const {
    return number_at(next_.load(std::memory_order_acquire)) >=
           next_.load(std::memory_order_acquire);
  }
  // Those that have come since, oldest first. One task at a time.
  std::vector<QueueFault> read();
  // The same behind those that the card has written and that have not come. Asks the card.
  std::vector<QueueFault> read_behind_lost();

 private:
  static constexpr std::uint64_t kRecords = 1U << kLog2Records;

  QueueFaultLog(CardLink& link, ManagerCounters& counters,
                std::unique_ptr<platform::DmaMemory> memory)
      : link_(link), counters_(counters), memory_(std::move(memory)) {}
  static Bytes place_of(std::uint64_t number) {
    return (number - 1) % kRecords * abi::kQueueFaultSize;
  }
  // Of the record in the place of number `number`, which is not far from it.
  std::uint64_t number_at(std::uint64_t number) const {
    const auto found = memory_->load<std::uint32_t>(place_of(number));
    const auto ahead = static_cast<std::int32_t>(found - static_cast<std::uint32_t>(number));
    return number + static_cast<std::uint64_t>(std::int64_t{ahead});
  }
  QueueFault decode(std::uint64_t number) const;

  CardLink& link_;
  ManagerCounters& counters_;
  std::unique_ptr<platform::DmaMemory> memory_;
  std::atomic<std::uint64_t> next_{1};  // number of the next record
};

}  // namespace npu::driver
