// SPDX-License-Identifier: Apache-2.0
// A tensor in the memory of the host: elements row by row, in the host's byte order.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "workloads/network/element_type.hpp"

namespace npu::network {

using Sides = std::vector<std::uint64_t>;

// 1 of no sides.
inline std::uint64_t elements_of(const Sides& sides) {
  std::uint64_t count = 1;
  for (const auto side : sides) count *= side;
  return count;
}
std::string text_of(const Sides& sides);  // "2x3x4"; "scalar"

struct Tensor {
  ElementType type = ElementType::kFloat;
  Sides sides;
  std::vector<std::byte> bytes;      // of all types but strings
  std::vector<std::string> strings;  // of these

  std::uint64_t elements() const { return elements_of(sides); }

  // T has the size of an element.
  template <class T>
  std::vector<T> values() const {
    std::vector<T> all(bytes.size() / sizeof(T));
    std::memcpy(all.data(), bytes.data(), all.size() * sizeof(T));
    return all;
  }
  template <class T>
  static Tensor of(ElementType type, Sides sides, const std::vector<T>& values) {
    Tensor made{type, std::move(sides), {}, {}};
    made.bytes.resize(values.size() * sizeof(T));
    std::memcpy(made.bytes.data(), values.data(), made.bytes.size());
    return made;
  }
};

// Of int32 or int64, as shapes and axes are. Empty: the type is another.
std::vector<std::int64_t> integers_of(const Tensor& tensor);

}  // namespace npu::network
