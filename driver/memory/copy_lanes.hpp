// SPDX-License-Identifier: Apache-2.0
// Streams of the driver's own for copies inside device memory, by device-local addresses (VMID 0).
// Several, so that several DMA engines work at a time.
#pragma once

#include <vector>

#include "driver/dma/dma_queue.hpp"
#include "driver/memory/compaction_plan.hpp"
#include "driver/stream/stream_table.hpp"
#include "driver/stream/waiter.hpp"

namespace npu::driver {

class CopyLanes {
 public:
  CopyLanes(StreamTable& streams, EventTable& events, DmaQueue& queue, Waiter& waiter,
            platform::Clock& clock)
      : streams_(streams), events_(events), queue_(queue), waiter_(waiter), clock_(clock) {}

  // open(), close(), reclaim(): under the device's control mutex. As many streams as there are, at
  // most kLanes. kOutOfResources: none; kBusy: the copies of earlier lanes have not ended.
  Status open();
  // Gives streams and events back, within `timeout`. A lane whose commands have not all left the
  // ring and ended until then is abandoned: it keeps both.
  void close(Picoseconds timeout);
  // Gives back what abandoned lanes have kept, if their commands have ended meanwhile or were given
  // up by a reset of the queue. One look, no waiting.
  void reclaim();
  bool has_abandoned() const { return !abandoned_.empty(); }
  // Returns when nothing is in flight any more, or `timeout` after the last submission. The first
  // error; some of the bytes may have been copied then.
  Status copy(const std::vector<BlockMove>& moves, Picoseconds timeout);
  // After copy(): the card may still write to destinations of the moves.
  bool in_flight() const { return in_flight_; }

 private:
  static constexpr unsigned kLanes = 4;
  static constexpr Bytes kPiece = Bytes{16} << 20;  // of a block, for one lane at a time

  struct Lane {
    StreamId stream;
    Ticket last;
    bool used = false;
  };

  bool give_back(const Lane& lane, Instant deadline);
  Status submit(Lane& lane, const BlockMove& move, Bytes offset, Picoseconds timeout);

  StreamTable& streams_;
  EventTable& events_;
  DmaQueue& queue_;
  Waiter& waiter_;
  platform::Clock& clock_;
  std::vector<Lane> lanes_, abandoned_;
  bool in_flight_ = false;
};

}  // namespace npu::driver
