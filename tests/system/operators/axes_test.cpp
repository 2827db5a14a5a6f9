// SPDX-License-Identifier: Apache-2.0
// Operators on axes: transpose, broadcast, softmax_axis, group_norm. Every type, sides of one and
// of many elements, what fits into UB and what does not, numbers that are none.
#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

#include "tests/system/operators/result_memory.hpp"

namespace npu::test {
namespace {

constexpr double kAxisRounding = 0x1p-24;
using Sides = std::vector<std::uint64_t>;

std::uint64_t product(const Sides& sides) {
  return std::accumulate(sides.begin(), sides.end(), std::uint64_t{1}, std::multiplies<>());
}
// Of element `index` of `sides`, along each axis.
Sides places(std::uint64_t index, const Sides& sides) {
  Sides at(sides.size());
  for (std::size_t i = sides.size(); i-- > 0;) {
    at[i] = index % sides[i];
    index /= sides[i];
  }
  return at;
}
std::uint64_t index_of(const Sides& at, const Sides& sides) {
  std::uint64_t index = 0;
  for (std::size_t i = 0; i < sides.size(); ++i) index = index * sides[i] + at[i];
  return index;
}

struct AxisTypes {
  const char *from, *to;
};
constexpr AxisTypes kRealTypes[] = {
    {"half", "half"}, {"bfloat16", "bfloat16"}, {"float", "float"}, {"half", "float"}};

class AxisOperators : public testing::TestWithParam<BenchCores> {
 protected:
  OperatorBench bench_{GetParam()};
  Dice dice_{GetParam() == BenchCores::kSplit ? 51U : 52U};

  // Ones, primes, around blocks; not many elements in all.
  Sides sides(std::uint64_t most_axes, std::uint64_t most) {
    Sides made(1 + dice_() % most_axes);
    std::uint64_t left = most;
    for (auto& side : made) {
      side = dice_() % 4 == 0 ? 1 : 1 + dice_() % std::min<std::uint64_t>(left, 150);
      if (dice_() % 8 == 0) side = std::min<std::uint64_t>(left, 1 + dice_() % 5000);
      left = std::max<std::uint64_t>(left / side, 1);
    }
    std::shuffle(made.begin(), made.end(), dice_);
    return made;
  }
  std::uint64_t place(const Values& x, DataType type) {
    return bench_.place(packed(x, "RowMajor", type, x.columns));
  }
  Values values(DataType type, std::uint64_t count, double size) {
    Values made = random_values(dice_, type, 1, count);
    if (!is_real(type)) return made;
    for (double& value : made.elements) value = rounded(type, value * size);
    return made;
  }

  void transpose(const std::string& type) {
    bench_.forget();
    const DataType element = type_named(type);
    const Sides from = sides(operators::kMostAxes, 40'000);
    operators::TransposeParams params;
    params.axes = static_cast<std::uint32_t>(from.size());
    std::vector<std::uint32_t> order(from.size());
    std::iota(order.begin(), order.end(), 0U);
    std::shuffle(order.begin(), order.end(), dice_);
    std::copy(from.begin(), from.end(), params.sides);
    std::copy(order.begin(), order.end(), params.order);
    const Values x = values(element, product(from), 6);
    params.from = place(x, element);
    ResultMemory to(bench_, element, x.columns);
    params.to = to.address;
    ASSERT_TRUE(bench_.run_operator("op_transpose_" + type + "_" + type, params));
    to.fetch();
    Sides sides_of_result, at(from.size());
    for (const std::uint32_t axis : order) sides_of_result.push_back(from[axis]);
    for (std::uint64_t i = 0; i < x.columns; ++i) {
      const Sides there = places(i, sides_of_result);
      for (std::size_t k = 0; k < order.size(); ++k) at[order[k]] = there[k];
      ASSERT_EQ(to.at(i), x.elements[index_of(at, from)])
          << testing::PrintToString(from) << " by " << testing::PrintToString(order);
    }
  }

  // A side of the result, and of each operand that or 1.
  void broadcast(const std::string& name, const AxisTypes& types) {
    bench_.forget();
    const Sides to = sides(5, 20'000);
    operators::BroadcastParams params;
    params.axes = static_cast<std::uint32_t>(to.size());
    std::copy(to.begin(), to.end(), params.sides);
    params.scalars[0] = 0.75F;
    const DataType type = type_named(types.from);
    Values x[2] = {{1, 1}, {1, 1}};
    Sides own[2] = {to, to};
    std::uint64_t* const addresses[] = {&params.a, &params.b};
    std::uint32_t* const repeats[] = {&params.a_repeats, &params.b_repeats};
    for (std::size_t i = 0; i < to.size(); ++i) {
      const auto choice = dice_() % 4;
      if (choice > 1) continue;
      own[choice][i] = 1;
      *repeats[choice] |= to[i] == 1 ? 0 : 1U << i;
    }
    for (unsigned k = 0; k < 2; ++k) {
      x[k] = values(type, product(own[k]), 6);
      *addresses[k] = place(x[k], type);
    }
    ResultMemory result(bench_, type_named(types.to), product(to));
    params.to = result.address;
    const std::string object = std::string("_") + types.from + "_" + types.to;
    ASSERT_TRUE(bench_.run_operator("op_broadcast_" + name + object, params)) << bench_.refusal();
    result.fetch();
    for (std::uint64_t i = 0; i < product(to); ++i) {
      double operand[2];
      for (unsigned k = 0; k < 2; ++k) {
        Sides at = places(i, to);
        for (std::size_t axis = 0; axis < to.size(); ++axis) at[axis] %= own[k][axis];
        operand[k] = x[k].elements[index_of(at, own[k])];
      }
      const double exact =
          name == "largest" ? std::max(operand[0], operand[1]) : operand[0] * 0.75 - operand[1] / 2;
      const double error = 2 * kAxisRounding * (std::fabs(operand[0]) + std::fabs(operand[1]));
      ASSERT_TRUE(near_enough(result.type(), result.at(i), exact, error))
          << "element " << i << " of " << testing::PrintToString(to) << " is " << result.at(i)
          << ", exactly " << exact;
    }
  }

  void group_norm(const AxisTypes& types) {
    bench_.forget();
    operators::GroupNormParams params;
    params.batch = number(dice_, 1, 4), params.groups = number(dice_, 1, 9);
    params.channels = params.groups * number(dice_, 1, dice_() % 9 == 0 ? 300 : 8);
    params.size = dice_() % 3 == 0 ? 1 : number(dice_, 1, dice_() % 8 == 0 ? 20'000 : 300);
    if (params.size > 300) params.batch = 1, params.channels = params.groups;
    params.epsilon = 1e-3F;
    const DataType type = type_named(types.from);
    const std::uint64_t count = std::uint64_t{params.batch} * params.channels * params.size;
    const Values x = values(type, count, 4);
    Values gamma = values(type, params.channels, 2), beta = values(type, params.channels, 2);
    const bool scaled = dice_() % 4 != 0, moved = dice_() % 4 != 0;
    params.from = place(x, type);
    if (scaled) params.gamma = place(gamma, type);
    if (moved) params.beta = place(beta, type);
    ResultMemory to(bench_, type_named(types.to), count);
    params.to = to.address;
    ASSERT_TRUE(
        bench_.run_operator(std::string("op_group_norm_") + types.from + "_" + types.to, params))
        << bench_.refusal();
    to.fetch();
    const std::uint64_t length = std::uint64_t{params.channels / params.groups} * params.size;
    for (std::uint64_t first = 0; first < count; first += length) {
      const double* const row = &x.elements[first];
      const double mean = std::accumulate(row, row + length, 0.0) / static_cast<double>(length);
      double squares = 0, largest = 0;
      for (std::uint64_t i = 0; i < length; ++i) {
        squares += (row[i] - mean) * (row[i] - mean);
        largest = std::fmax(largest, std::fabs(row[i]));
      }
      const double variance = squares / static_cast<double>(length) + double{params.epsilon};
      // Sums of values and squares in fp32, whose difference the variance is.
      const double error = 40 * kAxisRounding *
                           static_cast<double>(std::min<std::uint64_t>(length, 64)) *
                           (1 + largest * largest / variance);
      for (std::uint64_t i = 0; i < length; ++i) {
        const std::uint64_t channel = (first + i) / params.size % params.channels;
        const double factor = (scaled ? gamma.elements[channel] : 1) / std::sqrt(variance);
        const double shift = moved ? beta.elements[channel] : 0;
        const double exact = (row[i] - mean) * factor + shift;
        const double allowed = error * (largest * std::fabs(factor) + std::fabs(shift));
        ASSERT_TRUE(near_enough(to.type(), to.at(first + i), exact, allowed))
            << "element " << first + i << " of " << params.batch << " x " << params.channels
            << " x " << params.size << " in " << params.groups << " groups is " << to.at(first + i)
            << ", exactly " << exact;
      }
    }
  }

  void softmax_axis(const AxisTypes& types, const Sides& side) {
    bench_.forget();
    operators::SoftmaxAxisParams params;
    params.outer = static_cast<std::uint32_t>(side[0]);
    params.axis = static_cast<std::uint32_t>(side[1]);
    params.inner = static_cast<std::uint32_t>(side[2]);
    const DataType type = type_named(types.from);
    const Values x = values(type, product(side), 6);
    params.from = place(x, type);
    ResultMemory to(bench_, type_named(types.to), product(side));
    params.to = to.address;
    ASSERT_TRUE(
        bench_.run_operator(std::string("op_softmax_axis_") + types.from + "_" + types.to, params))
        << bench_.refusal();
    to.fetch();
    for (std::uint64_t column = 0; column < side[0] * side[2]; ++column) {
      const auto at = [&](std::uint64_t i) {
        return (column / side[2] * side[1] + i) * side[2] + column % side[2];
      };
      double most = -HUGE_VAL, sum = 0;
      for (std::uint64_t i = 0; i < side[1]; ++i) most = std::fmax(most, x.elements[at(i)]);
      for (std::uint64_t i = 0; i < side[1]; ++i) sum += std::exp(x.elements[at(i)] - most);
      const double relative = (60 + 2 * static_cast<double>(side[1])) * kAxisRounding;
      for (std::uint64_t i = 0; i < side[1]; ++i) {
        const double exact = std::exp(x.elements[at(i)] - most) / sum;
        ASSERT_TRUE(near_enough(to.type(), to.at(at(i)), exact, relative * exact + 0x1p-140))
            << "element " << at(i) << " of " << testing::PrintToString(side) << " is "
            << to.at(at(i)) << ", exactly " << exact;
      }
    }
  }
};

TEST_P(AxisOperators, TransposeAtRandom) {
  const std::string types[] = {"half", "float", "int8", "int64"};
  for (unsigned i = 0; i < shapes_at_random(); ++i) {
    transpose(types[i % 4]);
    if (HasFailure()) FAIL() << "shape " << i;
  }
}

TEST_P(AxisOperators, BroadcastAtRandom) {
  constexpr AxisTypes kLargest[] = {{"half", "half"},
                                    {"bfloat16", "bfloat16"},
                                    {"float", "float"},
                                    {"int32", "int32"},
                                    {"int64", "int64"}};
  constexpr AxisTypes kMixed[] = {{"half", "half"}, {"float", "float"}, {"half", "float"}};
  for (unsigned i = 0; i < shapes_at_random(); ++i) {
    i % 2 == 0 ? broadcast("largest", kLargest[i / 2 % 5]) : broadcast("mixed", kMixed[i / 2 % 3]);
    if (HasFailure()) FAIL() << "shape " << i;
  }
}

TEST_P(AxisOperators, GroupNormAtRandom) {
  for (unsigned i = 0; i < shapes_at_random(); ++i) {
    group_norm(kRealTypes[i % 4]);
    if (HasFailure()) FAIL() << "shape " << i;
  }
}

TEST_P(AxisOperators, SoftmaxAxisAtRandom) {
  for (unsigned i = 0; i < shapes_at_random(); ++i) {
    // Now and then no whole axis fits into UB.
    const bool large = dice_() % 15 == 0;
    softmax_axis(kRealTypes[i % 4], {number(dice_, 1, large ? 1 : 5),
                                     large ? number(dice_, 2000, 3000) : number(dice_, 1, 120),
                                     dice_() % 4 == 0 ? 1 : number(dice_, 1, large ? 9 : 150)});
    if (HasFailure()) FAIL() << "shape " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Cores, AxisOperators,
                         testing::Values(BenchCores::kCoupled, BenchCores::kSplit,
                                         BenchCores::kInRegisters),
                         [](const auto& instance) { return name_of(instance.param); });

class AxisNumbers : public testing::TestWithParam<BenchCores> {};
INSTANTIATE_TEST_SUITE_P(Cores, AxisNumbers,
                         testing::Values(BenchCores::kCoupled, BenchCores::kInRegisters),
                         [](const auto& instance) { return name_of(instance.param); });

// In an axis that fits into UB, in one that does in fewer columns, and in one that does not.
TEST_P(AxisNumbers, ThatAreNoneAreNumPysInSoftmax) {
  OperatorBench bench(GetParam());
  for (const std::uint32_t axis : {5U, 127U, 3000U}) {
    bench.forget();
    constexpr std::uint64_t kColumns = 5;
    Values x(axis, kColumns);
    x.at(2, 0) = std::nan("");
    x.at(1, 1) = HUGE_VAL;
    x.at(3, 2) = -HUGE_VAL;
    for (std::uint32_t r = 0; r < axis; ++r) x.at(r, 3) = -HUGE_VAL;
    for (std::uint32_t r = 0; r + 1 < axis; ++r) x.at(r, 4) = -HUGE_VAL;
    operators::SoftmaxAxisParams params;
    params.outer = 1, params.axis = axis, params.inner = kColumns;
    params.from = bench.place(packed(x, "RowMajor", DataType::kFp32, kColumns));
    ResultMemory to(bench, DataType::kFp32, axis * kColumns);
    params.to = to.address;
    ASSERT_TRUE(bench.run_operator("op_softmax_axis_float_float", params));
    to.fetch();
    for (std::uint32_t r = 0; r < axis; ++r) {
      for (const std::uint64_t c : {0U, 1U, 3U}) {
        ASSERT_TRUE(std::isnan(to.at(r * kColumns + c))) << r << ", " << c;
      }
      ASSERT_EQ(to.at(r * kColumns + 4), r + 1 == axis ? 1 : 0) << r;
    }
    EXPECT_EQ(to.at(3 * kColumns + 2), 0);
    EXPECT_GT(to.at(2), 0);
  }
}

// A group's neighbours are as without it.
TEST_P(AxisNumbers, ThatAreNoneStayInTheirGroup) {
  OperatorBench bench(GetParam());
  Values x(4, 3);
  x.elements = {1, 2, std::nan(""), HUGE_VAL, 0, 1, 5, 5, 5, 1, 2, 3};
  operators::GroupNormParams params;
  params.batch = 2, params.channels = params.groups = 2, params.size = 3;
  params.epsilon = 0;
  params.from = bench.place(packed(x, "RowMajor", DataType::kFp32, 3));
  ResultMemory to(bench, DataType::kFp32, 12);
  params.to = to.address;
  ASSERT_TRUE(bench.run_operator("op_group_norm_float_float", params));
  to.fetch();
  for (unsigned i = 0; i < 9; ++i) EXPECT_TRUE(std::isnan(to.at(i))) << i;  // 0 / 0 in the third
  EXPECT_NEAR(to.at(9), -std::sqrt(1.5), 1e-6);
  EXPECT_NEAR(to.at(10), 0, 1e-6);
}

TEST_P(AxisNumbers, ThatAreNoneStayInAMaximum) {
  OperatorBench bench(GetParam());
  Values a(2, 2), b(1, 2);
  a.elements = {std::nan(""), 1, -HUGE_VAL, 2};
  b.elements = {0, std::nan("")};
  operators::BroadcastParams params;
  params.axes = 2, params.sides[0] = params.sides[1] = 2;
  params.b_repeats = 1;
  params.a = bench.place(packed(a, "RowMajor", DataType::kFp16, 2));
  params.b = bench.place(packed(b, "RowMajor", DataType::kFp16, 2));
  ResultMemory to(bench, DataType::kFp16, 4);
  params.to = to.address;
  ASSERT_TRUE(bench.run_operator("op_broadcast_largest_half_half", params));
  to.fetch();
  for (const unsigned i : {0U, 1U, 3U}) EXPECT_TRUE(std::isnan(to.at(i))) << i;
  EXPECT_EQ(to.at(2), 0);
}

TEST(AxisRefusals, SayWhatCannotBe) {
  OperatorBench bench;
  using testing::HasSubstr;
  operators::TransposeParams transpose;
  transpose.axes = 2, transpose.sides[0] = 3, transpose.order[0] = 1;
  EXPECT_TRUE(bench.run_operator("op_transpose_half_half", transpose));
  EXPECT_EQ(bench.launches(), 0U);
  transpose.order[0] = 0;
  EXPECT_FALSE(bench.run_operator("op_transpose_half_half", transpose));
  EXPECT_THAT(bench.refusal(), HasSubstr("twice"));
  operators::GroupNormParams groups;
  groups.batch = groups.size = 1, groups.channels = 5, groups.groups = 2;
  EXPECT_FALSE(bench.run_operator("op_group_norm_half_half", groups));
  EXPECT_THAT(bench.refusal(), HasSubstr("divide"));
  operators::BroadcastParams repeated;
  EXPECT_FALSE(bench.run_operator("op_broadcast_largest_half_half", repeated));
  EXPECT_THAT(bench.refusal(), HasSubstr("not given"));
  repeated.axes = 1;
  EXPECT_TRUE(bench.run_operator("op_broadcast_largest_half_half", repeated));
  EXPECT_EQ(bench.launches(), 0U);
  operators::SoftmaxAxisParams softmax;
  EXPECT_TRUE(bench.run_operator("op_softmax_axis_half_half", softmax));
  EXPECT_EQ(bench.launches(), 0U);
  softmax.outer = softmax.axis = softmax.inner = 1U << 30;
  EXPECT_FALSE(bench.run_operator("op_softmax_axis_half_half", softmax));
  EXPECT_THAT(bench.refusal(), HasSubstr("below 2^44"));
}

}  // namespace
}  // namespace npu::test
