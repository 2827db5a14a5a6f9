// SPDX-License-Identifier: Apache-2.0
// Which events are in use, what they have been promised (targets), and their records in host
// memory. Counters are never reset, so no completion is lost between a check and a reset.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "driver/link/card_link.hpp"
#include "npu/abi/event.hpp"
#include "npu/driver/types.hpp"

namespace npu::driver {

class EventTable {
 public:
  // `records` has 8 bytes per event.
  EventTable(CardLink& link, std::unique_ptr<platform::DmaMemory> records, std::uint32_t count);

  // create(), destroy(), reset(): one task at a time.
  // kOutOfResources; kDeviceLost, kIo: the event's counter could not be read.
  Result<EventId> create();
  // kNotFound; kInvalidArgument: commands still have to count it up.
  Status destroy(EventId event);
  // After the queue was enabled anew: faults are gone, nothing is in flight.
  Status reset();

  bool exists(EventId event) const {
    return event.value < slots_.size() && slots_[event.value].used.load(std::memory_order_acquire);
  }
  // The value the event will have when a command submitted now by `stream` is done. Under the
  // queue's lock.
  std::uint32_t promise(EventId event, StreamId stream);
  // Whether the card itself may be asked now: after kFirstProbe again.
  bool may_ask(EventId event, Instant now);
  // True if only one stream has counted it up, so that reaching a target says which command is
  // done.
  bool is_exclusive(EventId event) const {
    return slots_[event.value].owner.load(std::memory_order_relaxed) != kShared;
  }

  abi::EventRecord load(EventId event) const {
    return abi::EventRecord{records_->load<std::uint64_t>(Bytes{event.value} * 8)};
  }
  ConstByteSpan watched(EventId event) const {
    return records_->cpu().subspan(std::size_t{event.value} * 8, 8);
  }
  platform::BusAddress records_bus() const { return records_->bus(); }

 private:
  static constexpr std::uint32_t kUnowned = 0xFFFFFFFF, kShared = 0xFFFFFFFE;

  struct Slot {
    std::atomic<bool> used{false};
    std::atomic<std::uint32_t> owner{kUnowned};  // stream, kUnowned or kShared
    std::atomic<std::uint32_t> promised{0};
    std::atomic<std::int64_t> ask_at{0};  // ps
  };

  Status synchronise(std::uint32_t id);

  CardLink& link_;
  std::unique_ptr<platform::DmaMemory> records_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;     // lowest id at the back
  std::vector<std::uint32_t> retired_;  // unused, but with a fault latched in the card
};

}  // namespace npu::driver
