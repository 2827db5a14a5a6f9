// SPDX-License-Identifier: Apache-2.0
// Makes a function the entry point of a program (platform/aicpu_port.hpp, aicore_port.hpp).
#pragma once

#define NPU_PROGRAM_ENTRY extern "C" __attribute__((visibility("default")))
