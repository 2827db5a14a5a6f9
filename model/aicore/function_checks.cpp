// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/function_checks.hpp"

#include <algorithm>

#include "model/aicore/vector_function.hpp"
#include "model/aicore/vector_operators.hpp"

namespace npu::model {

using abi::FaultCode;
using arithmetic::SecondOperand;
using platform::DataType;
using platform::FunctionRows;
using platform::FunctionStep;
using platform::FunctionTensor;
using platform::LocalBuffer;
using platform::Vector;
using platform::VectorOp;

namespace {

using Finding = InstructionFinding;
using Field = abi::FaultyField;

constexpr Finding bad_function(Field field) {
  return {FaultCode::kInstruction, field, 0, 0, 0, 0};
}

// A tensor is checked as the operand of a copy is.
Finding check_tensor(const BufferSizes& sizes, Field field, const FunctionTensor& tensor,
                     const platform::VectorFunction& function) {
  if (tensor.reg >= platform::kVectorRegisters) return bad_function(Field::kKind);
  if (tensor.rows > FunctionRows::kNumber) return bad_function(Field::kKind);
  Vector copy;
  copy.op = VectorOp::kCopy;
  copy.type = tensor.type;
  copy.to = copy.a = tensor.offset;
  copy.count = tensor.rows == FunctionRows::kNumber ? function.rows : function.count;
  if (tensor.rows == FunctionRows::kOwn) {
    copy.rows = function.rows;
    copy.to_pitch = copy.a_pitch = tensor.pitch;
  }
  Finding found = check(sizes, copy);
  if (found.wrong() && found.field != Field::kKind) found.field = field;
  return found;
}

// As an instruction in a buffer in which everything has room.
bool known(const FunctionStep& step) {
  constexpr Bytes kRoom = 1024;
  constexpr std::uint32_t kGap = 128;
  BufferSizes sizes{};
  sizes[static_cast<std::size_t>(LocalBuffer::kUb)] = kRoom;
  const bool extreme = step.op == VectorOp::kMax || step.op == VectorOp::kMin;
  Vector vector;
  vector.op = step.op;
  vector.type = step.type;
  // Registers of bf16 have their own maximum (950.md N7).
  if (extreme && step.type == DataType::kBf16) vector.type = DataType::kFp16;
  vector.to_type = step.to_type;
  vector.comparison = step.comparison;
  vector.a = kGap;
  vector.b = 2 * kGap;
  vector.mask = 3 * kGap;
  vector.count = 1;
  return !check(sizes, vector).wrong();
}

// Registers that something has been loaded or written to, a bit each.
struct Written {
  std::uint32_t registers = 0, masks = 0;

  bool has(unsigned reg) const { return (registers >> reg & 1) != 0; }
  bool has_mask(unsigned reg) const { return (masks >> reg & 1) != 0; }
};

Finding check_step(const FunctionStep& step, Written& written) {
  if (!known(step)) return bad_function(Field::kKind);
  const VectorOperator& op = operator_of(step.op);
  if (op.second == SecondOperand::kElement || op.result == VectorResult::kTransposed ||
      op.result == VectorResult::kMoved) {
    return bad_function(Field::kKind);
  }
  const unsigned results =
      op.result == VectorResult::kMask ? platform::kMaskRegisters : platform::kVectorRegisters;
  if (step.to >= results) return bad_function(Field::kTo);
  if (step.a >= platform::kVectorRegisters) return bad_function(Field::kFrom);
  if (step.b >= platform::kVectorRegisters) return bad_function(Field::kSecond);
  if (step.mask >= platform::kMaskRegisters) return bad_function(Field::kMask);
  const bool cast = op.result == VectorResult::kOtherType;
  if (cast && step.to == step.a) return bad_function(Field::kFrom);
  if (op.reads_a && !written.has(step.a)) return bad_function(Field::kFrom);
  if (op.second == SecondOperand::kRow && !written.has(step.b)) return bad_function(Field::kSecond);
  if (op.reads_mask && !written.has_mask(step.mask)) return bad_function(Field::kMask);
  (op.result == VectorResult::kMask ? written.masks : written.registers) |= 1U << step.to;
  return {};
}

bool has_numbers(const FunctionTensor* tensors, std::uint32_t count) {
  return std::any_of(tensors, tensors + count, [](const FunctionTensor& tensor) {
    return tensor.rows == FunctionRows::kNumber;
  });
}

// Whether a function by columns has something of a row's.
bool needs_rows(const platform::VectorFunction& function) {
  return has_numbers(function.loads, function.load_count) ||
         has_numbers(function.stores, function.store_count) ||
         std::any_of(function.steps, function.steps + function.step_count,
                     [](const FunctionStep& step) {
                       return operator_of(step.op).result == VectorResult::kElement;
                     });
}

// What is stored comes to nothing that is still to be read.
bool spares(const FunctionTensor& store, const FunctionTensor& load,
            const platform::VectorFunction& function) {
  const auto to = extent_of(store, function.count, function.rows);
  const auto from = extent_of(load, function.count, function.rows);
  if (!to.meets(from)) return true;
  if (function.by_columns) {
    return store.rows == load.rows && to.offset == from.offset && to.row == from.row &&
           to.pitch == from.pitch;
  }
  if (store.rows != FunctionRows::kOwn || load.rows != FunctionRows::kOwn) return false;
  return to.offset <= from.offset && to.row <= from.row &&
         (function.rows == 1 || to.pitch <= from.pitch);
}

}  // namespace

InstructionFinding check(const BufferSizes& sizes, const platform::VectorFunction& function,
                         bool functions) {
  if (!functions) return bad_function(Field::kKind);
  if (function.count == 0) return bad_function(Field::kColumns);
  if (function.rows == 0) return bad_function(Field::kRows);
  const std::uint64_t tensors = std::uint64_t{function.load_count} + function.store_count;
  if (tensors > platform::kMostFunctionTensors || function.store_count == 0 ||
      function.step_count > platform::kMostFunctionSteps) {
    return bad_function(Field::kKind);
  }
  Written written;
  for (std::uint32_t i = 0; i < function.load_count; ++i) {
    const auto found = check_tensor(sizes, Field::kFrom, function.loads[i], function);
    if (found.wrong()) return found;
    written.registers |= 1U << function.loads[i].reg;
  }
  for (std::uint32_t i = 0; i < function.step_count; ++i) {
    const auto found = check_step(function.steps[i], written);
    if (found.wrong()) return found;
  }
  for (std::uint32_t i = 0; i < function.store_count; ++i) {
    const FunctionTensor& store = function.stores[i];
    if (store.rows == FunctionRows::kShared && !function.by_columns) {
      return bad_function(Field::kTo);
    }
    const auto found = check_tensor(sizes, Field::kTo, store, function);
    if (found.wrong()) return found;
    if (!written.has(store.reg)) return bad_function(Field::kTo);
    for (std::uint32_t load = 0; load < function.load_count; ++load) {
      if (!spares(store, function.loads[load], function)) return bad_function(Field::kTo);
    }
  }
  if (function.by_columns && needs_rows(function)) return bad_function(Field::kKind);
  return {};
}

}  // namespace npu::model
