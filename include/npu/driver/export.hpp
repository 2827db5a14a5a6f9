// SPDX-License-Identifier: Apache-2.0
// libnpudrv exports only symbols marked NPU_API.
#pragma once

#if defined(__GNUC__)
#define NPU_API __attribute__((visibility("default")))
#else
#define NPU_API
#endif
