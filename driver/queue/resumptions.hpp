// SPDX-License-Identifier: Apache-2.0
// How often queues of a process were resumed, for those who wait for that. Its mutex is not the
// process', which others may have for longer than a caller who waits has time.
#pragma once

#include <memory>

#include "driver/support/spin_lock.hpp"

namespace npu::driver {

class Resumptions {
 public:
  explicit Resumptions(platform::Tasks& tasks)
      : mutex_(tasks.make_mutex()), resumed_(tasks.make_condition()) {}

  std::uint64_t count() const {
    const MutexHolder holder(*mutex_);
    return count_;
  }
  void note() {
    const MutexHolder holder(*mutex_);
    ++count_;
    resumed_->notify_all();
  }
  // Until there was one beyond `seen`. False: not until `deadline`.
  bool wait_after(std::uint64_t seen, Instant deadline) {
    const MutexHolder holder(*mutex_);
    bool late = false;
    while (!late && count_ == seen) late = !resumed_->wait(*mutex_, deadline);
    return !late;
  }

 private:
  std::unique_ptr<platform::Mutex> mutex_;
  std::unique_ptr<platform::Condition> resumed_;
  std::uint64_t count_ = 0;
};

}  // namespace npu::driver
