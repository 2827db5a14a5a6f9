// SPDX-License-Identifier: Apache-2.0
#include "model/hbm/request_queue.hpp"

#include <systemc>

namespace npu::model::hbm {

RequestQueue::RequestQueue(bool split, unsigned capacity) : split_(split), banks_{}, requests_{} {
  sc_assert(capacity + 1 < kSlots);
}

[[gnu::noinline]] void RequestQueue::renumber() {
  Slot held = kNoRequest + 1;
  for (unsigned slot = held; slot < kSlots; ++slot) {
    if (!requests_[slot].held) continue;
    moved_[slot] = held;
    requests_[held++] = requests_[slot];
  }
  for (unsigned slot = kNoRequest + 1; slot < held; ++slot) {
    Request& request = requests_[slot];
    request.next = moved_[request.next];
    request.previous = moved_[request.previous];
  }
  for (auto& bank : banks_) {
    bank.opened = moved_[bank.opened];
    for (auto& list : bank.lists) {
      for (auto* slot : {&list.head, &list.tail, &list.hit, &list.miss}) *slot = moved_[*slot];
    }
  }
  next_ = held;
}

}  // namespace npu::model::hbm
