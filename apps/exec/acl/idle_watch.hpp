// SPDX-License-Identifier: Apache-2.0
// Notices that programs do nothing any more but sleep, again and again, while a thread is in a call
// that does not end: what sleeps then does so until another call begins or ends. So a program that
// waits for itself is told, although a thread of it has a heartbeat.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "apps/exec/acl/sleeper.hpp"

namespace npu::exec::acl {

class IdleWatch {
 public:
  // Sleeps and simulated time without another call.
  static constexpr std::uint64_t kSleeps = 10'000;
  static constexpr Picoseconds kTime{std::int64_t{86'400} * 1'000'000'000'000};

  // A call that is no sleep begins, or has ended.
  void begin_call(Instant now) {
    ++calls_;
    progress(now);
  }
  void end_call(Instant now) {
    --calls_;
    progress(now);
  }

  // A thread's sleep until `deadline`, or further.
  void sleep(Sleeper& sleeper, Instant now, Instant deadline) {
    if (!is_hopeless(now)) return sleeper.sleep_until(deadline);
    resting_.push_back(&sleeper);
    sleeper.sleep_until(Instant::never());
    resting_.erase(std::remove(resting_.begin(), resting_.end(), &sleeper), resting_.end());
  }

 private:
  bool is_hopeless(Instant now) {
    return ++sleeps_ > kSleeps && calls_ != 0 && now - since_ > kTime;
  }
  void progress(Instant now) {
    since_ = now;
    sleeps_ = 0;
    for (auto* const sleeper : resting_) sleeper->wake();
  }

  std::uint64_t calls_ = 0, sleeps_ = 0;
  Instant since_;
  std::vector<Sleeper*> resting_;
};

}  // namespace npu::exec::acl
