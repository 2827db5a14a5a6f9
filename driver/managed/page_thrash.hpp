// SPDX-License-Identifier: Apache-2.0
// Whether a page goes to and fro too often (virtualisation.md S6): faults for a page that has left
// the card less than a lapse ago. The third in a row within a lapse of each other is made to wait
// for a lapse; after ten of those the page is pinned on the card for 300 lapses.
#pragma once

#include "npu/base/units.hpp"

namespace npu::driver {

class PageThrash {
 public:
  enum class Verdict : std::uint8_t { kServe, kWait, kPin };

  // The page has left the card.
  void left(Instant now) { left_ = now, has_left_ = true; }
  // The card wants it again.
  Verdict wanted(Instant now, Picoseconds lapse) {
    const bool soon = has_left_ && now - left_ < lapse;
    has_left_ = false;
    events_ = !soon ? 0 : now - last_ < lapse ? events_ + 1 : 1;
    last_ = now;
    if (now - epoch_ >= kEpoch * lapse) epoch_ = now, waits_ = 0;
    if (events_ < kEvents) return Verdict::kServe;
    events_ = 0;
    if (++waits_ <= kWaits) return Verdict::kWait;
    waits_ = 0;
    pinned_until_ = now + kPinned * lapse;
    return Verdict::kPin;
  }
  bool pinned(Instant now) const { return now < pinned_until_; }
  Instant pinned_until() const { return pinned_until_; }

 private:
  static constexpr unsigned kEvents = 3, kWaits = 10;
  static constexpr int kPinned = 300, kEpoch = 2000;

  bool has_left_ = false;
  unsigned events_ = 0, waits_ = 0;
  Instant left_{}, last_{}, epoch_{}, pinned_until_{};
};

}  // namespace npu::driver
