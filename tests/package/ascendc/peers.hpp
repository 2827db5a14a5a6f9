// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

inline constexpr std::uint32_t kCopied = 256;  // elements

// They launch a kernel on the stream; 0: it has been launched.
int put_value(void* stream, std::int32_t* to, std::int32_t value);
int copy_values(void* stream, std::int32_t* to, std::int32_t* from);
