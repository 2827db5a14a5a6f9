// SPDX-License-Identifier: Apache-2.0
// A thread of the library's that serves what has begun until nothing is left. It is started when
// something begins, and starts again after it has ended.
#pragma once

#include <acl/acl_rt.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cstdint>
#include <mutex>
#include <thread>

namespace npu::compat {

class HelperThread {
 public:
  // `serve` returns when nothing is left, or nothing can be served any more.
  explicit HelperThread(void (*serve)()) : serve_(serve) {}

  // Something has begun, in the thread's context. A child of fork() has no thread of its parent's.
  aclError begun() {
    aclrtContext context = nullptr;
    const aclError status = aclrtGetCurrentContext(&context);
    if (status != ACL_SUCCESS) return status;
    const std::lock_guard<std::mutex> held(lock_);
    ++count_;
    if (running_ == ::getpid()) return ACL_SUCCESS;
    running_ = ::getpid();
    sigset_t all, before;
    ::sigfillset(&all);  // signals are the program's threads'
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread([this, context] { run(context); }).detach();
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return ACL_SUCCESS;
  }

 private:
  void run(aclrtContext context) {
    for (;;) {
      std::uint64_t seen = 0;
      {
        const std::lock_guard<std::mutex> held(lock_);
        seen = count_;
      }
      const bool can = aclrtSetCurrentContext(context) == ACL_SUCCESS;
      if (can) serve_();
      const std::lock_guard<std::mutex> held(lock_);
      if (can && seen != count_) continue;
      running_ = 0;
      return;
    }
  }

  void (*const serve_)();
  std::mutex lock_;
  std::uint64_t count_ = 0;
  pid_t running_ = 0;  // the process that has the thread
};

}  // namespace npu::compat
