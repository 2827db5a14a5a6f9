// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/arithmetic/vector_unit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "model/aicore/arithmetic/convert.hpp"
#include "model/aicore/arithmetic/vector_bits.hpp"
#include "model/aicore/vector_shape.hpp"

namespace npu::model::arithmetic {

using platform::DataType;
using platform::Vector;
using platform::VectorOp;

namespace {

constexpr std::uint32_t kPart = 1024;  // elements handled at a time

// Operands and result of a part of a row; `b` is one element for all if it is broadcast.
template <class T>
struct Part {
  std::array<T, kPart> a, b;
  std::uint32_t count = 0;
};

template <class T, class F>
void each(Part<T>& part, F operation) {
  for (std::uint32_t i = 0; i < part.count; ++i) part.a[i] = operation(part.a[i], part.b[i]);
}

void compute_real(VectorOp op, Part<float>& part) {
  switch (op) {
    case VectorOp::kDiv:
    case VectorOp::kBroadcastDiv:
      return each(part, [](float a, float b) { return a / b; });
    case VectorOp::kExp:
    case VectorOp::kExpPrecise:
      return each(part, [](float a, float) { return std::exp(a); });
    case VectorOp::kLn:
      return each(part, [](float a, float) { return std::log(a); });
    case VectorOp::kSqrt:
      return each(part, [](float a, float) { return std::sqrt(a); });
    case VectorOp::kRsqrt:
      return each(part, [](float a, float) { return 1.0F / std::sqrt(a); });
    case VectorOp::kReciprocal:
      return each(part, [](float a, float) { return 1.0F / a; });
    default:
      return;
  }
}

float sum(float a, float b) {
  return a + b;
}
float difference(float a, float b) {
  return a - b;
}
float product(float a, float b) {
  return a * b;
}
// Modulo 2^32.
std::int32_t sum(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}
std::int32_t difference(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) - static_cast<std::uint32_t>(b));
}
std::int32_t product(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) * static_cast<std::uint32_t>(b));
}

template <class T>
void compute(VectorOp op, Part<T>& part) {
  switch (op) {
    case VectorOp::kAdd:
    case VectorOp::kAdds:
      return each(part, [](T a, T b) { return sum(a, b); });
    case VectorOp::kSub:
    case VectorOp::kBroadcastSub:
      return each(part, [](T a, T b) { return difference(a, b); });
    case VectorOp::kMul:
    case VectorOp::kMuls:
    case VectorOp::kBroadcastMul:
      return each(part, [](T a, T b) { return product(a, b); });
    case VectorOp::kMax:
    case VectorOp::kMaxs:
      return each(part, [](T a, T b) { return a < b ? b : a; });
    case VectorOp::kMin:
    case VectorOp::kMins:
      return each(part, [](T a, T b) { return b < a ? b : a; });
    case VectorOp::kAbs:
      return each(part, [](T a, T) { return a < T{0} ? difference(T{0}, a) : a; });
    case VectorOp::kRelu:
      return each(part, [](T a, T) { return a < T{0} ? T{0} : a; });
    default:
      if constexpr (std::is_same_v<T, float>) compute_real(op, part);
  }
}

void read(DataType type, const unsigned char* from, float* to, std::size_t count) {
  to_float(type, from, to, count);
}
void read(DataType, const unsigned char* from, std::int32_t* to, std::size_t count) {
  std::memcpy(to, from, count * sizeof *to);
}
void write(DataType type, const float* from, unsigned char* to, std::size_t count) {
  from_float(from, type, to, count);
}
void write(DataType, const std::int32_t* from, unsigned char* to, std::size_t count) {
  std::memcpy(to, from, count * sizeof *from);
}

enum class Operand { kNone, kRow, kElement, kScalar };

Operand second_operand(VectorOp op) {
  if (has_second_row(op)) return Operand::kRow;
  if (op <= VectorOp::kMins) return Operand::kScalar;
  return broadcasts(op) ? Operand::kElement : Operand::kNone;
}

template <class T>
T scalar_as(float value) {
  if constexpr (std::is_same_v<T, float>) {
    return value;
  } else {
    T integer = 0;
    from_float(&value, DataType::kInt32, &integer, 1);
    return integer;
  }
}

template <class T>
void execute_row(const Vector& vector, unsigned char* to, const unsigned char* a,
                 const unsigned char* b) {
  const Bytes element = bytes_of(vector.type);
  const Operand second = second_operand(vector.op);
  Part<T> part;
  part.b.fill(T{});
  if (second == Operand::kScalar) part.b.fill(scalar_as<T>(vector.scalar));
  if (second == Operand::kElement) {
    T value{};
    read(vector.type, b, &value, 1);
    part.b.fill(value);
  }
  for (std::uint32_t i = 0; i < vector.count; i += kPart) {
    part.count = std::min(kPart, vector.count - i);
    read(vector.type, a + i * element, part.a.data(), part.count);
    if (second == Operand::kRow) read(vector.type, b + i * element, part.b.data(), part.count);
    compute(vector.op, part);
    write(vector.type, part.a.data(), to + i * element, part.count);
  }
}

// In as many running results as a repeat has elements, which are then brought together by halves.
template <class T>
void reduce_row(const Vector& vector, unsigned char* to, const unsigned char* a) {
  constexpr std::uint32_t kLanes = 64;
  const Bytes element = bytes_of(vector.type);
  const auto combine = [op = vector.op](T x, T y) {
    if (op == VectorOp::kReduceMax) return x < y ? y : x;
    if (op == VectorOp::kReduceMin) return y < x ? y : x;
    return sum(x, y);
  };
  std::array<T, kLanes> lanes{};
  std::array<T, kLanes> next{};
  const std::uint32_t first = std::min(kLanes, vector.count);
  read(vector.type, a, lanes.data(), first);
  for (std::uint32_t i = kLanes; i < vector.count; i += kLanes) {
    const std::uint32_t count = std::min(kLanes, vector.count - i);
    read(vector.type, a + i * element, next.data(), count);
    for (std::uint32_t lane = 0; lane < count; ++lane)
      lanes[lane] = combine(lanes[lane], next[lane]);
  }
  for (std::uint32_t width = first; width > 1;) {
    const std::uint32_t half = (width + 1) / 2;
    for (std::uint32_t lane = half; lane < width; ++lane) {
      lanes[lane - half] = combine(lanes[lane - half], lanes[lane]);
    }
    width = half;
  }
  write(vector.type, lanes.data(), to, 1);
}

void duplicate_row(const Vector& vector, unsigned char* to) {
  std::array<unsigned char, 8> pattern{};
  scalar_element(vector, pattern.data());
  const Bytes element = bytes_of(vector.type);
  for (std::uint32_t i = 0; i < vector.count; ++i) {
    std::memcpy(to + i * element, pattern.data(), element);
  }
}

void execute_one(const Vector& vector, unsigned char* to, const unsigned char* a,
                 const unsigned char* b, const unsigned char* mask) {
  const bool integer = vector.type == DataType::kInt32;
  switch (vector.op) {
    case VectorOp::kDuplicate:
      return duplicate_row(vector, to);
    case VectorOp::kCopy:
      std::memmove(to, a, vector.count * bytes_of(vector.type));
      return;
    case VectorOp::kCast:
      return convert(vector.type, a, vector.to_type, to, vector.count);
    case VectorOp::kReduceSum:
    case VectorOp::kReduceMax:
    case VectorOp::kReduceMin:
      return integer ? reduce_row<std::int32_t>(vector, to, a) : reduce_row<float>(vector, to, a);
    case VectorOp::kCompare:
    case VectorOp::kCompares:
      return compare_row(vector, to, a, b);
    case VectorOp::kSelect:
    case VectorOp::kSelects:
      return select_row(vector, to, a, b, mask);
    case VectorOp::kAnd:
    case VectorOp::kOr:
      return combine_row(vector, to, a, b);
    default:
      if (vector.type == DataType::kInt64) return extreme_row(vector, to, a, b);
      return integer ? execute_row<std::int32_t>(vector, to, a, b)
                     : execute_row<float>(vector, to, a, b);
  }
}

}  // namespace

void execute(const Vector& vector, unsigned char* ub) {
  const VectorShape shape = shape_of(vector);
  const auto pitch = [](std::uint32_t given, Bytes dense) { return given != 0 ? given : dense; };
  const Bytes to_pitch = pitch(vector.to_pitch, shape.to_row);
  const Bytes a_pitch = pitch(vector.a_pitch, shape.a_row);
  const Bytes b_pitch = pitch(vector.b_pitch, shape.b_row);
  const Bytes mask_pitch = pitch(vector.mask_pitch, shape.mask_row);
  if (vector.op == VectorOp::kTranspose) {
    return transpose(vector, ub + vector.to, to_pitch, ub + vector.a, a_pitch);
  }
  for (std::uint32_t i = 0; i < vector.rows; ++i) {
    execute_one(vector, ub + vector.to + i * to_pitch, ub + vector.a + i * a_pitch,
                ub + vector.b + i * b_pitch, ub + vector.mask + i * mask_pitch);
  }
}

}  // namespace npu::model::arithmetic
