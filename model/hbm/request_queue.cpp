// SPDX-License-Identifier: Apache-2.0
#include "model/hbm/request_queue.hpp"

#include <systemc>

namespace npu::model::hbm {

RequestQueue::RequestQueue(bool split, unsigned capacity) : split_(split), banks_{}, requests_{} {
  sc_assert(capacity < static_cast<unsigned>(kAgeLimit));
  for (unsigned slot = capacity; slot > kNoRequest; --slot) release(static_cast<Slot>(slot));
}

[[gnu::noinline]] void RequestQueue::renumber() {
  by_age_.fill(kNoRequest);
  const auto enter = [this](Slot slot) {
    by_age_[static_cast<std::size_t>(requests_[slot].age)] = slot;
  };
  for (const auto& bank : banks_) {
    if (bank.opened != kNoRequest) enter(bank.opened);
    for (const auto& list : bank.lists) {
      for (auto slot = list.head; slot != kNoRequest; slot = requests_[slot].next) enter(slot);
    }
  }
  next_age_ = 0;
  for (const auto slot : by_age_) {
    if (slot == kNoRequest) continue;
    requests_[slot].age = next_age_;
    lane_of_age_[static_cast<std::size_t>(next_age_++)] = requests_[slot].lane;
  }
}

}  // namespace npu::model::hbm
