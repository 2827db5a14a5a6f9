// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/arithmetic/function_unit.hpp"

#include <algorithm>
#include <cstring>

#include "model/aicore/arithmetic/element_rows.hpp"
#include "model/aicore/vector_operators.hpp"
#include "model/aicore/vector_shape.hpp"

namespace npu::model::arithmetic {

using platform::DataType;
using platform::FunctionRows;
using platform::FunctionStep;
using platform::FunctionTensor;
using platform::VectorOp;

namespace {

constexpr std::uint32_t kPart = 1024;  // elements handled at a time; whole bytes of a mask
constexpr Bytes kWidest = 8;           // bytes of an element

bool reduces(const FunctionBody& function) {
  return std::any_of(function.steps.begin(), function.steps.end(), [](const FunctionStep& step) {
    return operator_of(step.op).result == VectorResult::kElement;
  });
}

// Rows that follow one another, each looked at by itself, are one row.
bool one_row(const FunctionBody& function) {
  const auto dense = [&](const FunctionTensor& tensor) {
    const auto extent = extent_of(tensor, function.count, function.rows);
    return tensor.rows == FunctionRows::kOwn && extent.pitch == extent.row;
  };
  return !reduces(function) && std::all_of(function.loads.begin(), function.loads.end(), dense) &&
         std::all_of(function.stores.begin(), function.stores.end(), dense);
}

// Of two reals of which one is no number, that.
struct LargerOrNan : RealOperation {
  float operator()(float a, float b) const { return a < b || std::isnan(b) ? b : a; }
};
struct SmallerOrNan : RealOperation {
  float operator()(float a, float b) const { return b < a || std::isnan(b) ? b : a; }
};

// What registers do otherwise than instructions on UB; null: nothing.
RowFunction extreme_of(const FunctionStep& step) {
  if (step.type == DataType::kInt32 || step.type == DataType::kInt64) return nullptr;
  if (step.op == VectorOp::kMax) return element_row<LargerOrNan>;
  return step.op == VectorOp::kMin ? element_row<SmallerOrNan> : nullptr;
}

class Execution {
 public:
  Execution(const FunctionBody& function, unsigned char* ub)
      : function_(function), ub_(ub), one_row_(one_row(function)) {
    rows_ = one_row_ ? 1 : function.rows;
    count_ = one_row_ ? function.count * function.rows : function.count;
    // A reduction sees all of its row.
    part_ = reduces(function) ? count_ : std::min(count_, kPart);
    unsigned registers = 0;
    const auto use = [&](unsigned reg) { registers = std::max(registers, reg + 1); };
    for (const auto& load : function.loads) use(load.reg);
    for (const auto& store : function.stores) use(store.reg);
    for (const auto& step : function.steps) {
      use(step.to), use(step.a), use(step.b);
    }
    registers_.resize(registers * part_ * kWidest);
    masks_.resize(platform::kMaskRegisters * mask_bytes(part_));
  }

  void run() {
    if (function_.by_columns) return by_columns();
    for (std::uint32_t row = 0; row < rows_; ++row) {
      for (std::uint32_t first = 0; first < count_; first += part_) {
        const std::uint32_t count = std::min(part_, count_ - first);
        for (const auto& load : function_.loads) this->load(load, row, first, count);
        for (const auto& step : function_.steps) this->step(step, count);
        for (const auto& store : function_.stores) this->store(store, row, first, count);
      }
    }
  }

 private:
  // What all rows share is loaded and stored once.
  void by_columns() {
    const auto shared = [](const FunctionTensor& t) { return t.rows == FunctionRows::kShared; };
    for (std::uint32_t first = 0; first < count_; first += part_) {
      const std::uint32_t count = std::min(part_, count_ - first);
      for (std::uint32_t row = 0; row < rows_; ++row) {
        for (const auto& load : function_.loads) {
          if (row == 0 || !shared(load)) this->load(load, row, first, count);
        }
        for (const auto& step : function_.steps) this->step(step, count);
        for (const auto& store : function_.stores) {
          if (row + 1 == rows_ || !shared(store)) this->store(store, row, first, count);
        }
      }
    }
  }

  unsigned char* reg(unsigned number) { return registers_.data() + number * part_ * kWidest; }
  unsigned char* mask(unsigned number) { return masks_.data() + number * mask_bytes(part_); }

  unsigned char* at(const FunctionTensor& tensor, std::uint32_t row, std::uint32_t first) const {
    const auto extent = extent_of(tensor, function_.count, function_.rows);
    const Bytes element = bytes_of(tensor.type);
    const Bytes column = tensor.rows == FunctionRows::kNumber ? 0 : first * element;
    return ub_ + tensor.offset + row * extent.pitch + column;
  }

  void load(const FunctionTensor& load, std::uint32_t row, std::uint32_t first,
            std::uint32_t count) {
    const Bytes element = bytes_of(load.type);
    const unsigned char* const from = at(load, row, first);
    unsigned char* const to = reg(load.reg);
    if (load.rows != FunctionRows::kNumber) {
      std::memcpy(to, from, count * element);
      return;
    }
    for (std::uint32_t i = 0; i < count; ++i) std::memcpy(to + i * element, from, element);
  }

  void store(const FunctionTensor& store, std::uint32_t row, std::uint32_t first,
             std::uint32_t count) {
    const Bytes elements = store.rows == FunctionRows::kNumber ? 1 : count;
    std::memcpy(at(store, row, first), reg(store.reg), elements * bytes_of(store.type));
  }

  void step(const FunctionStep& step, std::uint32_t count) {
    platform::Vector vector;
    vector.op = step.op;
    vector.type = step.type;
    vector.to_type = step.to_type;
    vector.comparison = step.comparison;
    vector.count = count;
    vector.scalar = step.scalar;
    const VectorOperator& op = operator_of(step.op);
    const RowFunction row = extreme_of(step);
    unsigned char* const to = op.result == VectorResult::kMask ? mask(step.to) : reg(step.to);
    (row != nullptr ? row : op.row)(vector, op.second,
                                    {to, reg(step.a), reg(step.b), mask(step.mask)});
  }

  const FunctionBody& function_;
  unsigned char* const ub_;
  const bool one_row_;
  std::uint32_t rows_ = 0, count_ = 0, part_ = 0;
  std::vector<unsigned char> registers_, masks_;
};

}  // namespace

void execute(const FunctionBody& function, unsigned char* ub) {
  Execution(function, ub).run();
}

}  // namespace npu::model::arithmetic
