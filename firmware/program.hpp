// SPDX-License-Identifier: Apache-2.0
// Makes a function the entry point of a program (platform/aicpu_port.hpp, aicore_port.hpp).
#pragma once

// Seen from outside even where the compiler takes the file for the whole program.
#ifdef __clang__
#define NPU_PROGRAM_ENTRY extern "C" __attribute__((visibility("default")))
#else
#define NPU_PROGRAM_ENTRY extern "C" __attribute__((visibility("default"), externally_visible))
#endif
