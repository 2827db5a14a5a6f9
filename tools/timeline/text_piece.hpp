// SPDX-License-Identifier: Apache-2.0
// A short text that is written very often: copied in whole, which takes the machine less than to
// copy as many bytes as it has.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace npu::timeline {

class TextPiece {
 public:
  static constexpr std::size_t kMost = 64;

  TextPiece() = default;
  // What is longer than kMost is cut: callers know what they put together.
  explicit TextPiece(std::string_view text)
      : size_(static_cast<std::uint8_t>(std::min(text.size(), kMost))) {
    std::copy_n(text.begin(), size_, text_.begin());
  }

  const char* data() const { return text_.data(); }  // of kMost bytes
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  std::array<char, kMost> text_{};
  std::uint8_t size_ = 0;
};

}  // namespace npu::timeline
