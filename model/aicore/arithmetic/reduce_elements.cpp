// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/arithmetic/reduce_elements.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <systemc>
#include <type_traits>

#include "model/aicore/arithmetic/convert.hpp"

namespace npu::model {
namespace {

using abi::ReduceOperation;

// A NaN stays one.
float reduced(ReduceOperation operation, float a, float b) {
  if (operation == ReduceOperation::kSum) return a + b;
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? a : b;
  return operation == ReduceOperation::kMax ? std::max(a, b) : std::min(a, b);
}

template <class Integer>
Integer reduced(ReduceOperation operation, Integer a, Integer b) {
  using Unsigned = std::make_unsigned_t<Integer>;
  if (operation == ReduceOperation::kMax) return std::max(a, b);
  if (operation == ReduceOperation::kMin) return std::min(a, b);
  return static_cast<Integer>(
      static_cast<Unsigned>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b)));
}

template <class Element>
void reduce_all(ReduceOperation operation, unsigned char* to, const unsigned char* from,
                std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += sizeof(Element)) {
    Element a{}, b{};
    std::memcpy(&a, to + i, sizeof a);
    std::memcpy(&b, from + i, sizeof b);
    a = reduced(operation, a, b);
    std::memcpy(to + i, &a, sizeof a);
  }
}

void reduce_halves(platform::DataType type, ReduceOperation operation, unsigned char* to,
                   const unsigned char* from, std::size_t bytes) {
  constexpr std::size_t kPiece = 256;
  std::array<float, kPiece> a{}, b{};
  for (std::size_t i = 0; i < bytes; i += 2 * kPiece) {
    const std::size_t count = std::min(kPiece, (bytes - i) / 2);
    arithmetic::to_float(type, to + i, a.data(), count);
    arithmetic::to_float(type, from + i, b.data(), count);
    for (std::size_t k = 0; k < count; ++k) a[k] = reduced(operation, a[k], b[k]);
    arithmetic::from_float(a.data(), type, to + i, count);
  }
}

}  // namespace

void reduce_elements(abi::ElementType type, ReduceOperation operation, unsigned char* to,
                     const unsigned char* from, std::size_t bytes) {
  switch (type) {
    case abi::ElementType::kInt8:
      return reduce_all<std::int8_t>(operation, to, from, bytes);
    case abi::ElementType::kInt16:
      return reduce_all<std::int16_t>(operation, to, from, bytes);
    case abi::ElementType::kInt32:
      return reduce_all<std::int32_t>(operation, to, from, bytes);
    case abi::ElementType::kFp32:
      return reduce_all<float>(operation, to, from, bytes);
    case abi::ElementType::kFp16:
      return reduce_halves(platform::DataType::kFp16, operation, to, from, bytes);
    case abi::ElementType::kBf16:
      return reduce_halves(platform::DataType::kBf16, operation, to, from, bytes);
    default:
      sc_assert(false && "a type that no engine computes");
  }
}

}  // namespace npu::model
