// SPDX-License-Identifier: Apache-2.0
// The simulator for programs that are not linked to it: one C function of libnpusim, found at run
// time. A program that uses only libnpudrv then runs with or without a simulator installed.
//
//   void* library = dlopen("libnpusim.so.0", RTLD_NOW | RTLD_LOCAL);
//   auto run = reinterpret_cast<npu::sim::RunFunction>(dlsym(library, npu::sim::kRunFunctionName));
//   run("910b", nullptr, 0, program, &data, message, sizeof message);
#pragma once

#include <cstddef>

#include "npu/platform/platform.hpp"

namespace npu::sim {

// `user` is what npu_sim_run() was given.
using ProgramFunction = void (*)(platform::Platform& platform, void* user);

// Builds the machine that `config` and the `count` overrides ("key=value") describe, and runs
// `program` on it as the first host task; returns when it has returned. One call per process.
// 0: done; else 1 + the ErrorCode that Simulator::create() or run() gave, and the error's context
// in `message` (cut to `size` bytes with the final 0; may be null). Nothing is thrown.
using RunFunction = int (*)(const char* config, const char* const* overrides, std::size_t count,
                            ProgramFunction program, void* user, char* message, std::size_t size);

inline constexpr char kRunFunctionName[] = "npu_sim_run";

}  // namespace npu::sim
