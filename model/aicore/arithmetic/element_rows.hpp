// SPDX-License-Identifier: Apache-2.0
// Rows that are computed element by element. What is done with two of them is a type:
// `operation(a, b)` for float, for std::int32_t unless it is kReal, and for std::int64_t if it is
// kWide. Where there is no second operand, b is arbitrary.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "model/aicore/arithmetic/convert.hpp"
#include "model/aicore/arithmetic/vector_bits.hpp"
#include "model/aicore/arithmetic/vector_row.hpp"

namespace npu::model::arithmetic {

struct Operation {
  static constexpr bool kReal = false;
  static constexpr bool kWide = false;
};
struct RealOperation {
  static constexpr bool kReal = true;
  static constexpr bool kWide = false;
};

// Integers modulo 2^32.
struct Sum : Operation {
  float operator()(float a, float b) const { return a + b; }
  std::int32_t operator()(std::int32_t a, std::int32_t b) const {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
  }
};
struct Difference : Operation {
  float operator()(float a, float b) const { return a - b; }
  std::int32_t operator()(std::int32_t a, std::int32_t b) const {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) - static_cast<std::uint32_t>(b));
  }
};
struct Product : Operation {
  float operator()(float a, float b) const { return a * b; }
  std::int32_t operator()(std::int32_t a, std::int32_t b) const {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) * static_cast<std::uint32_t>(b));
  }
};
struct Larger {
  static constexpr bool kReal = false;
  static constexpr bool kWide = true;
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
struct Smaller {
  static constexpr bool kReal = false;
  static constexpr bool kWide = true;
  template <class T>
  T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};
struct Absolute : Operation {
  // Of a NaN the sign, too.
  float operator()(float a, float) const { return std::fabs(a); }
  std::int32_t operator()(std::int32_t a, std::int32_t) const {
    return a < 0 ? Difference{}(std::int32_t{0}, a) : a;
  }
};
struct Relu : Operation {
  template <class T>
  T operator()(T a, T) const {
    return a < T{0} ? T{0} : a;
  }
};
struct Quotient : RealOperation {
  float operator()(float a, float b) const { return a / b; }
};
struct Exponential : RealOperation {
  float operator()(float a, float) const { return std::exp(a); }
};
struct Logarithm : RealOperation {
  float operator()(float a, float) const { return std::log(a); }
};
struct Root : RealOperation {
  float operator()(float a, float) const { return std::sqrt(a); }
};
struct InverseRoot : RealOperation {
  float operator()(float a, float) const { return 1.0F / std::sqrt(a); }
};
struct Inverse : RealOperation {
  float operator()(float a, float) const { return 1.0F / a; }
};

namespace element_rows {

inline void read(platform::DataType type, const unsigned char* from, float* to, std::size_t count) {
  to_float(type, from, to, count);
}
template <class T>
void read(platform::DataType, const unsigned char* from, T* to, std::size_t count) {
  std::memcpy(to, from, count * sizeof *to);
}
inline void write(platform::DataType type, const float* from, unsigned char* to,
                  std::size_t count) {
  from_float(from, type, to, count);
}
template <class T>
void write(platform::DataType, const T* from, unsigned char* to, std::size_t count) {
  std::memcpy(to, from, count * sizeof *from);
}

template <class T>
T scalar_as(const platform::Vector& vector) {
  if constexpr (std::is_same_v<T, float>) {
    return vector.scalar;
  } else {
    T value{};
    scalar_element(vector, reinterpret_cast<unsigned char*>(&value));
    return value;
  }
}

template <class T, class Compute>
void elements(const platform::Vector& vector, SecondOperand second, const Row& row) {
  constexpr std::uint32_t kPart = 1024;  // elements handled at a time
  const Bytes element = bytes_of(vector.type);
  std::array<T, kPart> a;
  std::array<T, kPart> b;
  b.fill(T{});
  if (second == SecondOperand::kScalar) b.fill(scalar_as<T>(vector));
  if (second == SecondOperand::kElement) {
    T value{};
    read(vector.type, row.b, &value, 1);
    b.fill(value);
  }
  for (std::uint32_t first = 0; first < vector.count; first += kPart) {
    const std::uint32_t count = std::min(kPart, vector.count - first);
    read(vector.type, row.a + first * element, a.data(), count);
    if (second == SecondOperand::kRow) read(vector.type, row.b + first * element, b.data(), count);
    for (std::uint32_t i = 0; i < count; ++i) a[i] = Compute{}(a[i], b[i]);
    write(vector.type, a.data(), row.to + first * element, count);
  }
}

// In as many running results as a repeat has elements, which are then brought together by halves.
template <class T, class Combine>
void reduction(const platform::Vector& vector, const Row& row) {
  constexpr std::uint32_t kLanes = 64;
  const Bytes element = bytes_of(vector.type);
  std::array<T, kLanes> lanes{};
  std::array<T, kLanes> next{};
  const std::uint32_t first = std::min(kLanes, vector.count);
  read(vector.type, row.a, lanes.data(), first);
  for (std::uint32_t i = kLanes; i < vector.count; i += kLanes) {
    const std::uint32_t count = std::min(kLanes, vector.count - i);
    read(vector.type, row.a + i * element, next.data(), count);
    for (std::uint32_t lane = 0; lane < count; ++lane)
      lanes[lane] = Combine{}(lanes[lane], next[lane]);
  }
  for (std::uint32_t width = first; width > 1;) {
    const std::uint32_t half = (width + 1) / 2;
    for (std::uint32_t lane = half; lane < width; ++lane) {
      lanes[lane - half] = Combine{}(lanes[lane - half], lanes[lane]);
    }
    width = half;
  }
  write(vector.type, lanes.data(), row.to, 1);
}

}  // namespace element_rows

template <class Compute>
void element_row(const platform::Vector& vector, SecondOperand second, const Row& row) {
  if constexpr (Compute::kWide) {
    if (vector.type == platform::DataType::kInt64) {
      return element_rows::elements<std::int64_t, Compute>(vector, second, row);
    }
  }
  if constexpr (!Compute::kReal) {
    if (vector.type == platform::DataType::kInt32) {
      return element_rows::elements<std::int32_t, Compute>(vector, second, row);
    }
  }
  element_rows::elements<float, Compute>(vector, second, row);
}

// a * scalar + b, rounded twice.
inline void axpy_row(const platform::Vector& vector, SecondOperand, const Row& row) {
  constexpr std::uint32_t kPart = 1024;  // elements handled at a time
  const Bytes element = bytes_of(vector.type);
  std::array<float, kPart> a{};
  std::array<float, kPart> b{};
  for (std::uint32_t first = 0; first < vector.count; first += kPart) {
    const std::uint32_t count = std::min(kPart, vector.count - first);
    element_rows::read(vector.type, row.a + first * element, a.data(), count);
    element_rows::read(vector.type, row.b + first * element, b.data(), count);
    for (std::uint32_t i = 0; i < count; ++i) {
      const float product = a[i] * vector.scalar;
      a[i] = product + b[i];
    }
    element_rows::write(vector.type, a.data(), row.to + first * element, count);
  }
}

// One result per row.
template <class Combine>
void reduced_row(const platform::Vector& vector, SecondOperand, const Row& row) {
  if (vector.type == platform::DataType::kInt32) {
    return element_rows::reduction<std::int32_t, Combine>(vector, row);
  }
  element_rows::reduction<float, Combine>(vector, row);
}

}  // namespace npu::model::arithmetic
