// SPDX-License-Identifier: Apache-2.0
// Who hears of every access that host tasks make through an ObservedPlatform.
#pragma once

#include "npu/platform/memory.hpp"
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
  // Memory that a function can access at a bus address; it is about to go.
  virtual void memory_made(platform::Bdf, ByteSpan, platform::BusAddress) {}
  virtual void memory_gone(ByteSpan) {}
  // The host is about to access the bytes.
  virtual void host_accesses(ConstByteSpan, bool /*write*/) {}
  // It has looked whether an interrupt has come.
  virtual void host_looks() {}
};

}  // namespace npu::testkit
