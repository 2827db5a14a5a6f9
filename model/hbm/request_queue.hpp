// SPDX-License-Identifier: Apache-2.0
// The bursts a channel's controller holds: per bank a list in order of arrival for each kind the
// policy tells apart, with the oldest row hit and the oldest row miss of each list at hand.
#pragma once

#include <array>
#include <cstdint>

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
// No request; its place in the array exists and may be written, so that links need no questions.
constexpr RequestIndex kNoRequest = 0;

struct Request {
  std::uint32_t row;
  std::uint32_t tag;
  RequestIndex next;
  RequestIndex previous;
  std::int16_t age;  // order of arrival in the channel
  std::uint8_t lane;
  bool write : 1;
  bool activated : 1;  // an ACT was issued for it
  Clock arrived;
};
static_assert(sizeof(Request) == 24);

struct BankList {
  RequestIndex head = kNoRequest;
  RequestIndex tail = kNoRequest;
  RequestIndex hit = kNoRequest;   // oldest one for the open row
  RequestIndex miss = kNoRequest;  // oldest other one
};

struct alignas(32) Bank {
  std::array<BankList, 2> lists;
  Clock activated_at = 0;  // of the last ACT
  std::uint32_t row = 0;
  RequestIndex opened = kNoRequest;  // split queues: the request whose ACT was issued
  bool open = false;
};
static_assert(sizeof(Bank) == 32);

class RequestQueue {
 public:
  static constexpr int kMaxLanes = 128;
  static constexpr int kAgeLimit = 512;

  // `split`: writes have lists of their own. `capacity`: requests held at once, opened included.
  RequestQueue(bool split, unsigned capacity);

  Bank& bank(int lane) { return banks_[static_cast<std::size_t>(lane)]; }
  const Bank& bank(int lane) const { return banks_[static_cast<std::size_t>(lane)]; }
  Request& at(RequestIndex index) { return requests_[index]; }
  const Request& at(RequestIndex index) const { return requests_[index]; }

  // Appends a burst. What it has become the oldest of in its list:
  enum class Oldest : std::uint8_t { kHit, kMiss, kNothing };
  Oldest append(const Burst& burst, Clock arrived);
  // Takes a request out of its list; it stays readable until release().
  void unlink(RequestIndex index);
  void release(RequestIndex index) {
    writes_held_ -= requests_[index].write ? 1 : 0;
    requests_[index].next = free_;
    free_ = index;
  }
  void open_row(int lane, std::uint32_t row, Clock at);
  void close_row(int lane);

  // Queued requests by kind (opened ones do not count).
  unsigned queued(bool write) const { return queued_[write ? 1 : 0]; }
  // Whether any request, queued or opened, is a write.
  bool holds_writes() const { return writes_held_ != 0; }
  // The age the next request gets.
  int next_age() const { return next_age_; }
  bool ages_exhausted() const { return next_age_ == kAgeLimit; }
  // Renumbers the ages, keeping their order. Calls renamed(age, lane) for each.
  template <class Renamed>
  void renumber(const Renamed& renamed) {
    const unsigned held = order_by_age();
    for (unsigned age = 0; age < held; ++age) {
      Request& request = requests_[by_age_[age]];
      request.age = static_cast<std::int16_t>(age);
      renamed(request.age, int{request.lane});
    }
    next_age_ = static_cast<std::int16_t>(held);
  }

 private:
  unsigned order_by_age();
  BankList& list_of(const Request& request) {
    return bank(request.lane).lists[split_ && request.write ? 1 : 0];
  }
  RequestIndex next_match(RequestIndex from, const Bank& bank, bool hit) const {
    while (from != kNoRequest && (bank.open && requests_[from].row == bank.row) != hit) {
      from = requests_[from].next;
    }
    return from;
  }

  bool split_;
  std::int16_t next_age_ = 0;
  std::array<unsigned, 2> queued_{};
  unsigned writes_held_ = 0;
  RequestIndex free_ = kNoRequest;  // linked by `next`
  std::array<Bank, kMaxLanes> banks_;
  std::array<Request, kAgeLimit> requests_;
  std::array<RequestIndex, kAgeLimit> by_age_{};  // only while renumbering
};

}  // namespace npu::model::hbm
