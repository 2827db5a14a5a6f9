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

namespace {

constexpr std::uint32_t kPart = 1024;  // elements handled at a time; whole bytes of a mask

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
void compare(const Vector& vector, SecondOperand second, const Row& row) {
  const Bytes element = bytes_of(vector.type);
  std::array<T, kPart> left{}, right{};
  if (second == SecondOperand::kScalar) {
    std::array<unsigned char, 8> scalar{};
    scalar_element(vector, scalar.data());
    T value{};
    read(vector.type, scalar.data(), &value, 1);
    right.fill(value);
  }
  for (std::uint32_t first = 0; first < vector.count; first += kPart) {
    const std::uint32_t count = std::min(kPart, vector.count - first);
    read(vector.type, row.a + first * element, left.data(), count);
    if (second == SecondOperand::kRow) {
      read(vector.type, row.b + first * element, right.data(), count);
    }
    std::memset(row.to + first / 8, 0, (count + 7) / 8);
    for (std::uint32_t i = 0; i < count; ++i) {
      const bool one = holds(vector.comparison, left[i], right[i]);
      unsigned char& byte = row.to[(first + i) / 8];
      byte = static_cast<unsigned char>(byte | (one ? 1U : 0U) << i % 8);
    }
  }
}

}  // namespace

void scalar_element(const Vector& vector, unsigned char* element) {
  from_float(&vector.scalar, vector.type, element, 1);
}

void compare_row(const Vector& vector, SecondOperand second, const Row& row) {
  if (vector.type == DataType::kInt32) return compare<std::int32_t>(vector, second, row);
  compare<float>(vector, second, row);
}

// Bits as they are: a NaN stays the same one.
void select_row(const Vector& vector, SecondOperand second, const Row& row) {
  const Bytes element = bytes_of(vector.type);
  std::array<unsigned char, 8> scalar{};
  const bool other_is_scalar = second == SecondOperand::kScalar;
  if (other_is_scalar) scalar_element(vector, scalar.data());
  for (std::uint32_t i = 0; i < vector.count; ++i) {
    const bool one = (row.mask[i / 8] >> i % 8 & 1) != 0;
    const unsigned char* const other = other_is_scalar ? scalar.data() : row.b + i * element;
    std::memmove(row.to + i * element, one ? row.a + i * element : other, element);
  }
}

void and_row(const Vector& vector, SecondOperand, const Row& row) {
  const Bytes bytes = vector.count * bytes_of(vector.type);
  for (Bytes i = 0; i < bytes; ++i) row.to[i] = static_cast<unsigned char>(row.a[i] & row.b[i]);
}

void or_row(const Vector& vector, SecondOperand, const Row& row) {
  const Bytes bytes = vector.count * bytes_of(vector.type);
  for (Bytes i = 0; i < bytes; ++i) row.to[i] = static_cast<unsigned char>(row.a[i] | row.b[i]);
}

void duplicate_row(const Vector& vector, SecondOperand, const Row& row) {
  std::array<unsigned char, 8> pattern{};
  scalar_element(vector, pattern.data());
  const Bytes element = bytes_of(vector.type);
  for (std::uint32_t i = 0; i < vector.count; ++i) {
    std::memcpy(row.to + i * element, pattern.data(), element);
  }
}

void broadcast_row(const Vector& vector, SecondOperand, const Row& row) {
  std::array<unsigned char, 8> pattern{};
  const Bytes element = bytes_of(vector.type);
  std::memcpy(pattern.data(), row.b, element);
  for (std::uint32_t i = 0; i < vector.count; ++i) {
    std::memcpy(row.to + i * element, pattern.data(), element);
  }
}

void deinterleave_row(const Vector& vector, SecondOperand /*second*/, const Row& row) {
  const Bytes element = bytes_of(vector.type);
  const std::uint32_t evens = (vector.count + 1) / 2;
  for (std::uint32_t i = 0; i < vector.count; ++i) {
    const std::uint32_t to = i / 2 + (i % 2 == 0 ? 0 : evens);
    std::memcpy(row.to + to * element, row.a + i * element, element);
  }
}

void copy_row(const Vector& vector, SecondOperand, const Row& row) {
  std::memmove(row.to, row.a, vector.count * bytes_of(vector.type));
}

void cast_row(const Vector& vector, SecondOperand, const Row& row) {
  convert(vector.type, row.a, vector.to_type, row.to, vector.count);
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
