// SPDX-License-Identifier: Apache-2.0
#include "model/hbm/request_queue.hpp"

#include <algorithm>
#include <systemc>

namespace npu::model::hbm {

RequestQueue::RequestQueue(bool split, unsigned capacity)
    : split_(split), held_{capacity, 0}, banks_{}, requests_{} {
  sc_assert(capacity < static_cast<unsigned>(kAgeLimit));
  requests_[kNoRequest].arrived = kNever;  // a command for it is never due
  for (unsigned slot = capacity; slot > kNoRequest; --slot) release(static_cast<Slot>(slot), false);
}

int RequestQueue::lower_ages() {
  oldest();
  const std::int16_t less = oldest_age_;
  if (less < kAgeLimit / 2) return 0;
  std::size_t age = 0;
  for (auto old = static_cast<std::size_t>(less); old < slot_of_age_.size(); ++age, ++old) {
    const Slot slot = slot_of_age_[old];
    slot_of_age_[age] = slot;
    if (slot != kNoRequest) requests_[slot].age = static_cast<std::int16_t>(age);
  }
  std::fill(slot_of_age_.begin() + static_cast<std::ptrdiff_t>(age), slot_of_age_.end(),
            kNoRequest);
  next_age_ = static_cast<std::int16_t>(next_age_ - less);
  oldest_age_ = 0;
  return less;
}

// Makes each burst of a request one by itself.
void RequestQueue::split_up(Slot slot) {
  Request& last = requests_[slot];
  while (last.count > 1) {
    const Slot first = free_;
    free_ = requests_[first].next;
    requests_[first] = last;
    requests_[first].count = 1;
    requests_[first].served = 0;
    requests_[first].next = slot;
    requests_[last.previous].next = first;
    last.previous = first;
    slot_of_age_[static_cast<std::size_t>(requests_[first].age)] = first;
    BankList& list = banks_[last.lane].lists[split_ && last.write ? 1 : 0];
    if (list.head == slot) list.head = first;
    if (list.hit == slot) list.hit = first;
    if (list.miss == slot) list.miss = first;
    pass_first(slot);
  }
}

[[gnu::noinline]] void RequestQueue::renumber() {
  for (int age = 0; age < next_age_; ++age) split_up(of_age(age));
  std::int16_t held = 0;
  for (auto& slot : slot_of_age_) {
    const Slot moved = slot;
    if (moved == kNoRequest) continue;
    slot = kNoRequest;
    requests_[moved].age = held;
    slot_of_age_[static_cast<std::size_t>(held++)] = moved;
  }
  next_age_ = held;
  oldest_age_ = 0;
}

}  // namespace npu::model::hbm
