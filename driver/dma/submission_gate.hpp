// SPDX-License-Identifier: Apache-2.0
// Holds submissions up, while memory is compacted or the queue is reset.
#pragma once

#include <atomic>
#include <memory>

#include "driver/support/spin_lock.hpp"

namespace npu::driver {

class SubmissionGate {
 public:
  explicit SubmissionGate(platform::Tasks& tasks)
      : mutex_(tasks.make_mutex()), opened_(tasks.make_condition()) {}

  bool is_closed() const { return closed_.load(std::memory_order_relaxed); }
  // For those who look from now on.
  void close() { closed_.store(true, std::memory_order_relaxed); }
  void open() {
    const MutexHolder holder(*mutex_);
    closed_.store(false, std::memory_order_relaxed);
    opened_->notify_all();
  }
  // False: it is closed until `deadline`.
  bool wait_open(Instant deadline) {
    const MutexHolder holder(*mutex_);
    while (is_closed()) {
      if (!opened_->wait(*mutex_, deadline)) return !is_closed();
    }
    return true;
  }

 private:
  std::atomic<bool> closed_{false};
  std::unique_ptr<platform::Mutex> mutex_;
  std::unique_ptr<platform::Condition> opened_;
};

}  // namespace npu::driver
