// SPDX-License-Identifier: Apache-2.0
// Who hears of every access that host tasks make through an ObservedPlatform.
#pragma once

#include "npu/testing/access.hpp"

namespace npu::testkit {

class AccessObserver {
 public:
  virtual ~AccessObserver() = default;
  // Whether anybody is interested; if not, nothing is said.
  virtual bool is_listening() const = 0;
  // The current task is about to make it: name, place, begin and, of a write, value are set.
  virtual void before(Access& access) = 0;
  // It is made: end, value and times are set.
  virtual void after(const Access& access) = 0;
};

}  // namespace npu::testkit
