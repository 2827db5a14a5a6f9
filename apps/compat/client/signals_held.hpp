// SPDX-License-Identifier: Apache-2.0
// No handler of the thread's runs but that of page faults: for what one that calls as well must not
// find half done, or wait for.
#pragma once

#include <pthread.h>

#include <csignal>
#include <mutex>

namespace npu::compat {

class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t all;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV);  // managed memory may be touched
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_;
};

// Has the lock, without handlers that would wait for it for ever.
class Locked {
 public:
  explicit Locked(std::mutex& lock) : held_(lock) {}

 private:
  SignalsHeld signals_;
  std::lock_guard<std::mutex> held_;
};

}  // namespace npu::compat
