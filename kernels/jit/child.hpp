// SPDX-License-Identifier: Apache-2.0
// A program run as a child process: no shell, a process group of its own, a time-out.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "npu/base/result.hpp"
#include "npu/jit/kernel_cache.hpp"

namespace npu::jit {

// How often whoever waits asks whether it is interrupted.
inline constexpr std::chrono::milliseconds kBetweenQuestions{50};

struct Command {
  std::vector<std::string> arguments;    // the first is the program: a path or a name in PATH
  std::vector<std::string> environment;  // NAME=VALUE, all of it
  std::chrono::milliseconds time_out{};
  Interrupted interrupted{};  // may be empty
};

struct ChildResult {
  bool timed_out = false;    // it and all of its group were killed
  bool interrupted = false;  // the same
  int signal = 0;            // it was ended by
  int exit_code = 0;         // if signal is 0
  std::string output;        // the beginning of stdout and stderr together, 64 KiB at most
};

// Waits for the child; what is left of its group is killed then. stdin is empty.
// kNotFound, kPermissionDenied, kIo: there is no such program, or no process could be made.
Result<ChildResult> run_child(const Command& command);

}  // namespace npu::jit
