// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/instruction_times.hpp"

#include <algorithm>

#include "model/aicore/instruction_checks.hpp"
#include "model/aicore/vector_operators.hpp"
#include "model/aicore/vector_shape.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {

using platform::DataType;

namespace {

constexpr Bytes kFractalRows = 16;
constexpr Bytes kFullRow = 512;  // shorter rows do not get the whole rate

// Rows that follow one another are worked on as one.
bool dense(const platform::Vector& vector, const VectorShape& shape) {
  const auto follows = [](std::uint32_t pitch, Bytes length) {
    return pitch == 0 || length == 0 || pitch == length;
  };
  const VectorOperator& op = operator_of(vector.op);
  return op.result != VectorResult::kElement && op.second != arithmetic::SecondOperand::kElement &&
         follows(vector.to_pitch, shape.to_row) && follows(vector.a_pitch, shape.a_row) &&
         follows(vector.b_pitch, shape.b_row) && follows(vector.mask_pitch, shape.mask_row);
}

}  // namespace

SimTime InstructionTimes::of(const platform::LoadL0& load, bool ran_empty) const {
  const Bytes rows = load.transpose ? load.columns : load.rows;
  const Bytes columns = load.transpose ? load.rows : load.columns;
  const Bytes bytes = load.fractals ? load.rows * kFractalBytes
                                    : round_up(rows, kFractalRows) * l0_pitch(columns, load.type);
  const Bytes rate =
      load.to.buffer == platform::LocalBuffer::kL0a ? config_.l0a_per_clock : config_.l0b_per_clock;
  return clock_.clocks(ceil_div(bytes, rate) + (ran_empty ? config_.l0_fill_clocks : 0));
}

// A fractal of the cube is 16 x 16 results over 16 elements of k, 32 of int8. With the macs of the
// A2 that is a clock, in fp32 four: fp32 120x110x50 takes 8 x 7 x 4 of them, 896 clocks and 6.
SimTime InstructionTimes::of(const platform::Mmad& mmad, bool ran_empty) const {
  const CubeConfig& cube = config_.cube;
  const bool int8 = mmad.type == DataType::kInt8;
  const std::uint64_t macs = int8                           ? cube.int8_macs
                             : mmad.type == DataType::kFp32 ? cube.fp32_macs
                                                            : cube.fp16_macs;
  const std::uint64_t k = int8 ? 32 : 16;
  const std::uint64_t fractals =
      ceil_div(mmad.m, kFractalRows) * ceil_div(mmad.n, kFractalRows) * ceil_div(mmad.k, k);
  return clock_.clocks(ceil_div(fractals * kFractalRows * kFractalRows * k, macs) +
                       (ran_empty ? cube.fill_clocks : 0));
}

// Hundredths of a clock for the blocks of 32 B that are transposed.
std::uint64_t InstructionTimes::transposition(const platform::Vector& vector) const {
  constexpr Bytes kBlock = 32;
  const VectorConfig& v = config_.vector;
  const Bytes row = vector.count * bytes_of(vector.type);
  const std::uint64_t whole = vector.rows * ceil_div(row, kBlock) * v.transpose.percent;
  return row % kBlock == 0 ? whole : whole * v.transpose_ragged_percent / 100;
}

SimTime InstructionTimes::of(const platform::Vector& vector, bool ran_empty) const {
  const VectorConfig& v = config_.vector;
  const VectorCost& cost = cost_of(v, vector.op, vector.type, vector.to_type);
  const std::uint64_t begin = ran_empty ? cost.clocks : std::min(cost.clocks, v.exposed_clocks);
  const VectorResult result = operator_of(vector.op).result;
  if (result == VectorResult::kTransposed)
    return clock_.percent(begin * 100 + transposition(vector));
  if (v.function.ports != 0) return clock_.percent(functions_.of(vector));
  const VectorShape shape = shape_of(vector);
  // A cast counts the wider side.
  Bytes rows = vector.rows;
  Bytes row = std::max(shape.a_row, shape.to_row);
  if (dense(vector, shape)) {
    row *= rows;
    rows = 1;
  }
  const bool tail = row > v.repeat && row % v.repeat != 0;
  // Rows of one repeat are repeats of one whole-reduce.
  const bool folds = result == VectorResult::kElement && row > v.repeat;
  const std::uint64_t each = (tail ? v.tail_clocks : 0) + (folds ? v.row_clocks : 0);
  return clock_.percent((begin + rows * each) * 100 +
                        rows * ceil_div(row, v.repeat) * cost.percent);
}

SimTime InstructionTimes::of(const FunctionBody& function) const {
  return clock_.percent(functions_.of(function));
}

SimTime InstructionTimes::of(const LocalPathConfig& path, Bytes bytes) const {
  return clock_.clocks(path.issue_clocks + ceil_div(bytes, path.per_clock));
}

// `half` for each halving below kFullRow, a straight line between two of them.
std::uint64_t InstructionTimes::row_percent(const CopyPathConfig& path, Bytes row_bytes) {
  std::uint64_t upper = 100;
  for (Bytes full = kFullRow; row_bytes < full && full > 1; full /= 2) {
    const std::uint64_t lower = std::max<std::uint64_t>(upper * path.half_row_percent / 100, 1);
    if (row_bytes >= full / 2) {
      return lower + (upper - lower) * (row_bytes - full / 2) / (full - full / 2);
    }
    upper = lower;
  }
  return upper;
}

SimTime InstructionTimes::of(const CopyPathConfig& path, const RowsPart& part) const {
  std::uint64_t percent = row_percent(path, part.row_bytes);
  if (part.address % kFullRow != 0) percent = percent * path.unaligned_percent / 100;
  percent = std::max<std::uint64_t>(percent, 1);
  constexpr Bytes kBlock = 32;
  const bool ragged = part.address % kBlock != 0 || part.row_bytes % kBlock != 0;
  const SimTime way = clock_.clocks(ragged ? part.begun * path.block_clocks : 0) +
                      clock_.percent(ceil_div(part.bytes * 10'000, path.per_clock * percent));
  if (part.element == 0) return way;
  const Bytes elements = ceil_div(part.bytes, part.element);
  return std::max(way, clock_.percent(ceil_div(elements * 10'000, config_.transposed_percent)));
}

}  // namespace npu::model
