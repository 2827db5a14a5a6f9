// SPDX-License-Identifier: Apache-2.0
// A kernel event for a time that often gives way to an earlier one. The kernel keeps what is
// cancelled until its time comes, and searches through all of it; so a far time is gone to by
// steps, each twice as long as the one before, of which only the next can be left behind.
#pragma once

#include <algorithm>
#include <cstdint>
#include <systemc>

namespace npu::model {

class SteppedEvent {
 public:
  // What a method is sensitive to; it goes on only if arrived(). Times are the kernel's, in ps.
  const sc_core::sc_event& event() const { return event_; }
  // When the event comes next; UINT64_MAX: it does not.
  std::uint64_t next() const { return next_; }

  // To come at `when`, unless it comes earlier anyway.
  void arm(std::uint64_t when, std::uint64_t now) {
    if (when >= target_) return;
    target_ = when;
    stride_ = kFirstStride;
    step(now);
  }
  void disarm() {
    event_.cancel();
    target_ = next_ = UINT64_MAX;
  }
  // The event has come: whether that is the time it was armed for. Then it is no longer armed.
  bool arrived(std::uint64_t now) {
    if (now < target_ && target_ != UINT64_MAX) {
      step(now);
      return false;
    }
    target_ = next_ = UINT64_MAX;
    return true;
  }

 private:
  static constexpr std::uint64_t kFirstStride = 20'000'000;  // a transaction takes less

  void step(std::uint64_t now) {
    next_ = now + std::min(stride_, target_ - now);
    stride_ *= 2;
    event_.notify(sc_core::sc_time::from_value(next_ - now));
  }

  sc_core::sc_event event_;
  std::uint64_t target_ = UINT64_MAX;
  std::uint64_t next_ = UINT64_MAX;
  std::uint64_t stride_ = 0;
};

}  // namespace npu::model
