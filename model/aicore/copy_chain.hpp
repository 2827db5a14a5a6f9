// SPDX-License-Identifier: Apache-2.0
// What the end of a copy followed from, back over the copies before it in its pipe to where the
// pipe last began because of something else: an issue, a flag. A request leaves when the one before
// has left the path, or when an answer has made room for its bytes; then it follows from that
// answer, and so from when that one's request left. So of requests in flight beside each other only
// those count that held up the end. Nobody but reports reads it: it is kept while events are heard.
#pragma once

#include <deque>

#include "model/core/agenda.hpp"
#include "npu/platform/core_events.hpp"

namespace npu::model {

// What the memory says of a request.
struct RequestTimes {
  SimTime issued = 0;
  SimTime translated = 0;  // 0: it needed no translation
  SimTime hbm_until = 0;   // it waited for device memory until then; 0: for the L2 alone
};

// Why an instruction began no earlier.
struct Began {
  platform::BeganAfter after = platform::BeganAfter::kOwn;
  platform::Pipe flag = platform::Pipe::kScalar;  // who raised it
};

class CopyChain {
 public:
  struct Path {
    SimTime begin = 0, end = 0;
    Began began;
    SimTime mmu = 0, l2 = 0, hbm = 0, way = 0;  // of [begin, end); the rest: the path's rate

    platform::PipeDetail detail(platform::Pipe pipe, platform::PipeOperation operation) const;
  };

  // A copy begins to leave now.
  void begin(const Began& began);
  // The next request has to wait until an answer makes room.
  void stall() { stalled_ = true; }
  // A request leaves now.
  void sent();
  // A request of a copy whose last answer followed from `path` leaves again: its page had gone.
  void sent_again(Path path);
  // A request is answered now; what its answer followed from.
  Path answered(const RequestTimes& times);
  // A copy whose last answer followed from `path` ends at `end`.
  void ended(Path path, SimTime end);
  const Path& last_ended() const { return ended_; }
  // What a copy followed from that nothing answers, to another local buffer: until `end`.
  Path moved(SimTime end) const;
  void clear();

 private:
  static constexpr std::size_t kMost = 1024;  // requests in flight

  void advance();

  Path at_;  // of the request that leaves next
  Path answered_, ended_;
  std::deque<Path> sent_;  // requests in flight, by their ends
  bool stalled_ = false;
};

}  // namespace npu::model
