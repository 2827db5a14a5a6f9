// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/function_times.hpp"

#include <algorithm>
#include <array>

#include "model/aicore/vector_operators.hpp"
#include "model/aicore/vector_shape.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {

using arithmetic::SecondOperand;
using platform::FunctionRows;
using platform::FunctionStep;
using platform::FunctionTensor;
using platform::VectorOp;

namespace {

Bytes width_of(const FunctionStep& step) {
  const Bytes own = bytes_of(step.type);
  const bool cast = operator_of(step.op).result == VectorResult::kOtherType;
  return cast ? std::max(own, bytes_of(step.to_type)) : own;
}

FunctionStep step_of(const platform::Vector& vector) {
  FunctionStep step;
  step.op = vector.op;
  step.type = vector.type;
  step.to_type = vector.to_type;
  return step;
}

}  // namespace

void FunctionTimes::add_step(FunctionWork& work, const FunctionStep& step) const {
  const VectorCost& cost = cost_of(config_, step.op, step.type, step.to_type);
  const VectorResult result = operator_of(step.op).result;
  if (step.op == VectorOp::kDuplicate) {
    work.once_percent += cost.percent;
    return;
  }
  // A row's registers are brought together as by the operation on two of them, and the last one's
  // elements by the reduction.
  if (result == VectorResult::kElement) {
    const bool sum = step.op == VectorOp::kReduceSum;
    work.percent += sum ? config_.add.percent : config_.max.percent;
    work.row_percent += cost.percent;
    work.reduces = true;
    return;
  }
  work.percent += cost.percent;
}

void FunctionTimes::count_iterations(FunctionWork& work, std::uint64_t rows, std::uint64_t count,
                                     Bytes width) const {
  work.rows = rows;
  work.iterations = work.masks = rows * ceil_div(count, std::max<Bytes>(config_.repeat / width, 1));
}

// Clocks from a row to the next one: of the longest operation on a register that keeps its value.
std::uint64_t FunctionTimes::kept_clocks(const FunctionBody& function) const {
  std::uint64_t longest = 0;
  for (const FunctionTensor& load : function.loads) {
    if (load.rows != FunctionRows::kShared) continue;
    for (const FunctionStep& step : function.steps) {
      const bool keeps = step.to == load.reg && (step.a == load.reg || step.b == load.reg);
      const auto clocks = cost_of(config_, step.op, step.type, step.to_type).clocks;
      if (keeps) longest = std::max<std::uint64_t>(longest, clocks);
    }
  }
  return longest;
}

FunctionWork FunctionTimes::work_of(const FunctionBody& function) const {
  FunctionWork work;
  Bytes widest = function.steps.empty() ? bytes_of(function.stores.front().type) : 1;
  for (const FunctionStep& step : function.steps) {
    add_step(work, step);
    widest = std::max(widest, width_of(step));
  }
  count_iterations(work, function.rows, function.count, widest);
  work.masks = function.by_columns ? work.iterations / work.rows : work.iterations;
  const auto move = [&](const FunctionTensor& tensor) {
    const bool number = tensor.rows == FunctionRows::kNumber;
    const bool once = function.by_columns && tensor.rows == FunctionRows::kShared;
    work.bytes += (once ? 1 : work.rows) * (number ? 1 : function.count) * bytes_of(tensor.type);
    return number ? work.rows : once ? work.iterations / work.rows : work.iterations;
  };
  std::array<std::uint64_t, platform::kVectorRegisters> ready{};
  std::array<std::uint64_t, platform::kMaskRegisters> mask_ready{};
  for (const FunctionTensor& load : function.loads) {
    work.loads += move(load);
    ready[load.reg] = config_.function.load_clocks;
  }
  for (const FunctionStep& step : function.steps) {
    const VectorOperator& op = operator_of(step.op);
    std::uint64_t begin = op.reads_a ? ready[step.a] : 0;
    if (op.second == SecondOperand::kRow) begin = std::max(begin, ready[step.b]);
    if (op.reads_mask) begin = std::max(begin, mask_ready[step.mask]);
    const auto end = begin + cost_of(config_, step.op, step.type, step.to_type).clocks;
    (op.result == VectorResult::kMask ? mask_ready[step.to] : ready[step.to]) = end;
  }
  if (function.by_columns) work.row_clocks = kept_clocks(function);
  for (const FunctionTensor& store : function.stores) {
    work.stores += move(store);
    work.latency = std::max(work.latency, ready[store.reg]);
  }
  return work;
}

FunctionWork FunctionTimes::work_of(const platform::Vector& vector) const {
  const FunctionStep step = step_of(vector);
  const VectorOperator& op = operator_of(vector.op);
  FunctionWork work;
  add_step(work, step);
  count_iterations(work, vector.rows, vector.count, width_of(step));
  const VectorShape shape = shape_of(vector);
  const bool number = op.second == SecondOperand::kElement;
  work.loads = work.iterations * ((shape.a_row != 0 ? 1 : 0) + (shape.mask_row != 0 ? 1 : 0)) +
               (shape.b_row == 0 ? 0
                : number         ? work.rows
                                 : work.iterations);
  work.stores = op.result == VectorResult::kElement ? work.rows : work.iterations;
  work.bytes = work.rows * (shape.a_row + shape.b_row + shape.mask_row + shape.to_row);
  work.latency = (work.loads == 0 ? 0 : config_.function.load_clocks) +
                 cost_of(config_, vector.op, vector.type, vector.to_type).clocks;
  return work;
}

std::uint64_t FunctionTimes::of(const FunctionWork& work) const {
  const VectorFunctionConfig& f = config_.function;
  const std::uint64_t first = work.rows * work.row_percent + work.once_percent;
  const std::uint64_t all = work.iterations * work.percent + work.masks * f.mask_percent + first;
  const std::uint64_t loop =
      std::max({ceil_div(all, f.ports), first, ceil_div(100 * work.loads, f.load_ports),
                ceil_div(100 * work.stores, f.store_ports),
                ceil_div(10'000 * work.bytes, config_.repeat * f.accesses_percent)});
  const std::uint64_t rows = work.reduces ? work.rows * config_.row_clocks : 0;
  return std::max(loop, 100 * work.rows * work.row_clocks) +
         100 * (f.start_clocks + work.latency + f.drain_clocks + rows);
}

}  // namespace npu::model
