// SPDX-License-Identifier: Apache-2.0
#include "model/core/far_handlers.hpp"

#include <algorithm>

namespace npu::model {
namespace {

// Inlined where it is called, as a function would not be.
constexpr auto kLater = [](const HandlerEntry& a, const HandlerEntry& b) { return later(a, b); };

// The first one last.
void order(std::vector<HandlerEntry>& bucket) {
  std::sort(bucket.begin(), bucket.end(), kLater);
}

}  // namespace

// What is not behind base_: mostly at one of the ends of bucket 0.
[[gnu::noinline]] void FarHandlers::file_early(const HandlerEntry& entry) {
  constexpr std::ptrdiff_t kMany = 4 * kTaken;
  Bucket& bucket = buckets_[0];
  used_ |= 1;
  if (!bucket.empty() && later(entry, bucket.front())) return behind_.push_back(entry);
  const auto place = std::upper_bound(bucket.begin(), bucket.end(), entry, kLater);
  if (bucket.end() - place <= kMany || entry.when == bucket.back().when) {
    bucket.insert(place, entry);
  } else {
    lower_base();
    file(entry);
  }
}

// Little was left when base_ was found, and much has come since that is before it.
void FarHandlers::lower_base() {
  dealt_.swap(behind_);
  deal_out(bucket_of(base_, buckets_[0].back().when));
}

// All buckets before `end`: the first of these handlers is the new base, so that at least that one
// comes into bucket 0.
void FarHandlers::deal_out(unsigned end) {
  for (; used_ != 0 && lowest() < end; used_ &= used_ - 1) {
    Bucket& bucket = buckets_[lowest()];
    dealt_.insert(dealt_.end(), bucket.begin(), bucket.end());
    bucket.clear();
  }
  base_ = dealt_.front().when;
  for (const HandlerEntry& entry : dealt_) base_ = std::min(base_, entry.when);
  for (const HandlerEntry& entry : dealt_) {
    if (entry.when == base_) {
      buckets_[0].push_back(entry);
    } else {
      file(entry);
    }
  }
  used_ |= 1;
  order(buckets_[0]);
  dealt_.clear();
}

std::size_t FarHandlers::take(HandlerEntry* to) {
  while (lowest() != 0 && buckets_[lowest()].size() > kTaken) deal_out(lowest() + 1);
  const unsigned number = lowest();
  Bucket& bucket = buckets_[number];
  if (number != 0) order(bucket);
  const std::size_t taken = std::min(bucket.size(), kTaken);
  const auto from = bucket.end() - static_cast<std::ptrdiff_t>(taken);
  std::copy(from, bucket.end(), to);
  bucket.erase(from, bucket.end());
  size_ -= taken;
  if (number == 0 && bucket.empty() && !behind_.empty()) {
    bucket.swap(behind_);
    order(bucket);
  }
  if (!bucket.empty()) {
    first_ = bucket.back();
    return taken;
  }
  used_ &= used_ - 1;
  if (size_ == 0) return taken;
  const Bucket& next = buckets_[lowest()];
  first_ = *std::min_element(next.begin(), next.end(),
                             [](const auto& a, const auto& b) { return later(b, a); });
  return taken;
}

}  // namespace npu::model
