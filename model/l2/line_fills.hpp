// SPDX-License-Identifier: Apache-2.0
// The reads of the HBM that bring an L2 its lines, and the requests that wait for them. One request
// at a time looks up its lines, from begin() to end(): neighbouring lines that it misses one after
// another are one read, which is sent as soon as it can become no longer.
#pragma once

#include "model/l2/hbm_transfer.hpp"
#include "model/l2/numbered_records.hpp"

namespace npu::model {

class LineFills {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // A read. `block`: of its first line; `lag`: from HBM's response until its last line is in its
  // slice; `spoilt`: the read has met an error that cannot be corrected.
  struct Fill {
    HbmTransfer transfer;
    LineStore::Block block;
    SimTime lag = 0;
    std::uint32_t waiters = kNone, last = kNone;  // a list
    bool spoilt = false;
  };
  struct Requester {
    std::uint32_t number = 0;  // that woken() is given in finish()
    unsigned client = 0;
    std::uint64_t cause = 0;
  };

  explicit LineFills(HbmPort& port) : port_(port) {}

  void begin(const Requester& requester) {
    requester_ = requester;
    run_ = joined_ = kNone;
    joins_ = 0;
  }
  // The requester misses `line` of `block`, which comes to its slice `lag` after the HBM's
  // response; it waits for it. Gives the number of the read.
  std::uint32_t read(const LineStore::Block& block, Line line, SimTime lag);
  // It waits for a read that was there before. Lines of one read in a row are waited for once.
  void join(std::uint32_t fill);
  // How many reads it waits for that it did not wait for at begin().
  std::uint32_t end() {
    send();
    return joins_;
  }

  // The HBM's response; how long after it the lines are there.
  SimTime arrived(std::uint32_t fill, bool spoilt) {
    fills_[fill].spoilt = spoilt;
    return fills_[fill].lag;
  }
  const Fill& operator[](std::uint32_t fill) const { return fills_[fill]; }
  // The read is over: calls woken(number) for those that waited, in the order in which they came.
  template <class Woken>
  void finish(std::uint32_t fill, Woken woken) {
    for (std::uint32_t waiter = fills_[fill].waiters; waiter != kNone;) {
      const auto [number, next] = waiters_[waiter];
      woken(number);
      waiters_.give_back(waiter);
      waiter = next;
    }
    fills_.give_back(fill);
  }

 private:
  struct Waiter {
    std::uint32_t number, next;
  };

  void send();

  HbmPort& port_;
  NumberedRecords<Fill> fills_;
  NumberedRecords<Waiter> waiters_;
  Requester requester_;
  std::uint32_t run_ = kNone;     // read that the requester makes longer
  std::uint32_t joined_ = kNone;  // the last one that it has begun to wait for
  std::uint32_t joins_ = 0;
};

}  // namespace npu::model
