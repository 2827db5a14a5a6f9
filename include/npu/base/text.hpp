// SPDX-License-Identifier: Apache-2.0
// Text: how it begins, ends and looks, and the number that it is.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace npu {

inline bool starts_with(std::string_view text, std::string_view beginning) {
  return text.substr(0, beginning.size()) == beginning;
}

inline bool ends_with(std::string_view text, std::string_view ending) {
  return text.size() >= ending.size() && text.substr(text.size() - ending.size()) == ending;
}

// Whether `text` is like `pattern`, in which `*` stands for any text. Takes at most the product of
// their lengths, however many stars there are.
inline bool matches(std::string_view pattern, std::string_view text) {
  // Where the last `*` was, and where the text goes on behind what it stands for.
  std::size_t p = 0, t = 0, star = std::string_view::npos, behind = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      behind = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++behind;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

// Letters, digits and underscores, of ASCII; no digit in front.
inline bool is_identifier(std::string_view text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!letter && !(c >= '0' && c <= '9') && c != '_') return false;
  }
  return true;
}

// The integer that all of `text` is, in digits of `base`; nullopt: it is none, or T has not its
// value. No sign but a minus of a signed T, and no space.
template <class T>
std::optional<T> read_number(std::string_view text, int base = 10) {
  T number{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, base);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

}  // namespace npu
