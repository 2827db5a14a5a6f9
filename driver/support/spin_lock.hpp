// SPDX-License-Identifier: Apache-2.0
// A lock for critical sections of a few stores. A platform Mutex would put the loser to sleep, at
// many times the cost of the section. Spinning goes through Clock::relax, so that it costs CPU
// time and lets other tasks run.
#pragma once

#include <atomic>

#include "npu/platform/time.hpp"

namespace npu::driver {

class SpinLock {
 public:
  // False if the lock was not free until `deadline`.
  bool try_lock_until(platform::Clock& clock, Instant deadline) {
    while (held_.exchange(true, std::memory_order_acquire)) {
      if (clock.now() >= deadline) return false;
      clock.relax({}, deadline);
    }
    return true;
  }
  // For sections that always end soon: the holder waits for nobody else who may need the lock.
  void lock(platform::Clock& clock) { try_lock_until(clock, Instant::never()); }
  void unlock() { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};

// Holds a lock that the caller has taken.
class SpinLockHolder {
 public:
  explicit SpinLockHolder(SpinLock& lock) : lock_(lock) {}
  ~SpinLockHolder() { lock_.unlock(); }
  SpinLockHolder(const SpinLockHolder&) = delete;
  SpinLockHolder& operator=(const SpinLockHolder&) = delete;

 private:
  SpinLock& lock_;
};

// Holds a platform mutex.
class MutexHolder {
 public:
  explicit MutexHolder(platform::Mutex& mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexHolder() { mutex_.unlock(); }
  MutexHolder(const MutexHolder&) = delete;
  MutexHolder& operator=(const MutexHolder&) = delete;

 private:
  platform::Mutex& mutex_;
};

// The same, if it can be had in time.
class TimedMutexHolder {
 public:
  TimedMutexHolder(platform::Mutex& mutex, Instant deadline)
      : mutex_(mutex), held_(mutex.try_lock_until(deadline)) {}
  ~TimedMutexHolder() {
    if (held_) mutex_.unlock();
  }
  TimedMutexHolder(const TimedMutexHolder&) = delete;
  TimedMutexHolder& operator=(const TimedMutexHolder&) = delete;
  explicit operator bool() const { return held_; }

 private:
  platform::Mutex& mutex_;
  const bool held_;
};

}  // namespace npu::driver
