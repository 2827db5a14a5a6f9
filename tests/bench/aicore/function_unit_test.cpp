// SPDX-License-Identifier: Apache-2.0
// Values of vector functions: random ones against the same operations one by one in UB, bit by bit.
// No simulation.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "model/aicore/arithmetic/convert.hpp"
#include "model/aicore/arithmetic/function_unit.hpp"
#include "model/aicore/arithmetic/vector_unit.hpp"
#include "model/aicore/instruction_checks.hpp"

namespace npu::model::arithmetic {
namespace {

using platform::Comparison;
using platform::DataType;
using platform::FunctionRows;
using platform::FunctionStep;
using platform::FunctionTensor;
using platform::Vector;
using platform::VectorOp;

constexpr std::uint32_t kRoom = 48 * 1024;  // of a register's rows in UB
constexpr unsigned kRegisters = 6, kMasks = 2;

constexpr std::uint32_t at(unsigned slot) {
  return slot * kRoom;
}
// Where the plain instructions have their registers and masks; results are behind.
constexpr std::uint32_t kResultAt = at(kRegisters + kMasks), kPlainAt = at(kRegisters + kMasks + 1);
constexpr std::uint32_t kUb = at(kRegisters + kMasks + 2);

class FunctionValues : public testing::Test {
 protected:
  std::uint32_t number(std::uint32_t from, std::uint32_t to) {
    return std::uniform_int_distribution<std::uint32_t>(from, to)(random_);
  }
  float value() {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const float odd[] = {std::nanf(""), kInfinity, -kInfinity, 0.0F, -0.0F, 1e-40F, 3e38F};
    if (number(0, 9) == 0) return odd[number(0, 6)];
    return std::uniform_real_distribution<float>(-8, 8)(random_);
  }
  void fill(std::uint32_t offset, DataType type, std::uint64_t elements) {
    std::vector<float> values(elements);
    for (float& v : values) v = value();
    from_float(values.data(), type, ub_.data() + offset, elements);
  }
  Vector plain(const FunctionStep& step) const {
    Vector v;
    v.op = step.op, v.type = step.type, v.to_type = step.to_type;
    v.comparison = step.comparison, v.scalar = step.scalar;
    v.a = at(step.a), v.b = at(step.b), v.mask = at(kRegisters + step.mask);
    const bool compares = step.op == VectorOp::kCompare || step.op == VectorOp::kCompares;
    v.to = at(compares ? kRegisters + step.to : step.to);
    v.count = count_, v.rows = rows_;
    return v;
  }
  // Reads what one before it has written; registers 0 and 1 are loaded.
  FunctionStep random_step(DataType type) {
    constexpr VectorOp kOps[] = {VectorOp::kAdd,       VectorOp::kSub,     VectorOp::kMul,
                                 VectorOp::kDiv,       VectorOp::kAdds,    VectorOp::kMuls,
                                 VectorOp::kExp,       VectorOp::kSqrt,    VectorOp::kRelu,
                                 VectorOp::kAbs,       VectorOp::kMaxs,    VectorOp::kRsqrt,
                                 VectorOp::kAxpy,      VectorOp::kSelects, VectorOp::kReciprocal,
                                 VectorOp::kDuplicate, VectorOp::kSelect};
    FunctionStep step;
    step.op = kOps[number(0, std::size(kOps) - 1)];
    step.type = step.to_type = type;
    step.comparison = static_cast<Comparison>(number(0, 5));
    step.a = static_cast<std::uint8_t>(number(0, written_ - 1));
    step.b = static_cast<std::uint8_t>(number(0, written_ - 1));
    step.to = static_cast<std::uint8_t>(std::min(number(2, kRegisters - 1), written_));
    step.mask = static_cast<std::uint8_t>(number(0, kMasks - 1));
    step.scalar = value();
    written_ = std::max(written_, step.to + 1U);
    return step;
  }
  std::vector<FunctionStep> random_steps(DataType type) {
    written_ = 2;
    std::vector<FunctionStep> steps(kMasks);
    for (std::uint8_t i = 0; i < kMasks; ++i) {
      steps[i].op = i == 0 ? VectorOp::kCompare : VectorOp::kCompares;
      steps[i].type = type;
      steps[i].comparison = static_cast<Comparison>(number(0, 5));
      steps[i].to = i, steps[i].b = 1;
      steps[i].scalar = value();
    }
    const unsigned length = kMasks + number(1, 12);
    steps.reserve(length);
    while (steps.size() < length) steps.push_back(random_step(type));
    return steps;
  }
  void compare_random_function() {
    const DataType type = number(0, 1) == 0 ? DataType::kFp16 : DataType::kFp32;
    constexpr std::uint32_t kCounts[] = {1, 2, 7, 63, 64, 65, 127, 1009, 1024, 1031, 2049};
    count_ = kCounts[number(0, std::size(kCounts) - 1)];
    rows_ = number(1, 4);
    std::fill(ub_.begin(), ub_.end(), std::uint8_t{0});
    const FunctionTensor loads[] = {{at(0), 0, type, FunctionRows::kOwn, 0},
                                    {at(1), 0, type, FunctionRows::kOwn, 1}};
    fill(at(0), type, count_ * rows_);
    fill(at(1), type, count_ * rows_);
    const auto steps = random_steps(type);
    const auto last = static_cast<std::uint8_t>(number(0, written_ - 1));
    const FunctionTensor store{kResultAt, 0, type, FunctionRows::kOwn, last};
    platform::VectorFunction function;
    function.loads = loads, function.steps = steps.data(), function.stores = &store;
    function.load_count = 2, function.store_count = 1;
    function.step_count = static_cast<std::uint32_t>(steps.size());
    function.count = count_, function.rows = rows_;
    execute(FunctionBody(function), ub_.data());
    for (const auto& step : steps) execute(plain(step), ub_.data());
    const Bytes bytes = count_ * rows_ * bytes_of(type);
    ASSERT_EQ(std::memcmp(ub_.data() + kResultAt, ub_.data() + at(last), bytes), 0)
        << steps.size() << " steps on " << rows_ << " rows of " << count_;
    EXPECT_EQ(ub_[kResultAt + bytes], 0);
  }

  std::vector<std::uint8_t> ub_ = std::vector<std::uint8_t>(kUb);
  std::mt19937 random_{7};
  std::uint32_t count_ = 0, rows_ = 1;
  unsigned written_ = 0;  // registers, from the first one on
};

// Masks of plain instructions begin anew in each row, as those of functions do.
TEST_F(FunctionValues, AreThoseOfTheSameOperationsOneByOne) {
  for (unsigned i = 0; i < 400 && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    compare_random_function();
  }
}

// x - the row's number, of rows of 33 with gaps between them; the number is read once a row.
TEST_F(FunctionValues, ANumberOfARowIsForAllOfIt) {
  constexpr std::uint32_t kPitch = 160, kRows = 5, kCount = 33;
  fill(at(0), DataType::kFp32, kRows * kPitch / 4);
  fill(at(1), DataType::kFp32, kRows);
  const FunctionTensor loads[] = {{at(0), kPitch, DataType::kFp32, FunctionRows::kOwn, 0},
                                  {at(1), 0, DataType::kFp32, FunctionRows::kNumber, 1}};
  const FunctionTensor store{kResultAt, kPitch, DataType::kFp32, FunctionRows::kOwn, 2};
  FunctionStep step;
  step.op = VectorOp::kSub;
  step.to = 2, step.b = 1;
  execute(FunctionBody({loads, &step, &store, 2, 1, 1, kCount, kRows}), ub_.data());
  Vector plain;
  plain.op = VectorOp::kBroadcastSub;
  plain.a = at(0), plain.b = at(1), plain.to = kPlainAt;
  plain.count = kCount, plain.rows = kRows;
  plain.a_pitch = plain.to_pitch = kPitch;
  execute(plain, ub_.data());
  EXPECT_EQ(std::memcmp(ub_.data() + kResultAt, ub_.data() + kPlainAt, kRows * kPitch), 0);
}

// Sums of squares of rows, more of them than are handled at a time, times one row for all.
TEST_F(FunctionValues, ARowIsBroughtTogetherAsByTheInstruction) {
  constexpr std::uint32_t kRows = 3, kCount = 2500;
  fill(at(0), DataType::kFp32, kRows * kCount);
  fill(at(1), DataType::kFp32, kCount);
  for (const auto op : {VectorOp::kReduceSum, VectorOp::kReduceMax, VectorOp::kReduceMin}) {
    const FunctionTensor loads[] = {{at(0), 0, DataType::kFp32, FunctionRows::kOwn, 0},
                                    {at(1), 0, DataType::kFp32, FunctionRows::kShared, 1}};
    const FunctionTensor store{kResultAt, 0, DataType::kFp32, FunctionRows::kNumber, 2};
    FunctionStep steps[2];
    steps[0].op = VectorOp::kMul;
    steps[0].to = 2, steps[0].b = 1;
    steps[1].op = op;
    steps[1].to = 2, steps[1].a = 2;
    execute(FunctionBody({loads, steps, &store, 2, 2, 1, kCount, kRows}), ub_.data());
    for (std::uint32_t row = 0; row < kRows; ++row) {
      Vector plain;
      plain.op = VectorOp::kMul;
      plain.a = at(0) + row * kCount * 4, plain.b = at(1), plain.to = kPlainAt;
      plain.count = kCount;
      execute(plain, ub_.data());
      plain.op = op;
      plain.a = kPlainAt, plain.to = at(2) + 4 * row;
      execute(plain, ub_.data());
    }
    EXPECT_EQ(std::memcmp(ub_.data() + kResultAt, ub_.data() + at(2), 4 * kRows), 0);
  }
}

// Three rows of 1500, more than are handled at a time, with gaps: column sums that go on from one
// row for all, and the rows so far.
TEST_F(FunctionValues, ByColumnsRegistersKeepWhatTheRowsBeforeLeft) {
  constexpr std::uint32_t kRows = 3, kCount = 1500, kPitch = kCount * 4 + 32;
  fill(at(0), DataType::kFp32, kRows * kPitch / 4);
  fill(at(1), DataType::kFp32, kCount);
  const FunctionTensor loads[] = {{at(1), 0, DataType::kFp32, FunctionRows::kShared, 1},
                                  {at(0), kPitch, DataType::kFp32, FunctionRows::kOwn, 0}};
  const FunctionTensor stores[] = {{at(2), 0, DataType::kFp32, FunctionRows::kShared, 1},
                                   {kResultAt, kPitch, DataType::kFp32, FunctionRows::kOwn, 1}};
  FunctionStep step;
  step.op = VectorOp::kAdd;
  step.to = 1, step.a = 1;
  execute(FunctionBody({loads, &step, stores, 2, 1, 2, kCount, kRows, true}), ub_.data());
  Vector plain;
  plain.op = VectorOp::kAdd;
  plain.a = at(1), plain.to = kPlainAt;
  plain.count = kCount;
  for (std::uint32_t row = 0; row < kRows; ++row) {
    plain.b = at(0) + row * kPitch;
    execute(plain, ub_.data());
    plain.a = kPlainAt;
    EXPECT_EQ(std::memcmp(&ub_[kResultAt + row * kPitch], &ub_[kPlainAt], kCount * 4), 0) << row;
  }
  EXPECT_EQ(std::memcmp(&ub_[at(2)], &ub_[kPlainAt], kCount * 4), 0);
}

// bf16 1, NaN, -inf, 3 against NaN, 2, 1, -inf.
TEST_F(FunctionValues, OfAMaximumANaNWinsOnEitherSide) {
  const std::uint16_t a[] = {0x3F80, 0x7FC1, 0xFF80, 0x4040},
                      b[] = {0x7FC5, 0x4000, 0x3F80, 0xFF80};
  std::memcpy(ub_.data() + at(0), a, sizeof a);
  std::memcpy(ub_.data() + at(1), b, sizeof b);
  const FunctionTensor loads[] = {{at(0), 0, DataType::kBf16, FunctionRows::kOwn, 0},
                                  {at(1), 0, DataType::kBf16, FunctionRows::kOwn, 1}};
  const FunctionTensor store{kResultAt, 0, DataType::kBf16, FunctionRows::kOwn, 2};
  FunctionStep step;
  step.op = VectorOp::kMax;
  step.type = DataType::kBf16;
  step.to = 2, step.b = 1;
  execute(FunctionBody({loads, &step, &store, 2, 1, 1, 4, 1}), ub_.data());
  const std::uint16_t wanted[] = {0x7FC5, 0x7FC1, 0x3F80, 0x4040};
  EXPECT_EQ(std::memcmp(ub_.data() + kResultAt, wanted, sizeof wanted), 0);
}

}  // namespace
}  // namespace npu::model::arithmetic
