// SPDX-License-Identifier: Apache-2.0
#include "model/hbm/request_queue.hpp"

#include <systemc>

namespace npu::model::hbm {

RequestQueue::RequestQueue(bool split, unsigned capacity) : split_(split), banks_{}, requests_{} {
  sc_assert(capacity < static_cast<unsigned>(kAgeLimit));
  requests_[kNoRequest].arrived = kNever;  // a command for it is never due
  for (unsigned slot = capacity; slot > kNoRequest; --slot) release(static_cast<Slot>(slot), false);
}

[[gnu::noinline]] void RequestQueue::renumber() {
  std::int16_t held = 0;
  for (auto& slot : slot_of_age_) {
    const Slot moved = slot;
    if (moved == kNoRequest) continue;
    slot = kNoRequest;
    requests_[moved].age = held;
    lane_of_age_[static_cast<std::size_t>(held)] = requests_[moved].lane;
    slot_of_age_[static_cast<std::size_t>(held++)] = moved;
  }
  next_age_ = held;
  oldest_age_ = 0;
}

}  // namespace npu::model::hbm
