// SPDX-License-Identifier: Apache-2.0
// What the machine does: one thread at a time. ThreadSanitizer takes no notice of it, because a
// machine puts no accesses of the driver's threads in order: neither the section's lock nor what
// happens inside says to it that one thread was there before another.
#pragma once

#include <mutex>

#include "tests/support/fake/fake_scheduler.hpp"

#ifdef __SANITIZE_THREAD__
extern "C" {
void AnnotateIgnoreSyncBegin(const char* file, int line);
void AnnotateIgnoreSyncEnd(const char* file, int line);
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}
#endif

namespace npu::test {

class Unseen {
 public:
#ifdef __SANITIZE_THREAD__
  Unseen() {
    AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  }
  ~Unseen() {
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
  }
#else
  Unseen() = default;
  ~Unseen() = default;
#endif
  Unseen(const Unseen&) = delete;
  Unseen& operator=(const Unseen&) = delete;
};

// May be nested, but for a wait.
class HardwareSection {
 public:
  explicit HardwareSection(const FakeScheduler& scheduler) : lock_(scheduler.machine_) {}
  std::unique_lock<std::recursive_mutex>& lock() { return lock_; }

 private:
  Unseen unseen_;  // before the lock is taken and until it is free
  std::unique_lock<std::recursive_mutex> lock_;
};

}  // namespace npu::test
