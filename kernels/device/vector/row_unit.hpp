// SPDX-License-Identifier: Apache-2.0
// Operations on rows of elements of 4 bytes in UB that are written down once: one vector function
// on cores that compute in registers, an instruction each on others. Functions begin() and end();
// what is made between them has a place in UB, which only instructions use unless it is kept.
#pragma once

#include "kernels/device/vector/function_builder.hpp"
#include "kernels/device/vector/row_tile.hpp"

namespace npu::kernels::vector {

using platform::Comparison;

class RowUnit {
 public:
  struct Value {
    std::uint32_t at = 0;  // a register's number, or an offset in UB
  };
  struct Step {
    VectorOp op = VectorOp::kCopy;
    DataType type = DataType::kFp32;
    float scalar = 0;
  };

  explicit RowUnit(AicorePort& port) : port_(port), registers_(port.has_vector_functions()) {}
  // Of instructions: a bit for each element of the largest tile. One comparison at a time has a
  // result.
  void mask_at(std::uint32_t mask) { mask_ = mask; }

  bool in_registers() const { return registers_; }

  void begin(const RowTile& tile) {
    tile_ = tile;
    function_ = {};
    next_ = 0;
  }
  void end() const {
    if (registers_) function_.issue(port_, tile_.rows, tile_.columns);
  }

  // Rows of the tile.
  Value own(std::uint32_t at) { return load(at, DataType::kFp32, FunctionRows::kOwn, pitch()); }
  // Others, converted. What needs no conversion and lies as the tile does stays where it is.
  Value cast(std::uint32_t at, DataType type, std::uint32_t from_pitch, DataType to_type,
             std::uint32_t place) {
    if (registers_) {
      const Value loaded = load(at, type, FunctionRows::kOwn, from_pitch);
      const auto to = static_cast<std::uint8_t>(next_);
      const Value made{function_.cast(to, to_type, reg(loaded), type)};
      if (made.at == next_) ++next_;
      return made;
    }
    if (type == to_type && from_pitch == pitch()) return {at};
    Vector v;
    v.op = type == to_type ? VectorOp::kCopy : VectorOp::kCast;
    v.type = type, v.to_type = to_type;
    v.to = place, v.a = at;
    v.rows = tile_.rows, v.count = tile_.columns;
    v.to_pitch = pitch(), v.a_pitch = from_pitch;
    port_.issue(v);
    return {place};
  }
  // One row for all: of instructions a row for each of the tile's.
  Value shared(std::uint32_t at) { return load(at, DataType::kFp32, FunctionRows::kShared, 0); }
  // The number of each row.
  Value number(std::uint32_t at, std::uint32_t place) {
    if (registers_) return load(at, DataType::kFp32, FunctionRows::kNumber, 0);
    Vector v = instruction({VectorOp::kBroadcast}, {}, place);
    v.b = at;
    port_.issue(v);
    return {place};
  }

  Value make(const Step& step, Value a, Value b, std::uint32_t place) {
    if (registers_) {
      FunctionStep made = step_of(step, a, b);
      made.to = static_cast<std::uint8_t>(next_++);
      function_.step(made);
      return {made.to};
    }
    Vector v = instruction(step, a, place);
    v.b = b.at, v.b_pitch = pitch();
    port_.issue(v);
    return {place};
  }
  Value make(const Step& step, Value a, std::uint32_t place) { return make(step, a, a, place); }

  // The mask that select() reads.
  void compare(Comparison comparison, const Step& step, Value a, Value b) {
    if (registers_) {
      FunctionStep made = step_of(step, a, b);
      made.comparison = comparison;
      return function_.step(made);
    }
    Vector v = instruction(step, a, mask_);
    v.comparison = comparison;
    v.to_pitch = 0;
    v.b = b.at, v.b_pitch = pitch();
    port_.issue(v);
  }

  // It is wanted in UB: `place` of the step that made it.
  void keep(Value value, std::uint32_t place) {
    if (registers_) {
      function_.store(reg(value), place, DataType::kFp32, FunctionRows::kOwn, pitch());
    }
  }
  // A number of each row.
  void reduce(VectorOp op, DataType type, Value a, std::uint32_t numbers) {
    if (registers_) {
      const Value made = make({op, type}, a, 0);
      return function_.store(reg(made), numbers, DataType::kFp32, FunctionRows::kNumber);
    }
    Vector v = instruction({op, type}, a, numbers);
    v.to_pitch = 0;
    port_.issue(v);
  }

 private:
  std::uint32_t pitch() const { return tile_.pitch * 4; }
  static std::uint8_t reg(Value value) { return static_cast<std::uint8_t>(value.at); }

  Value load(std::uint32_t at, DataType type, FunctionRows rows, std::uint32_t pitch) {
    if (!registers_) return {at};
    function_.load(static_cast<std::uint8_t>(next_), at, type, rows, pitch);
    return {next_++};
  }
  FunctionStep step_of(const Step& step, Value a, Value b) const {
    FunctionStep made;
    made.op = step.op;
    made.type = made.to_type = step.type;
    made.scalar = step.scalar;
    made.a = reg(a), made.b = reg(b);
    return made;
  }
  Vector instruction(const Step& step, Value a, std::uint32_t to) const {
    Vector v;
    v.op = step.op;
    v.type = v.to_type = step.type;
    v.scalar = step.scalar;
    v.to = to, v.a = a.at;
    v.rows = tile_.rows, v.count = tile_.columns;
    v.to_pitch = v.a_pitch = pitch();
    v.mask = mask_;
    return v;
  }

  AicorePort& port_;
  const bool registers_;
  std::uint32_t mask_ = 0;
  RowTile tile_;
  FunctionBuilder<24, 8, 6> function_;
  std::uint32_t next_ = 0;  // register
};

}  // namespace npu::kernels::vector
