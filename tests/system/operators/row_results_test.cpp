// SPDX-License-Identifier: Apache-2.0
// swi_glu, add_rms_norm and operators that quantise rows: every type, rows that fit into UB and
// that do not, numbers that are none.
#include <gmock/gmock.h>

#include "tests/system/operators/bounded.hpp"
#include "tests/system/operators/result_memory.hpp"

namespace npu::test {
namespace {

constexpr double kRounding = 0x1p-24;

// A row of exact values that is to be `columns` int8 and a scale.
void expect_quantised(const std::vector<Bounded>& exact, const ResultMemory& to,
                      const ResultMemory& scales, std::uint64_t row) {
  double largest = 0, error = 0;
  for (const Bounded& value : exact) {
    largest = std::fmax(largest, std::fabs(value.value));
    error = std::fmax(error, value.error);
  }
  ASSERT_TRUE(near_enough(DataType::kFp32, scales.at(row), largest / 127,
                          error / 127 + 4 * kRounding * largest / 127))
      << "row " << row << " has scale " << scales.at(row) << ", exactly " << largest / 127;
  for (std::uint64_t c = 0; c < exact.size(); ++c) {
    const double wanted = largest == 0 ? 0 : exact[c].value * 127 / largest;
    const double found = to.at(row * exact.size() + c);
    const double off = largest == 0 ? 0 : 127 * (2 * error / largest + 8 * kRounding);
    ASSERT_LE(std::fabs(found - wanted), 0.5 + off)
        << "row " << row << ", column " << c << " of " << exact.size();
  }
}

struct ResultTypes {
  const char *from, *to;
};

class RowResults : public testing::TestWithParam<BenchCores> {
 protected:
  OperatorBench bench_{GetParam()};
  Dice dice_{GetParam() == BenchCores::kSplit ? 41U : 42U};
  // Multiples of 8, odd ones, few, and more than UB holds.
  std::uint32_t columns() {
    if (dice_() % 25 == 0) return number(dice_, 9000, 21'000);
    if (dice_() % 3 == 0) return 8 * number(dice_, 1, 300);
    return dice_() % 2 == 0 ? number(dice_, 1, 70) : number(dice_, 71, 2500);
  }
  std::uint32_t rows(std::uint32_t count) {
    return dice_() % 4 == 0 ? 1 : number(dice_, 1, std::max(3U, std::min(300U, 20'000 / count)));
  }
  Values values(DataType type, std::uint64_t rows, std::uint64_t columns, double size) {
    Values made = random_values(dice_, type, rows, columns);
    if (!is_real(type)) return made;
    for (double& value : made.elements) value = rounded(type, value * size);
    return made;
  }
  std::uint64_t place(const Values& x, DataType type) {
    return bench_.place(packed(x, "RowMajor", type, x.columns));
  }
  template <class Params>
  void run(const std::string& name, const std::string& from, const std::string& to,
           const Params& params) {
    ASSERT_TRUE(bench_.run_operator("op_" + name + "_" + from + "_" + to, params))
        << bench_.refusal();
  }

  void swi_glu(const ResultTypes& types) {
    bench_.forget();
    operators::SwiGluParams params;
    params.columns = columns(), params.rows = rows(params.columns);
    const Values x = values(type_named(types.from), params.rows, 2ULL * params.columns, 6);
    params.from = place(x, type_named(types.from));
    ResultMemory to(bench_, type_named(types.to), std::uint64_t{params.rows} * params.columns);
    params.to = to.address;
    run("swi_glu", types.from, types.to, params);
    to.fetch();
    for (std::uint64_t r = 0; r < params.rows && !HasFailure(); ++r) {
      for (std::uint64_t c = 0; c < params.columns; ++c) {
        const Bounded exact = silu(x.at(r, c)) * Bounded(x.at(r, params.columns + c));
        ASSERT_TRUE(near_enough(to.type(), to.at(r * params.columns + c), exact.value, exact.error))
            << "row " << r << ", column " << c << " of " << params.columns;
      }
    }
  }

  void dynamic_quant(const std::string& from) {
    bench_.forget();
    const DataType type = type_named(from);
    operators::DynamicQuantParams params;
    params.columns = columns(), params.rows = rows(params.columns);
    const Values x = values(type, params.rows, params.columns, 6);
    params.from = place(x, type);
    ResultMemory to(bench_, DataType::kInt8, std::uint64_t{params.rows} * params.columns);
    ResultMemory scales(bench_, DataType::kFp32, params.rows);
    params.to = to.address, params.scales = scales.address;
    run("dynamic_quant", from, "int8", params);
    to.fetch(), scales.fetch();
    for (std::uint64_t r = 0; r < params.rows && !HasFailure(); ++r) {
      const double* const row = &x.elements[r * params.columns];
      expect_quantised({row, row + params.columns}, to, scales, r);
    }
  }

  void add_rms_norm(const ResultTypes& types) {
    bench_.forget();
    const DataType type = type_named(types.from);
    operators::AddRmsNormParams params;
    params.columns = columns(), params.rows = rows(params.columns);
    params.epsilon = 1e-3F;
    const Values x1 = values(type, params.rows, params.columns, 4);
    const Values x2 = values(type, params.rows, params.columns, 4);
    Values gamma = values(type, 1, params.columns, 2);
    params.x1 = place(x1, type), params.x2 = place(x2, type);
    if (dice_() % 4 != 0) {
      params.gamma = place(gamma, type);
    } else {
      gamma.elements.assign(params.columns, 1);
    }
    const std::uint64_t count = std::uint64_t{params.rows} * params.columns;
    ResultMemory to(bench_, type_named(types.to), count), sum(bench_, type, count);
    ResultMemory scales(bench_, DataType::kFp32, params.rows);
    params.to = to.address, params.sum = sum.address, params.scales = scales.address;
    run("add_rms_norm", types.from, types.to, params);
    to.fetch(), sum.fetch(), scales.fetch();
    for (std::uint64_t r = 0; r < params.rows && !HasFailure(); ++r) {
      double squares = 0;
      for (std::uint64_t c = 0; c < params.columns; ++c) {
        const double exact = x1.at(r, c) + x2.at(r, c);
        squares += exact * exact;
        ASSERT_TRUE(
            near_enough(type, sum.at(r * params.columns + c), exact, kRounding * std::fabs(exact)));
      }
      const double root = std::sqrt(squares / params.columns + double{params.epsilon});
      std::vector<Bounded> exact;
      for (std::uint64_t c = 0; c < params.columns; ++c) {
        exact.emplace_back((x1.at(r, c) + x2.at(r, c)) / root * gamma.at(0, c), 0, 40);
      }
      if (to.type() == DataType::kInt8) {
        expect_quantised(exact, to, scales, r);
        continue;
      }
      for (std::uint64_t c = 0; c < params.columns; ++c) {
        // Rounded to the type are the sum, of which the root is, and in bf16 what gamma multiplies.
        const double times = type == DataType::kFp32 ? 0 : type == DataType::kFp16 ? 2 : 3;
        const double rounded = times * (unit(type) * std::fabs(exact[c].value) +
                                        smallest(type) * std::fabs(gamma.at(0, c)));
        ASSERT_TRUE(near_enough(to.type(), to.at(r * params.columns + c), exact[c].value,
                                exact[c].error + rounded))
            << "row " << r << ", column " << c << " of " << params.columns;
      }
    }
  }

  void dequant_swiglu_quant(const std::string& from) {
    bench_.forget();
    const DataType type = type_named(from);
    const bool integers = type == DataType::kInt32;
    operators::DequantSwigluQuantParams params;
    params.columns = columns(), params.rows = rows(params.columns);
    params.activate_left = dice_() % 2 == 0 ? 1 : 0;
    const std::uint32_t wide = 2 * params.columns;
    const Values x = values(type, params.rows, wide, 4);
    Values weights(1, wide), tokens(1, params.rows), quants(1, params.columns);
    const auto table = [&](Values& numbers, double size, bool given) -> std::uint64_t {
      numbers.elements.assign(numbers.columns, 1);
      if (!given) return 0;
      numbers = values(DataType::kFp32, 1, numbers.columns, size);
      return place(numbers, DataType::kFp32);
    };
    params.from = place(x, type);
    params.weight_scales = table(weights, 1e-3, integers);
    params.activation_scales = table(tokens, 1, integers && dice_() % 4 != 0);
    params.quant_scales = table(quants, 3, dice_() % 2 == 0);
    ResultMemory to(bench_, DataType::kInt8, std::uint64_t{params.rows} * params.columns);
    ResultMemory scales(bench_, DataType::kFp32, params.rows);
    params.to = to.address, params.scales = scales.address;
    run("dequant_swiglu_quant", from, "int8", params);
    to.fetch(), scales.fetch();
    for (std::uint64_t r = 0; r < params.rows && !HasFailure(); ++r) {
      const auto real = [&](std::uint64_t c) {
        return Bounded(x.at(r, c)) * Bounded(weights.at(0, c)) * Bounded(tokens.at(0, r));
      };
      std::vector<Bounded> exact;
      for (std::uint64_t c = 0; c < params.columns; ++c) {
        const bool left = params.activate_left != 0;
        const std::uint64_t a = left ? c : c + params.columns, b = left ? c + params.columns : c;
        exact.push_back(silu(real(a)) * real(b) * Bounded(quants.at(0, c)));
      }
      expect_quantised(exact, to, scales, r);
    }
  }
};

TEST_P(RowResults, SwiGluAtRandom) {
  constexpr ResultTypes kTypes[] = {
      {"half", "half"}, {"bfloat16", "bfloat16"}, {"float", "float"}, {"half", "float"}};
  for (unsigned i = 0; i < shapes_at_random(); ++i) {
    swi_glu(kTypes[i % 4]);
    if (HasFailure()) FAIL() << "shape " << i;
  }
}

TEST_P(RowResults, DynamicQuantAtRandom) {
  const std::string types[] = {"half", "bfloat16", "float"};
  for (unsigned i = 0; i < shapes_at_random(); ++i) {
    dynamic_quant(types[i % 3]);
    if (HasFailure()) FAIL() << "shape " << i;
  }
}

TEST_P(RowResults, AddRmsNormAtRandom) {
  constexpr ResultTypes kTypes[] = {{"half", "half"}, {"bfloat16", "int8"},     {"float", "float"},
                                    {"half", "int8"}, {"bfloat16", "bfloat16"}, {"float", "int8"}};
  for (unsigned i = 0; i < shapes_at_random(); ++i) {
    add_rms_norm(kTypes[i % 6]);
    if (HasFailure()) FAIL() << "shape " << i;
  }
}

TEST_P(RowResults, DequantSwigluQuantAtRandom) {
  const std::string types[] = {"int32", "half", "int32", "bfloat16", "float"};
  for (unsigned i = 0; i < shapes_at_random(); ++i) {
    dequant_swiglu_quant(types[i % 5]);
    if (HasFailure()) FAIL() << "shape " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Cores, RowResults,
                         testing::Values(BenchCores::kCoupled, BenchCores::kSplit,
                                         BenchCores::kInRegisters),
                         [](const auto& instance) { return name_of(instance.param); });

// Several rows at a time, one after the other, in parts. Rows beside them are as without them.
class RowResultNumbers : public testing::TestWithParam<BenchCores> {};
INSTANTIATE_TEST_SUITE_P(Cores, RowResultNumbers,
                         testing::Values(BenchCores::kCoupled, BenchCores::kInRegisters),
                         [](const auto& instance) { return name_of(instance.param); });

TEST_P(RowResultNumbers, ThatAreNoneBecomeZeros) {
  OperatorBench bench(GetParam());
  for (const std::uint32_t columns : {128U, 129U, 30'001U}) {
    bench.forget();
    Values x(5, columns);
    x.elements.assign(x.elements.size(), 1);
    x.at(0, 77) = std::nan("");
    x.at(1, 78) = -HUGE_VAL;
    for (std::uint32_t c = 0; c < columns; ++c) x.at(2, c) = 0;
    x.at(3, 99) = -4;
    operators::DynamicQuantParams params;
    params.rows = 5, params.columns = columns;
    params.from = bench.place(packed(x, "RowMajor", DataType::kFp32, columns));
    ResultMemory to(bench, DataType::kInt8, 5ULL * columns), scales(bench, DataType::kFp32, 5);
    params.to = to.address, params.scales = scales.address;
    ASSERT_TRUE(bench.run_operator("op_dynamic_quant_float_int8", params));
    to.fetch(), scales.fetch();
    EXPECT_TRUE(std::isnan(scales.at(0)));
    EXPECT_EQ(scales.at(1), HUGE_VAL);
    EXPECT_EQ(scales.at(2), 0);
    EXPECT_FLOAT_EQ(static_cast<float>(scales.at(3)), 4.0F / 127);
    for (std::uint64_t c = 0; c < columns; ++c) {
      for (const std::uint64_t row : {0U, 1U, 2U}) ASSERT_EQ(to.at(row * columns + c), 0) << row;
      ASSERT_EQ(to.at(3ULL * columns + c), c == 99 ? -127 : 32);
      ASSERT_EQ(to.at(4ULL * columns + c), 127);
    }
  }
}

TEST(RowResultRefusals, SayWhatCannotBe) {
  OperatorBench bench;
  using testing::HasSubstr;
  operators::DynamicQuantParams quant;
  EXPECT_TRUE(bench.run_operator("op_dynamic_quant_half_int8", quant));
  EXPECT_EQ(bench.launches(), 0U);
  quant.rows = 4;
  EXPECT_FALSE(bench.run_operator("op_dynamic_quant_half_int8", quant));
  EXPECT_THAT(bench.refusal(), HasSubstr("without elements has no scale"));
  operators::SwiGluParams glu;
  glu.rows = 4, glu.columns = 1U << 30;
  EXPECT_FALSE(bench.run_operator("op_swi_glu_half_half", glu));
  EXPECT_THAT(bench.refusal(), HasSubstr("below 2^30"));
  operators::DequantSwigluQuantParams both;
  both.rows = both.columns = 4, both.weight_scales = 0x1000;
  EXPECT_FALSE(bench.run_operator("op_dequant_swiglu_quant_half_int8", both));
  EXPECT_THAT(bench.refusal(), HasSubstr("only int32"));
}

}  // namespace
}  // namespace npu::test
