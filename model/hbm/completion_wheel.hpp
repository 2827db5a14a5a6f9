// SPDX-License-Identifier: Apache-2.0
// What completes at which clock edge: a ring of lists, for clocks less than its size apart.
// Entries of one clock come out in the order in which they went in.
#pragma once

#include <algorithm>
#include <cstdint>
#include <systemc>
#include <vector>

#include "model/hbm/command.hpp"

namespace npu::model::hbm {

class CompletionWheel {
 public:
  // `span`: clocks between the earliest and the latest entry at any time.
  explicit CompletionWheel(Clock span) {
    std::size_t size = 64;
    while (size <= static_cast<std::size_t>(span)) size *= 2;
    buckets_.resize(size);
    mask_ = size - 1;
  }
  // Entries are below `entries` from now on.
  void make_room(std::size_t entries) { links_.resize(std::max(links_.size(), entries), kNone); }
  // The clock of the earliest entry; kNever if there is none.
  Clock next() const { return next_; }

  void add(Clock at, std::uint32_t entry) {
    sc_assert(next_ == kNever || at - next_ <= static_cast<Clock>(mask_));
    Bucket& bucket = bucket_of(at);
    links_[entry] = kNone;
    if (bucket.head == kNone) {
      bucket.head = entry;
    } else {
      links_[bucket.tail] = entry;
    }
    bucket.tail = entry;
    ++count_;
    if (at < next_) next_ = at;
  }
  // The first entry of next(), which must exist.
  std::uint32_t front() const { return buckets_[static_cast<std::size_t>(next_) & mask_].head; }
  // The one behind an entry at the same clock, or 0.
  std::uint32_t behind(std::uint32_t entry) const {
    return links_[entry] == kNone ? 0 : links_[entry];
  }
  // Takes the first entry.
  std::uint32_t pop() {
    Bucket& bucket = bucket_of(next_);
    const std::uint32_t entry = bucket.head;
    bucket.head = links_[entry];
    if (--count_ == 0) {
      next_ = kNever;
    } else {
      while (bucket_of(next_).head == kNone) ++next_;
    }
    return entry;
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Bucket {
    std::uint32_t head = kNone;
    std::uint32_t tail = kNone;
  };
  Bucket& bucket_of(Clock at) { return buckets_[static_cast<std::size_t>(at) & mask_]; }

  std::vector<Bucket> buckets_;
  std::size_t mask_;  // their number - 1
  std::vector<std::uint32_t> links_;
  Clock next_ = kNever;
  std::size_t count_ = 0;
};

}  // namespace npu::model::hbm
