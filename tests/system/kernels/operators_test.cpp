// SPDX-License-Identifier: Apache-2.0
// Operators on one core: numbers that are no ordinary ones, several tiles, and what lies around the
// result.
#include "kernels/device/shipped/operators.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <tuple>

#include "tests/bench/aicore/aicore_bench.hpp"
#include "tests/bench/aicore/core_config.hpp"

namespace npu::test {
namespace {

using kernels::vector::Operator;
using kernels::vector::OperatorWork;

constexpr std::uint64_t kOperatorAt = 0x30'0000;
constexpr std::uint64_t kFirst = 0x40'0000, kSecond = 0x80'0000, kOutcome = 0xC0'0000;
const float kNan = std::nanf(""), kInfinity = std::numeric_limits<float>::infinity();

model::ChipConfig in_registers() {
  auto config = aicore_config();
  give_functions(config.core);
  return config;
}

class OperatorBench : public AicoreBench {
 public:
  using AicoreBench::AicoreBench;
  void start(Operator op, DataType type, std::uint64_t count) {
    OperatorWork work;
    work.to = kOutcome, work.a = kFirst, work.b = kSecond;
    work.count = count;
    work.op = op;
    work.type = type;
    const auto words = kernels::vector::to_words(work);
    for (std::size_t i = 0; i < words.size(); ++i) memory.store(kOperatorAt + 8 * i, words[i]);
    upload("operators", kOtherImage);
    at(0, [this] { launch_image(0, kOtherImage, kOperatorAt); });
    run();
    ASSERT_TRUE(has_ended(0));
    EXPECT_EQ(ended(0).fault, FaultCode::kNone);
  }
  template <class T>
  void put(std::uint64_t at, const std::vector<T>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) memory.store(at + sizeof(T) * i, values[i]);
  }
  template <class T>
  T result(std::uint64_t index) {
    return memory.load<T>(kOutcome + sizeof(T) * index);
  }
};

// x tanh(ln(1 + e^x)): x from far above 0, 0 far below, and a NaN of a NaN. At 1, e = exp(1):
// (e^2 + 2 e) / (e^2 + 2 e + 2).
TEST(OperatorKernels, MishOverflowsOnNeitherSide) {
  OperatorBench bench;
  bench.put<float>(kFirst, {1000, -1000, 0, 1, kNan, 88});
  bench.start(Operator::kMish, DataType::kFp32, 6);
  EXPECT_EQ(bench.result<float>(0), 1000.0F);
  EXPECT_EQ(std::abs(bench.result<float>(1)), 0.0F);
  EXPECT_EQ(bench.result<float>(2), 0.0F);
  const double e = std::exp(1.0);
  EXPECT_NEAR(bench.result<float>(3), (e * e + 2 * e) / (e * e + 2 * e + 2), 1e-6);
  EXPECT_TRUE(std::isnan(bench.result<float>(4)));
  EXPECT_EQ(bench.result<float>(5), 88.0F);
}

TEST(OperatorKernels, SigmoidReachesItsLimits) {
  OperatorBench bench;
  bench.put<float>(kFirst, {0, 200, -200, kInfinity, kNan});
  bench.start(Operator::kSigmoid, DataType::kFp32, 5);
  EXPECT_EQ(bench.result<float>(0), 0.5F);
  EXPECT_EQ(bench.result<float>(1), 1.0F);
  EXPECT_EQ(bench.result<float>(2), 0.0F);
  EXPECT_EQ(bench.result<float>(3), 1.0F);
  EXPECT_TRUE(std::isnan(bench.result<float>(4)));
}

// bf16: 1, 2, -3 and two different NaNs, in either operand.
TEST(OperatorKernels, AMaximumOfBf16KeepsANan) {
  constexpr std::uint16_t kOne = 0x3F80, kTwo = 0x4000, kMinusThree = 0xC040, kNanA = 0x7FC1,
                          kNanB = 0xFFC5;
  OperatorBench bench;
  bench.put<std::uint16_t>(kFirst, {kOne, kMinusThree, kNanA, kTwo, kNanA});
  bench.put<std::uint16_t>(kSecond, {kTwo, kOne, kOne, kNanB, kNanB});
  bench.start(Operator::kMaximum, DataType::kBf16, 5);
  EXPECT_EQ(bench.result<std::uint16_t>(0), kTwo);
  EXPECT_EQ(bench.result<std::uint16_t>(1), kOne);
  EXPECT_EQ(bench.result<std::uint16_t>(2), kNanA);
  EXPECT_EQ(bench.result<std::uint16_t>(3), kNanB);
  EXPECT_EQ(bench.result<std::uint16_t>(4), kNanB);  // the second operand's is chosen last
}

// Operands and results of 8 bytes fill UB with 4096 elements: 10'001 are three tiles.
TEST(OperatorKernels, AMaximumOfInt64IsExactOverSeveralTiles) {
  constexpr std::int64_t kCount = 10'001, kLarge = std::int64_t{1} << 60;
  OperatorBench bench;
  std::vector<std::int64_t> a(kCount), b(kCount);
  for (std::int64_t i = 0; i < kCount; ++i) {
    a[static_cast<std::size_t>(i)] = kLarge + i;
    b[static_cast<std::size_t>(i)] = kLarge + kCount - i;
  }
  bench.put(kFirst, a);
  bench.put(kSecond, b);
  bench.memory.store(kOutcome + 8 * kCount, std::uint64_t{0xA5A5});
  bench.start(Operator::kMaximum, DataType::kInt64, kCount);
  for (std::int64_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(bench.result<std::int64_t>(static_cast<std::uint64_t>(i)),
              kLarge + std::max(i, kCount - i));
  }
  EXPECT_EQ(bench.memory.load<std::uint64_t>(kOutcome + 8 * kCount), 0xA5A5U);
}

// Numbers around zero, and now and then one that is none or the largest of all.
std::vector<std::uint16_t> random_halves(std::uint64_t count, unsigned seed) {
  constexpr std::uint16_t kOdd[] = {0x7C00, 0xFC00, 0x7E01, 0x0000, 0x8000, 0x0001};
  std::mt19937 random(seed);
  std::vector<std::uint16_t> all(count);
  for (auto& half : all) {
    const auto number = static_cast<std::uint32_t>(random());
    half = number % 16 == 0 ? kOdd[number / 16 % 6]
                            : static_cast<std::uint16_t>(number >> 31 << 15 | number % 0x4C00);
  }
  return all;
}

// fp16 as fp32's upper half is bf16, and two of them are an fp32 or less: bits that mean something
// in every type. A maximum on the left only keeps a NaN in UB.
class OperatorsOnRegisters
    : public testing::TestWithParam<std::tuple<Operator, DataType, std::uint64_t>> {};

TEST_P(OperatorsOnRegisters, GiveTheBitsOfThoseInUb) {
  const auto [op, type, count] = GetParam();
  const std::uint64_t halves = count * platform::bytes_of(type) / 2;
  OperatorBench in_ub;
  auto registers = in_registers();
  OperatorBench other(registers);
  for (auto* const bench : {&in_ub, &other}) {
    bench->put(kFirst, random_halves(halves, 1));
    bench->put(kSecond, op == Operator::kMaximum && type != DataType::kBf16
                            ? std::vector<std::uint16_t>(halves, 0)
                            : random_halves(halves, 2));
    bench->memory.store(kOutcome + 2 * halves, std::uint64_t{0xA5A5});
    bench->start(op, type, count);
  }
  for (std::uint64_t i = 0; i < halves + 4; ++i) {
    ASSERT_EQ(other.result<std::uint16_t>(i), in_ub.result<std::uint16_t>(i)) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Operators, OperatorsOnRegisters,
    testing::Combine(testing::Values(Operator::kSigmoid, Operator::kGelu, Operator::kMish,
                                     Operator::kExp, Operator::kMaximum),
                     testing::Values(DataType::kFp16, DataType::kBf16, DataType::kFp32),
                     testing::Values(1, 127, 1009, 40'009)));
INSTANTIATE_TEST_SUITE_P(Integers, OperatorsOnRegisters,
                         testing::Combine(testing::Values(Operator::kMaximum),
                                          testing::Values(DataType::kInt32, DataType::kInt64),
                                          testing::Values(1, 1009, 40'009)));

}  // namespace
}  // namespace npu::test
