// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/arithmetic/vector_bits.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "model/aicore/arithmetic/convert.hpp"

namespace npu::model::arithmetic {

using platform::Comparison;
using platform::DataType;
using platform::Vector;
using platform::VectorOp;

namespace {

constexpr std::uint32_t kPart = 1024;  // elements handled at a time; whole bytes of a mask

template <class T>
T loaded(const unsigned char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
bool holds(Comparison comparison, T a, T b) {
  switch (comparison) {
    case Comparison::kLess:
      return a < b;
    case Comparison::kLessEqual:
      return a <= b;
    case Comparison::kGreater:
      return a > b;
    case Comparison::kGreaterEqual:
      return a >= b;
    case Comparison::kEqual:
      return a <= b && a >= b;
    case Comparison::kNotEqual:
      return !(a <= b && a >= b);
  }
  return false;
}

void read(DataType type, const unsigned char* from, float* to, std::uint32_t count) {
  to_float(type, from, to, count);
}
void read(DataType, const unsigned char* from, std::int32_t* to, std::uint32_t count) {
  std::memcpy(to, from, count * sizeof *to);
}

template <class T>
void compare(const Vector& vector, unsigned char* mask, const unsigned char* a,
             const unsigned char* b) {
  const Bytes element = bytes_of(vector.type);
  std::array<T, kPart> left{}, right{};
  if (vector.op == VectorOp::kCompares) {
    std::array<unsigned char, 8> scalar{};
    scalar_element(vector, scalar.data());
    T value{};
    read(vector.type, scalar.data(), &value, 1);
    right.fill(value);
  }
  for (std::uint32_t first = 0; first < vector.count; first += kPart) {
    const std::uint32_t count = std::min(kPart, vector.count - first);
    read(vector.type, a + first * element, left.data(), count);
    if (vector.op == VectorOp::kCompare) {
      read(vector.type, b + first * element, right.data(), count);
    }
    std::memset(mask + first / 8, 0, (count + 7) / 8);
    for (std::uint32_t i = 0; i < count; ++i) {
      const bool one = holds(vector.comparison, left[i], right[i]);
      unsigned char& byte = mask[(first + i) / 8];
      byte = static_cast<unsigned char>(byte | (one ? 1U : 0U) << i % 8);
    }
  }
}

}  // namespace

void scalar_element(const Vector& vector, unsigned char* element) {
  from_float(&vector.scalar, vector.type, element, 1);
}

void compare_row(const Vector& vector, unsigned char* mask, const unsigned char* a,
                 const unsigned char* b) {
  if (vector.type == DataType::kInt32) return compare<std::int32_t>(vector, mask, a, b);
  compare<float>(vector, mask, a, b);
}

// Bits as they are: a NaN stays the same one.
void select_row(const Vector& vector, unsigned char* to, const unsigned char* a,
                const unsigned char* b, const unsigned char* mask) {
  const Bytes element = bytes_of(vector.type);
  std::array<unsigned char, 8> scalar{};
  const bool other_is_scalar = vector.op == VectorOp::kSelects;
  if (other_is_scalar) scalar_element(vector, scalar.data());
  for (std::uint32_t i = 0; i < vector.count; ++i) {
    const bool one = (mask[i / 8] >> i % 8 & 1) != 0;
    const unsigned char* const other = other_is_scalar ? scalar.data() : b + i * element;
    std::memmove(to + i * element, one ? a + i * element : other, element);
  }
}

void combine_row(const Vector& vector, unsigned char* to, const unsigned char* a,
                 const unsigned char* b) {
  const Bytes bytes = vector.count * bytes_of(vector.type);
  const bool both = vector.op == VectorOp::kAnd;
  for (Bytes i = 0; i < bytes; ++i) {
    to[i] = static_cast<unsigned char>(both ? a[i] & b[i] : a[i] | b[i]);
  }
}

void extreme_row(const Vector& vector, unsigned char* to, const unsigned char* a,
                 const unsigned char* b) {
  const bool maximum = vector.op == VectorOp::kMax;
  for (std::uint32_t i = 0; i < vector.count; ++i) {
    const auto left = loaded<std::int64_t>(a + i * sizeof(std::int64_t));
    const auto right = loaded<std::int64_t>(b + i * sizeof(std::int64_t));
    const std::int64_t result = maximum ? std::max(left, right) : std::min(left, right);
    std::memcpy(to + i * sizeof result, &result, sizeof result);
  }
}

void transpose(const Vector& vector, unsigned char* to, Bytes to_pitch, const unsigned char* a,
               Bytes a_pitch) {
  const Bytes element = bytes_of(vector.type);
  for (std::uint32_t row = 0; row < vector.rows; ++row) {
    const unsigned char* const from = a + row * a_pitch;
    unsigned char* const out = to + row * element;
    for (std::uint32_t column = 0; column < vector.count; ++column) {
      std::memcpy(out + column * to_pitch, from + column * element, element);
    }
  }
}

}  // namespace npu::model::arithmetic
