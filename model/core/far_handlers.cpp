// SPDX-License-Identifier: Apache-2.0
#include "model/core/far_handlers.hpp"

#include <algorithm>

namespace npu::model {

// The first of them is the new base, so that at least that one comes into bucket 0.
void FarHandlers::deal_out(Bucket& bucket) {
  dealt_.swap(bucket);
  used_ &= used_ - 1;
  base_ = dealt_.front().when;
  for (const HandlerEntry& entry : dealt_) base_ = std::min(base_, entry.when);
  for (const HandlerEntry& entry : dealt_) file(entry);
  dealt_.clear();
}

// The first one last.
void FarHandlers::order(unsigned number) {
  if (number == 0 && base_is_ordered_) return;
  base_is_ordered_ |= number == 0;
  std::sort(buckets_[number].begin(), buckets_[number].end(),
            [](const HandlerEntry& a, const HandlerEntry& b) { return later(a, b); });
}

std::size_t FarHandlers::take(HandlerEntry* to) {
  while (lowest() != 0 && buckets_[lowest()].size() > kTaken) deal_out(buckets_[lowest()]);
  const unsigned number = lowest();
  order(number);
  Bucket& bucket = buckets_[number];
  const std::size_t taken = std::min(bucket.size(), kTaken);
  const auto from = bucket.end() - static_cast<std::ptrdiff_t>(taken);
  std::copy(from, bucket.end(), to);
  bucket.erase(from, bucket.end());
  size_ -= taken;
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
