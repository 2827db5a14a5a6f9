// SPDX-License-Identifier: Apache-2.0
// libnpujit hides every symbol that is not marked NPU_JIT_API.
#pragma once

#if defined(__GNUC__)
#define NPU_JIT_API __attribute__((visibility("default")))
#else
#define NPU_JIT_API
#endif
