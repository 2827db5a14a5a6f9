// SPDX-License-Identifier: Apache-2.0
#include "model/core/handler_queue.hpp"

#include <algorithm>
#include <systemc>

namespace npu::model {

// Where there are more than a few.
[[gnu::noinline]] void HandlerQueue::insert(const Entry& entry) {
  if (near_count_ == kNear) {
    if (later(entry, near_[1])) return far_.push(entry);
    far_.push(near_[1]);
    std::copy(near_.begin() + 2, near_.end(), near_.begin() + 1);
    --near_count_;
  } else if (later(entry, far_.first())) {
    return far_.push(entry);
  }
  insert_near(entry);
}

// One pass from the far ones; the rest stays until they, too, are near.
[[gnu::noinline]] void HandlerQueue::refill() {
  static_assert(FarHandlers::kTaken <= kNear / 2);
  near_count_ = far_.take(&near_[1]);
}

// A place for one more handler, which is free.
[[gnu::noinline]] std::uint64_t HandlerQueue::grow() {
  sc_assert(handlers_.size() <= kPlaceMask);
  handlers_.push_back({nullptr, kNone, nullptr});
  return handlers_.size() - 1;
}

}  // namespace npu::model
