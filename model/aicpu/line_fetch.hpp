// SPDX-License-Identifier: Apache-2.0
// The read of a line that a core misses, and the line's bytes: those of the time at which it was
// asked for, or was last to be dropped.
#pragma once

#include <array>

#include "model/aicpu/aicpu_requests.hpp"
#include "model/aicpu/coherent_cache.hpp"

namespace npu::model {

class LineFetch {
 public:
  LineFetch(AicpuShared& shared, unsigned number, AicpuThread& thread, AicpuRequests& requests,
            PollRounds& rounds)
      : shared_(shared), number_(number), thread_(thread), requests_(requests), rounds_(rounds) {}

  // Ends when the answer is there.
  void fetch(std::uint64_t begin);
  // Of the line that was fetched; null: memory has refused it.
  const unsigned char* bytes() const { return valid_ ? bytes_.data() : nullptr; }
  // The line is in flight, and some of it in this range.
  bool meets(SpaceId vmid, std::uint64_t address, Bytes length) const {
    return in_flight_ && vmid == thread_.space() && address < at_ + CoherentCache::kLine &&
           at_ < address + length;
  }
  // The range has been written.
  void written(SpaceId vmid, std::uint64_t address, Bytes length) {
    if (meets(vmid, address, length)) sample();
  }
  void forget() { in_flight_ = false; }

 private:
  void sample();

  AicpuShared& shared_;
  const unsigned number_;
  AicpuThread& thread_;
  AicpuRequests& requests_;
  PollRounds& rounds_;
  bool in_flight_ = false, valid_ = false;
  std::uint64_t at_ = 0;
  std::array<unsigned char, CoherentCache::kLine> bytes_{};
};

}  // namespace npu::model
