// SPDX-License-Identifier: Apache-2.0
// The handlers of a queue that are not among its next few: a radix heap. Buckets are by the highest
// bit in which a time differs from one that no time here is below, or was not for long; only the
// lowest bucket is ever ordered, or dealt out among those below it if it holds many. What handlers
// of one time push for the same time is kept apart, in the order in which it comes: there may be
// thousands of these, which must not be ordered again for each few that are taken.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace npu::model {

// Small, because they are moved.
struct HandlerEntry {
  std::uint64_t when;
  std::uint64_t order;  // by sequence number: first pushed, first taken
};

// Without branches: which of two is later cannot be predicted.
inline bool later(const HandlerEntry& a, const HandlerEntry& b) {
  const bool behind = a.when > b.when;
  const bool after = (a.when == b.when) & (a.order > b.order);
  return behind | after;
}

class FarHandlers {
 public:
  static constexpr std::size_t kTaken = 16;

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // There is one.
  const HandlerEntry& first() const { return first_; }

  void push(const HandlerEntry& entry) {
    if (size_++ == 0 || later(first_, entry)) first_ = entry;
    file(entry);
  }
  // The first few, kTaken at most, the first one last; how many. There is one.
  std::size_t take(HandlerEntry* to);

 private:
  static constexpr unsigned kBuckets = 64;
  using Bucket = std::vector<HandlerEntry>;

  unsigned lowest() const { return static_cast<unsigned>(__builtin_ctzll(used_)); }
  void file(const HandlerEntry& entry) {
    if (entry.when <= base_) return file_early(entry);
    const unsigned bucket = bucket_of(entry.when, base_);
    buckets_[bucket].push_back(entry);
    used_ |= std::uint64_t{1} << bucket;
  }
  // Of two times that differ.
  static unsigned bucket_of(std::uint64_t when, std::uint64_t base) {
    const auto differ = static_cast<unsigned>(__builtin_clzll(when ^ base));
    return differ == 0 ? kBuckets - 1 : kBuckets - differ;
  }
  void file_early(const HandlerEntry& entry);
  void lower_base();
  void deal_out(unsigned end);

  // Bucket 0: not behind base_, ordered, the first one last. A bucket above it: all before those of
  // the next one.
  std::array<Bucket, kBuckets> buckets_;
  Bucket behind_;  // not behind base_ either, but behind all of bucket 0, if that is not empty
  Bucket dealt_;
  std::uint64_t used_ = 0;  // a bit for each bucket that is not empty
  std::uint64_t base_ = 0;
  HandlerEntry first_{};
  std::size_t size_ = 0;
};

}  // namespace npu::model
