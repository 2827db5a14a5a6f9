// SPDX-License-Identifier: Apache-2.0
// A thread of a program that sleeps: until its time has come, or its program has ended.
#pragma once

#include <memory>

#include "apps/exec/acl/guard.hpp"

namespace npu::exec::acl {

class Sleeper {
 public:
  explicit Sleeper(platform::Tasks& tasks)
      : lock_(tasks.make_mutex()), ended_(tasks.make_condition()) {}

  void sleep_until(Instant deadline) {
    const Guard held(*lock_);
    if (!over_) static_cast<void>(ended_->wait(*lock_, deadline));
  }
  // By another task: this sleep ends.
  void wake() {
    const Guard held(*lock_);
    ended_->notify_all();
  }
  // By another task: it sleeps no more.
  void end() {
    const Guard held(*lock_);
    over_ = true;
    ended_->notify_all();
  }

 private:
  const std::unique_ptr<platform::Mutex> lock_;
  const std::unique_ptr<platform::Condition> ended_;
  bool over_ = false;
};

}  // namespace npu::exec::acl
