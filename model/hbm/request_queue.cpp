// SPDX-License-Identifier: Apache-2.0
#include "model/hbm/request_queue.hpp"

#include <systemc>

namespace npu::model::hbm {

RequestQueue::RequestQueue(bool split, unsigned capacity) : split_(split), banks_{}, requests_{} {
  sc_assert(capacity < static_cast<unsigned>(kAgeLimit));
  for (unsigned i = capacity; i > kNoRequest; --i) release(static_cast<RequestIndex>(i));
}

RequestQueue::Oldest RequestQueue::append(const Burst& burst, Clock arrived) {
  const RequestIndex index = free_;
  free_ = requests_[index].next;
  Bank& bank = banks_[burst.lane];
  auto& list = bank.lists[split_ && burst.write ? 1 : 0];
  requests_[index] = {burst.row,   burst.tag,   kNoRequest,
                      list.tail,   next_age_++, static_cast<std::uint8_t>(burst.lane),
                      burst.write, false,       arrived};
  requests_[list.tail].next = index;
  if (list.tail == kNoRequest) list.head = index;
  list.tail = index;
  ++queued_[burst.write ? 1 : 0];
  writes_held_ += burst.write ? 1 : 0;
  const bool hit = bank.open && bank.row == burst.row;
  auto& oldest = hit ? list.hit : list.miss;
  if (oldest != kNoRequest) return Oldest::kNothing;
  oldest = index;
  return hit ? Oldest::kHit : Oldest::kMiss;
}

void RequestQueue::unlink(RequestIndex index) {
  const Request& request = requests_[index];
  auto& list = list_of(request);
  const Bank& bank = banks_[request.lane];
  if (list.hit == index) list.hit = next_match(request.next, bank, true);
  if (list.miss == index) list.miss = next_match(request.next, bank, false);
  requests_[request.previous].next = request.next;
  requests_[request.next].previous = request.previous;
  if (list.head == index) list.head = request.next;
  if (list.tail == index) list.tail = request.previous;
  --queued_[request.write ? 1 : 0];
}

void RequestQueue::open_row(int lane, std::uint32_t row, Clock at) {
  Bank& opened = bank(lane);
  opened.open = true;
  opened.row = row;
  opened.activated_at = at;
  for (auto& list : opened.lists) {
    list.hit = next_match(list.head, opened, true);
    list.miss = list.hit == list.head ? next_match(list.head, opened, false) : list.head;
  }
}

void RequestQueue::close_row(int lane) {
  Bank& closed = bank(lane);
  closed.open = false;
  for (auto& list : closed.lists) {
    list.hit = kNoRequest;
    list.miss = list.head;
  }
}

// Fills by_age_ with all requests held; returns their number. Ages are unique and below its size.
unsigned RequestQueue::order_by_age() {
  by_age_.fill(kNoRequest);
  const auto enter = [this](RequestIndex i) {
    by_age_[static_cast<std::size_t>(requests_[i].age)] = i;
  };
  for (const auto& bank : banks_) {
    if (bank.opened != kNoRequest) enter(bank.opened);
    for (const auto& list : bank.lists) {
      for (auto i = list.head; i != kNoRequest; i = requests_[i].next) enter(i);
    }
  }
  unsigned held = 0;
  for (const auto index : by_age_) {
    if (index != kNoRequest) by_age_[held++] = index;
  }
  return held;
}

}  // namespace npu::model::hbm
