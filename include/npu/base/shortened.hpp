// SPDX-License-Identifier: Apache-2.0
// Text from outside, shortened for error lines.
#pragma once

#include <string>
#include <string_view>

namespace npu {

inline constexpr std::size_t kShownPath = 255;  // for file names, which should not be cut

// `text` without control characters. If it is longer than `longest` bytes: its beginning and its
// length, "aaaa... (21504 bytes)". Does not cut UTF-8 characters.
inline std::string shortened(std::string_view text, std::size_t longest = 80) {
  std::size_t length = text.size() <= longest ? text.size() : longest;
  const auto continues = [&](std::size_t at) {
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
  };
  for (unsigned i = 0; i < 3 && length > 0 && continues(length); ++i) --length;
  std::string shown;
  for (const char c : text.substr(0, length)) {
    const auto byte = static_cast<unsigned char>(c);
    shown += byte < 0x20 || byte == 0x7F ? ' ' : c;
  }
  if (length == text.size()) return shown;
  return shown + "... (" + std::to_string(text.size()) + " bytes)";
}

}  // namespace npu
