// SPDX-License-Identifier: Apache-2.0
// What clients have had of the window, and who is to have the time slice next. No time of its own,
// no locks.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "npu/driver/time_slices.hpp"

namespace npu::driver {

struct TimeSliceAccount {
  CoreQuota quota;
  unsigned quota_ppm = 0;  // of the window, scaled if the sum is too large
  unsigned cap_ppm = 0;    // by the token
  Picoseconds used;        // in the window; below 0: it was kept waiting before
  Picoseconds carried;     // what `used` began with
  Picoseconds debt;        // that the window began with
  bool waiting = false;
  Instant asked;

  unsigned effective_ppm() const { return std::min(quota_ppm, cap_ppm); }
};

class TimeSliceLedger {
 public:
  explicit TimeSliceLedger(const TimeSliceOptions& options) : options_(options) {}

  TimeSliceAccount& add(unsigned client, const CoreQuota& quota);
  void remove(unsigned client);
  void set_quota(unsigned client, const CoreQuota& quota);
  void set_card_token(unsigned token);
  // What a client has had of the card's time, and what it is billed of that.
  void charge(unsigned client, Picoseconds had, Picoseconds billed);
  TimeSliceAccount& of(unsigned client) { return accounts_.at(client); }
  const TimeSliceAccount& of(unsigned client) const { return accounts_.at(client); }
  const std::map<unsigned, TimeSliceAccount>& all() const { return accounts_; }

  // Its quota of what a window gives when time slices change: what all that want the cores were
  // under by in the last one is nobody's. As credits it would add up, and time slices grow with the
  // carry.
  Picoseconds budget(const TimeSliceAccount& account) const;
  Picoseconds cap(const TimeSliceAccount& account) const;
  // Until the client with the time slice has had what it may have of this window; `others`:
  // somebody waits who has something left. Instant::never() in effect: Picoseconds::max().
  Picoseconds left(unsigned client) const;
  // A new window; `holder` has the time slice. What was too much goes on, and what a client was
  // kept from that waits, both up to a part of the window.
  void roll(std::optional<unsigned> holder);
  // Who waits and may have the time slice; first who has had the least of its quota.
  std::optional<unsigned> next() const;
  // Whether the holder runs on what others do not use, and one of them wants it now.
  bool must_yield(unsigned holder) const;
  // Nobody else wants the time slice and nothing limits the client.
  bool unlimited(unsigned client) const;

 private:
  void scale();
  // What clients together may have of this window still.
  Picoseconds card_left() const;
  // What a window gives of itself, after one in which `kept_waiting` says who wanted more.
  void measure(const std::function<bool(unsigned, const TimeSliceAccount&)>& kept_waiting);
  std::optional<unsigned> first(bool within_quota) const;

  const TimeSliceOptions options_;
  std::map<unsigned, TimeSliceAccount> accounts_;
  unsigned gives_ppm_ = 1'000'000;
  unsigned card_ppm_ = 1'000'000;  // of the window, by the card's token
  Picoseconds card_used_;          // in the window, of all clients
};

}  // namespace npu::driver
