// SPDX-License-Identifier: Apache-2.0
// Streams: their windows in BAR2, MSI-X vectors and events.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "driver/dma/queue_mark.hpp"
#include "driver/event/event_table.hpp"
#include "driver/link/card_link.hpp"
#include "driver/link/vector_table.hpp"
#include "driver/stream/waiter.hpp"
#include "npu/abi/layout.hpp"
#include "npu/abi/page_table.hpp"
#include "npu/driver/stream.hpp"

namespace npu::driver {

// Whoever is late with a stream that was destroyed meets the next of the same number.
struct Stream {
  std::atomic<bool> used{false};
  std::atomic<EventId> event{EventId{}};
  std::atomic<unsigned> vmid{0};
  std::atomic<bool> interrupt{false};
  std::atomic<platform::InterruptVector*> vector{nullptr};  // null: none
  std::unique_ptr<LatencyPredictor> predictor;              // kept when the stream is destroyed
  std::atomic<std::uint64_t> submitted{0};                  // raw QueueMark behind the last command

  // Tasks that submit at the same time may come here in any order.
  void note_submitted(QueueMark mark) {
    auto known = submitted.load(std::memory_order_relaxed);
    while (QueueMark::from_raw(known).precedes(mark) &&
           !submitted.compare_exchange_weak(known, mark.raw(), std::memory_order_relaxed)) {
    }
  }
};

class StreamTable {
 public:
  StreamTable(CardLink& link, EventTable& events, VectorTable& vectors, Waiter& waiter);

  // create(), finish(): one task at a time.
  // `vmid`: the address space of its commands.
  // kOutOfRange: placement kBar0; kOutOfResources: all streams or events in use.
  Result<StreamId> create(const StreamOptions& options, unsigned vmid);
  // Waits until the card has nothing of the stream, then disables it. kTimeout.
  Status finish(StreamId id, Instant deadline);

  // nullptr: no such stream.
  Stream* find(StreamId id) {
    if (id.value >= streams_.size()) return nullptr;
    auto& stream = streams_[id.value];
    return stream.used.load(std::memory_order_acquire) ? &stream : nullptr;
  }
  // The same for a caller who is not the driver: its own streams, which reach all of the card's
  // memory, are nobody else's.
  Stream* find_user(StreamId id) {
    auto* stream = find(id);
    return stream && stream->vmid != abi::kVmidPhysical ? stream : nullptr;
  }

 private:
  tl::unexpected<Error> refuse_bar0(unsigned stream) const;
  Status map_windows();
  Status enable(unsigned stream, bool interrupt, unsigned vmid);
  Bytes window(unsigned stream) const { return stream * abi::kStreamWindowSize; }

  CardLink& link_;
  EventTable& events_;
  VectorTable& vectors_;
  Waiter& waiter_;
  std::vector<Stream> streams_;
  std::unique_ptr<platform::MmioRegion> windows_;
};

}  // namespace npu::driver
