// SPDX-License-Identifier: Apache-2.0
// Text into arrays of fixed size, with a zero behind it and nothing beyond.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace npu::dsmi {

// `room` is at least 1.
inline void put_text(char* to, std::size_t room, std::string_view text) {
  const std::size_t length = std::min(room - 1, text.size());
  std::memcpy(to, text.data(), length);
  std::memset(to + length, 0, room - length);
}
template <class Char, std::size_t N>
void put_text(Char (&to)[N], std::string_view text) {
  static_assert(sizeof(Char) == 1);
  put_text(reinterpret_cast<char*>(to), N, text);
}

}  // namespace npu::dsmi
