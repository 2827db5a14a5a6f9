// SPDX-License-Identifier: Apache-2.0
// The simulator for programs that are not linked to it: one C function of libnpusim, to be looked
// up at run time. Such a program needs only libnpudrv and runs with or without an installed
// simulator.
//
//   void* library = dlopen("libnpusim.so.0", RTLD_NOW | RTLD_LOCAL);
//   auto run = reinterpret_cast<npu::sim::RunFunction>(dlsym(library, npu::sim::kRunFunctionName));
//   run("910b", nullptr, 0, program, &data, message, sizeof message);
#pragma once

#include <cstddef>

#include "npu/platform/platform.hpp"

namespace npu::sim {

// `user`: the argument of npu_sim_run().
using ProgramFunction = void (*)(platform::Platform& platform, void* user);

// Builds a machine from `config` and `count` overrides ("key=value"), runs `program` on it as the
// first host task, and returns after it. Only one call in a process. Returns 0 for success, else 1
// + the ErrorCode of Simulator::create() or run(), or of an exception (kIo). `message` gets the
// text of the error, cut to `size` bytes with the final 0; may be null.
using RunFunction = int (*)(const char* config, const char* const* overrides, std::size_t count,
                            ProgramFunction program, void* user, char* message, std::size_t size);

inline constexpr char kRunFunctionName[] = "npu_sim_run";

}  // namespace npu::sim
