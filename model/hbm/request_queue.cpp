// SPDX-License-Identifier: Apache-2.0
#include "model/hbm/request_queue.hpp"

#include <algorithm>
#include <systemc>

namespace npu::model::hbm {

RequestQueue::RequestQueue(bool split, unsigned lanes, unsigned capacity)
    : split_(split), banks_(lanes), requests_(capacity) {
  static_assert(kAgeLimit < kNoRequest);
  sc_assert(capacity < static_cast<unsigned>(kAgeLimit));
  free_.reserve(capacity);
  for (unsigned i = capacity; i-- > 0;) free_.push_back(static_cast<RequestIndex>(i));
}

bool RequestQueue::append(const Burst& burst, Clock arrived) {
  const RequestIndex index = free_.back();
  free_.pop_back();
  auto& list = list_of(burst);
  requests_[index] = {burst, kNoRequest, list.tail, next_age_++, false, arrived};
  if (list.tail == kNoRequest) {
    list.head = index;
  } else {
    requests_[list.tail].next = index;
  }
  list.tail = index;
  ++queued_[burst.write ? 1 : 0];
  if (burst.write) ++writes_held_;
  const Bank& bank = banks_[burst.lane];
  auto& oldest = bank.open && bank.row == burst.row ? list.hit : list.miss;
  if (oldest != kNoRequest) return false;
  oldest = index;
  return true;
}

RequestIndex RequestQueue::next_match(RequestIndex from, const Bank& bank, bool hit) const {
  while (from != kNoRequest && (bank.open && requests_[from].burst.row == bank.row) != hit) {
    from = requests_[from].next;
  }
  return from;
}

void RequestQueue::unlink(RequestIndex index) {
  const Request& request = requests_[index];
  auto& list = list_of(request.burst);
  const Bank& bank = banks_[request.burst.lane];
  if (list.hit == index) list.hit = next_match(request.next, bank, true);
  if (list.miss == index) list.miss = next_match(request.next, bank, false);
  if (request.previous == kNoRequest) {
    list.head = request.next;
  } else {
    requests_[request.previous].next = request.next;
  }
  if (request.next == kNoRequest) {
    list.tail = request.previous;
  } else {
    requests_[request.next].previous = request.previous;
  }
  --queued_[request.burst.write ? 1 : 0];
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

void RequestQueue::renumber() {
  std::vector<RequestIndex> live;
  for (const auto& bank : banks_) {
    if (bank.opened != kNoRequest) live.push_back(bank.opened);
    for (const auto& list : bank.lists) {
      for (auto i = list.head; i != kNoRequest; i = requests_[i].next) live.push_back(i);
    }
  }
  std::sort(live.begin(), live.end(),
            [this](auto a, auto b) { return requests_[a].age < requests_[b].age; });
  next_age_ = 0;
  for (const auto index : live) requests_[index].age = next_age_++;
}

}  // namespace npu::model::hbm
