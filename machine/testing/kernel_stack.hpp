// SPDX-License-Identifier: Apache-2.0
// Lets the caller of the simulation become one of its host tasks, on the stack it has anyway: the
// SystemC kernel gets a stack of its own, and the coroutine that is to be the caller's task hands
// over to him. So an ordinary function - a test, with its fixture - is a host task from one line
// to another.
#pragma once

#include <ucontext.h>

#include <functional>

namespace npu::testkit {

class KernelStack {
 public:
  KernelStack() = default;
  ~KernelStack();
  KernelStack(const KernelStack&) = delete;
  KernelStack& operator=(const KernelStack&) = delete;

  // Calls `kernel` on the new stack. Returns when that has called hand_over() from a coroutine of
  // its own (true; the caller goes on as that coroutine), or has returned (false).
  bool start(std::function<void()> kernel);
  // Returns when the caller of start() has called finish().
  void hand_over();
  // The coroutine goes on behind hand_over(); returns when `kernel` has returned.
  void finish();

 private:
  static void entry();

  std::function<void()> kernel_;
  void* memory_ = nullptr;
  ucontext_t caller_{}, kernel_context_{}, coroutine_{};
  bool handed_over_ = false;
};

}  // namespace npu::testkit
