// SPDX-License-Identifier: Apache-2.0
// Holds a mutex of the platform's: simulated time may pass where it is made.
#pragma once

#include "npu/platform/time.hpp"

namespace npu::exec::acl {

class Guard {
 public:
  explicit Guard(platform::Mutex& mutex) : mutex_(mutex) { mutex_.lock(); }
  ~Guard() { mutex_.unlock(); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  platform::Mutex& mutex_;
};

}  // namespace npu::exec::acl
