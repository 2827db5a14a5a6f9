// SPDX-License-Identifier: Apache-2.0
// Code of an operator on the host runs in this process, and may be a user's own. If it follows a
// pointer to nothing, divides by zero or gives up, the process ends with one line on stderr that
// tells so, and exit code 1, as with kernels (model/core/program_guard.hpp).
#pragma once

namespace npu::operators {

class HostGuard {
 public:
  static constexpr int kExitCode = 1;

  // While it lives, code of the calling frame and of those that it calls is `what`'s: "the host's
  // function". The text outlives it. Other tasks may run meanwhile on stacks of their own.
  explicit HostGuard(const char* what);
  ~HostGuard();
  HostGuard(const HostGuard&) = delete;
  HostGuard& operator=(const HostGuard&) = delete;

 private:
  const char* what_;
  const void* frame_;
  HostGuard* before_;  // of the thread's list
  HostGuard* after_ = nullptr;

  friend struct HostCrash;
};

}  // namespace npu::operators
