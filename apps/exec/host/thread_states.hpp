// SPDX-License-Identifier: Apache-2.0
// What the kernel says of a process' threads: which of them go on by themselves.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "npu/base/file_descriptor.hpp"

namespace npu::exec {

struct ThreadState {
  pid_t thread = 0;
  char state = 0;            // as /proc has it: R, S, D, T, ...; S: it has left its core
  std::uint64_t slices = 0;  // times that it was given a core

  friend bool operator==(const ThreadState& a, const ThreadState& b) {
    return a.thread == b.thread && a.state == b.state && a.slices == b.slices;
  }
};

// The first thread of a process. When a signal ends the process, however many threads it has, this
// one is told before kill() returns, unless it has another signal to take first.
class FirstThread {
 public:
  // Its process ends, or will, whatever it does.
  bool is_ending(pid_t process);

 private:
  FileDescriptor state_;
  bool runs_ = false;  // it did, however often it was looked at
};

// Lowest number first; empty: there is no such process. What a thread does that `is_known` is not
// asked of the kernel: its state is 0.
std::vector<ThreadState> thread_states(pid_t process,
                                       const std::function<bool(pid_t)>& is_known = {});
// As /proc has it; X: there is no such thread.
char state_of_thread(pid_t process, pid_t thread);
// How many; 0: there is no such process.
unsigned count_threads(pid_t process);
// Also if its parent has not waited for it, but has been woken if it waits.
bool has_ended(pid_t process);
// That its threads have started and that have not been waited for, lowest number first.
std::vector<pid_t> children_of(pid_t process);

}  // namespace npu::exec
