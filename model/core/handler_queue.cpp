// SPDX-License-Identifier: Apache-2.0
#include "model/core/handler_queue.hpp"

#include <systemc>

namespace npu::model {

// Where there are more than a few.
[[gnu::noinline]] void HandlerQueue::insert(const Entry& entry) {
  if (near_count_ == kNear) {
    if (later(entry, near_[1])) return push_far(entry);
    push_far(near_[1]);
    std::copy(near_.begin() + 2, near_.end(), near_.begin() + 1);
    --near_count_;
  } else if (later(entry, far_.front())) {
    return push_far(entry);
  }
  insert_near(entry);
}

void HandlerQueue::push_far(const Entry& entry) {
  far_.push_back(entry);
  std::push_heap(far_.begin(), far_.end(), later);
}

// One pass from the far ones; the rest stays until they, too, are near.
[[gnu::noinline]] void HandlerQueue::refill() {
  std::array<Entry, kNear / 2> next;
  for (; near_count_ < next.size() && !far_.empty(); ++near_count_) {
    std::pop_heap(far_.begin(), far_.end(), later);
    next[near_count_] = far_.back();
    far_.pop_back();
  }
  std::reverse_copy(next.begin(), next.begin() + near_count_, near_.begin() + 1);
}

// A place for one more handler, which is free.
[[gnu::noinline]] std::uint64_t HandlerQueue::grow() {
  sc_assert(handlers_.size() <= kPlaceMask);
  handlers_.push_back({nullptr, kNone, nullptr});
  return handlers_.size() - 1;
}

}  // namespace npu::model
