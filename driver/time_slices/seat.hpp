// SPDX-License-Identifier: Apache-2.0
// Whether a client's process is on the card. It comes there with the number of the time slice that
// the scheduler allows, and with no other: what an agent does late for a time slice that is over
// does nothing.
#pragma once

#include <atomic>

#include "driver/support/spin_lock.hpp"
#include "npu/driver/process.hpp"

namespace npu::driver {

class TimeSliceSeat {
 public:
  TimeSliceSeat(platform::Platform& platform, ProcessContext& process)
      : process_(process), lock_(platform.tasks().make_mutex()) {}

  ProcessContext& process() { return process_; }
  // 0: none.
  std::uint64_t allowed() const { return allowed_.load(std::memory_order_acquire); }
  void allow(std::uint64_t slice) { allowed_.store(slice, std::memory_order_release); }

  // The client's agent has heard what it was told, and the card is at it.
  bool at_work() const { return at_work_.load(std::memory_order_acquire); }

  // Off the card before the first time slice.
  Status begin(Instant deadline) {
    const MutexHolder holder(*lock_);
    auto gone = process_.evict(deadline);
    on_card_ = !gone && gone.error().code == ErrorCode::kBusy;
    return gone;
  }
  // False: it is another time slice, or the card does not answer.
  bool enter(std::uint64_t slice, Instant deadline) {
    const MutexHolder holder(*lock_);
    if (slice == 0 || allowed() != slice) return false;
    const Work work(at_work_);
    if (!on_card_ && !process_.restore(deadline)) return false;
    on_card_ = true;
    return true;
  }
  // `time slice` of the caller's; of another one nothing happens.
  void leave(std::uint64_t slice, Instant deadline) {
    const MutexHolder holder(*lock_);
    const Work work(at_work_);
    if (allowed() == slice) take_off(deadline);
  }
  // The scheduler's: whatever the time slice was, there is none any more.
  void revoke(Instant deadline) {
    allow(0);
    const MutexHolder holder(*lock_);
    take_off(deadline);
  }
  // It runs when it wants from now on.
  void end(Instant deadline) {
    allow(0);
    const MutexHolder holder(*lock_);
    if (!on_card_) static_cast<void>(process_.restore(deadline));
    on_card_ = true;
  }

 private:
  struct Work {
    explicit Work(std::atomic<bool>& flag) : at_work(flag) { at_work.store(true); }
    ~Work() { at_work.store(false); }
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;
    std::atomic<bool>& at_work;
  };

  // An eviction that the card does not answer counts nevertheless.
  void take_off(Instant deadline) {
    if (!on_card_) return;
    const auto gone = process_.evict(deadline);
    on_card_ = !gone && gone.error().code == ErrorCode::kBusy;
  }

  ProcessContext& process_;
  std::unique_ptr<platform::Mutex> lock_;
  std::atomic<std::uint64_t> allowed_{0};
  std::atomic<bool> at_work_{false};
  bool on_card_ = true;
};

}  // namespace npu::driver
