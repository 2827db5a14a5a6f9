// SPDX-License-Identifier: Apache-2.0
// What is kept once for a thread of the operating system, and belongs to the process of the
// simulation that runs on it: the exceptions that it handles or that unwind its stack, and the
// program whose code it executes.
#pragma once

#include <cxxabi.h>

#include "model/core/program_debugger.hpp"

namespace npu::model {

namespace detail {
inline ProgramRun* running_program = nullptr;  // null: the model's own code
}  // namespace detail

// Calls `wait`, which lets other processes run, and finds the caller's own again.
template <class Wait>
void wait_apart(Wait&& wait) {
  // Of libstdc++; the names are those of the C++ ABI (Itanium, 2.2.2).
  struct Exceptions {
    void* caught;
    unsigned uncaught;
  };
  auto* const present = reinterpret_cast<Exceptions*>(__cxxabiv1::__cxa_get_globals());
  const Exceptions exceptions = *present;
  ProgramRun* const program = detail::running_program;
  if (program != nullptr && detail::program_debugger != nullptr) {
    detail::program_debugger->leaves(*program);
  }
  *present = {};
  detail::running_program = nullptr;
  wait();
  *present = exceptions;
  detail::running_program = program;
}

}  // namespace npu::model
