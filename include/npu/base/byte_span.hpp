// SPDX-License-Identifier: Apache-2.0
// A view of bytes (std::span is C++20).
#pragma once

#include <cstddef>

namespace npu {

struct ByteSpan {
  std::byte* data = nullptr;
  std::size_t size = 0;

  // The caller guarantees offset + length <= size.
  constexpr ByteSpan subspan(std::size_t offset, std::size_t length) const {
    return {data + offset, length};
  }
};

struct ConstByteSpan {
  const std::byte* data = nullptr;
  std::size_t size = 0;

  constexpr ConstByteSpan() = default;
  constexpr ConstByteSpan(const std::byte* bytes, std::size_t length) : data(bytes), size(length) {}
  constexpr ConstByteSpan(ByteSpan bytes) : data(bytes.data), size(bytes.size) {}
};

}  // namespace npu
