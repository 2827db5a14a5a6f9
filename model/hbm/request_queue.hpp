// SPDX-License-Identifier: Apache-2.0
// The bursts a channel's controller holds: per bank a list in order of arrival for each kind the
// policy tells apart, with the oldest row hit and the oldest row miss of each list at hand.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/hbm/command.hpp"

namespace npu::model::hbm {

// One burst for a channel. `lane` as in BankLanes.
struct Burst {
  std::uint32_t row;
  std::uint32_t tag;  // the owner's own, handed back when the burst is served
  std::uint16_t lane;
  bool write;
};

using RequestIndex = std::uint16_t;
constexpr RequestIndex kNoRequest = UINT16_MAX;

struct Request {
  Burst burst;
  RequestIndex next;
  RequestIndex previous;
  std::int16_t age;  // order of arrival in the channel
  bool activated;    // an ACT was issued for it
  Clock arrived;
};

struct BankList {
  RequestIndex head = kNoRequest;
  RequestIndex tail = kNoRequest;
  RequestIndex hit = kNoRequest;   // oldest one for the open row
  RequestIndex miss = kNoRequest;  // oldest other one
};

struct Bank {
  std::array<BankList, 2> lists;
  RequestIndex opened = kNoRequest;  // split queues: the request whose ACT was issued
  bool open = false;
  std::uint32_t row = 0;
  Clock activated_at = 0;  // of the last ACT
};

class RequestQueue {
 public:
  // `split`: writes have lists of their own. `capacity`: requests held at once, opened included.
  RequestQueue(bool split, unsigned lanes, unsigned capacity);

  Bank& bank(int lane) { return banks_[static_cast<std::size_t>(lane)]; }
  const Bank& bank(int lane) const { return banks_[static_cast<std::size_t>(lane)]; }
  Request& at(RequestIndex index) { return requests_[index]; }
  const Request& at(RequestIndex index) const { return requests_[index]; }
  BankList& list_of(const Burst& burst) {
    return bank(burst.lane).lists[split_ && burst.write ? 1 : 0];
  }

  // Appends a burst; true if its list's oldest hit or miss changed.
  bool append(const Burst& burst, Clock arrived);
  // Takes a request out of its list; it stays readable until release().
  void unlink(RequestIndex index);
  void release(RequestIndex index) {
    if (requests_[index].burst.write) --writes_held_;
    free_.push_back(index);
  }
  void open_row(int lane, std::uint32_t row, Clock at);
  void close_row(int lane);

  // Queued requests by kind (opened ones do not count).
  unsigned queued(bool write) const { return queued_[write ? 1 : 0]; }
  // Whether any request, queued or opened, is a write.
  bool holds_writes() const { return writes_held_ != 0; }
  bool ages_exhausted() const { return next_age_ == kAgeLimit; }
  // Renumbers the ages, keeping their order.
  void renumber();

  static constexpr int kAgeLimit = 16'000;

 private:
  RequestIndex next_match(RequestIndex from, const Bank& bank, bool hit) const;

  bool split_;
  std::vector<Bank> banks_;
  std::vector<Request> requests_;
  std::vector<RequestIndex> free_;
  std::array<unsigned, 2> queued_{};
  unsigned writes_held_ = 0;
  std::int16_t next_age_ = 0;
};

}  // namespace npu::model::hbm
