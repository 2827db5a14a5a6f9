// SPDX-License-Identifier: Apache-2.0
// The order in which the kernel has given numbers to processes and threads: upwards, and from the
// lowest one again after the highest.
#pragma once

#include <sys/types.h>

namespace npu::exec {

// As long as fewer numbers than there are have been given since `first` was.
class IdOrder {
 public:
  // `count`: of numbers; by default the kernel's.
  explicit IdOrder(pid_t first, pid_t count = kernel_count()) : first_(first), count_(count) {}

  bool operator()(pid_t a, pid_t b) const { return since_first(a) < since_first(b); }

 private:
  static pid_t kernel_count();
  pid_t since_first(pid_t id) const { return id >= first_ ? id - first_ : id - first_ + count_; }

  pid_t first_, count_;
};

}  // namespace npu::exec
