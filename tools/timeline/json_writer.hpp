// SPDX-License-Identifier: Apache-2.0
// JSON piece by piece in memory that grows as is needed. Strings are escaped by nlohmann-json;
// numbers are integers, and times decimals with six places, so that a picosecond is a unit in the
// last place.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tools/timeline/put.hpp"

namespace npu::timeline {

class JsonWriter {
 public:
  void raw(std::string_view text) { to(put(room(text.size()), text)); }
  void number(std::uint64_t value) { to(put_number(room(kLongestNumber), value)); }
  void hex_digits(std::uint64_t value) { to(put_hex(room(kLongestNumber), value)); }
  void microseconds(Picoseconds time) { to(put_microseconds(room(kLongestTime), time)); }
  void string(std::string_view text);  // escaped, with its quotes

  // Room for so many bytes behind what is written, for put(); to() says up to where there is text.
  char* room(std::size_t bytes) {
    if (size_ + bytes > text_.size()) grow(bytes);
    return text_.data() + size_;
  }
  void to(const char* end) { size_ = static_cast<std::size_t>(end - text_.data()); }

  std::string_view text() const { return {text_.data(), size_}; }
  std::size_t size() const { return size_; }
  void drop_front(std::size_t bytes) {
    std::memmove(text_.data(), text_.data() + bytes, size_ - bytes);
    size_ -= bytes;
  }

 private:
  void grow(std::size_t bytes) { text_.resize(2 * (size_ + bytes)); }

  std::vector<char> text_ = std::vector<char>(std::size_t{1} << 17);
  std::size_t size_ = 0;
};

}  // namespace npu::timeline
