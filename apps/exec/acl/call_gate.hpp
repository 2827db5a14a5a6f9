// SPDX-License-Identifier: Apache-2.0
// Calls of a program's threads that are in flight, so that what they use is not taken away under
// them: whoever gives a device back lets those of others end first, and new ones wait.
#pragma once

#include <memory>

#include "npu/platform/time.hpp"

namespace npu::exec::acl {

class CallGate {
 public:
  explicit CallGate(platform::Tasks& tasks)
      : lock_(tasks.make_mutex()), changed_(tasks.make_condition()) {}

  void enter() {
    wait_while([this] { return closed_; });
    ++inside_;
  }
  void leave() {
    --inside_;
    if (closed_) tell();
  }

  // Of a call: until it is over, the calls of others have ended and no others begin.
  class Alone {
   public:
    explicit Alone(CallGate& gate) : gate_(gate) { gate_.close(); }
    ~Alone() {
      gate_.closed_ = false;
      gate_.tell();
    }
    Alone(const Alone&) = delete;
    Alone& operator=(const Alone&) = delete;

   private:
    CallGate& gate_;
  };

 private:
  // Two at a time: the second one does not keep the first one from being alone.
  void close() {
    --inside_;
    if (closed_) tell();
    wait_while([this] { return closed_; });
    closed_ = true;
    wait_while([this] { return inside_ != 0; });
    ++inside_;
  }
  // Between a look and what follows from it no other task runs.
  template <class Busy>
  void wait_while(Busy busy) {
    while (busy()) {
      lock_->lock();
      if (busy()) static_cast<void>(changed_->wait(*lock_, Instant::never()));
      lock_->unlock();
    }
  }
  void tell() {
    lock_->lock();
    changed_->notify_all();
    lock_->unlock();
  }

  std::unique_ptr<platform::Mutex> lock_;
  std::unique_ptr<platform::Condition> changed_;
  unsigned inside_ = 0;
  bool closed_ = false;
};

}  // namespace npu::exec::acl
