// SPDX-License-Identifier: Apache-2.0
// What AI Cores have written to memory and what has not come to the AICPUs' caches yet. Every write
// takes as long, so that they come in the order in which they were made.
#pragma once

#include <cstdint>
#include <vector>

#include "model/aicpu/coherent_cache.hpp"
#include "model/core/agenda.hpp"
#include "model/core/space_id.hpp"

namespace npu::model {

class WritesInFlight {
 public:
  // `due`: not before that of any write before.
  void add(SpaceId vmid, std::uint64_t address, Bytes length, SimTime now, SimTime due) {
    if (length == 0) return;
    while (count_ != 0 && at(0).due <= now) {
      first_ = (first_ + 1) % writes_.size();
      --count_;
    }
    if (count_ == writes_.size()) grow();
    ++count_;
    at(count_ - 1) = {line_of(address), line_of(address + length - 1), due, vmid};
  }
  // When the last one to the lines of [address, address + length) comes; none is in flight: `now`.
  SimTime arrival(SpaceId vmid, std::uint64_t address, Bytes length, SimTime now) const {
    const std::uint64_t begin = line_of(address), end = line_of(address + length - 1);
    for (std::size_t i = count_; i > 0; --i) {
      const Write& write = at(i - 1);
      if (write.due <= now) break;
      if (write.vmid == vmid && write.first <= end && begin <= write.last) return write.due;
    }
    return now;
  }
  // Those of a function that has been reset: nobody waits for them any more.
  void forget(unsigned function) {
    for (std::size_t i = 0; i < count_; ++i) {
      if (function_of(at(i).vmid) == function) at(i).first = UINT64_MAX;
    }
  }

 private:
  struct Write {
    std::uint64_t first, last;  // lines
    SimTime due;
    SpaceId vmid;
  };
  static std::uint64_t line_of(std::uint64_t address) { return address / CoherentCache::kLine; }
  Write& at(std::size_t i) { return writes_[(first_ + i) % writes_.size()]; }
  const Write& at(std::size_t i) const { return writes_[(first_ + i) % writes_.size()]; }
  void grow() {
    std::vector<Write> more(writes_.empty() ? 64 : 2 * writes_.size());
    for (std::size_t i = 0; i < count_; ++i) more[i] = at(i);
    writes_.swap(more);
    first_ = 0;
  }

  std::vector<Write> writes_;  // a ring
  std::size_t first_ = 0, count_ = 0;
};

}  // namespace npu::model
