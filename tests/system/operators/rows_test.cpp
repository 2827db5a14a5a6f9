// SPDX-License-Identifier: Apache-2.0
// softmax, rms_norm and gemv: every type, rows that fit into UB and that do not, numbers that are
// none.
#include <gmock/gmock.h>

#include "tests/system/operators/matrices.hpp"

namespace npu::test {
namespace {

constexpr double kUnit = 0x1p-24;

struct RowTypes {
  const char *from, *to;
};
constexpr RowTypes kRowTypes[] = {
    {"half", "half"}, {"bfloat16", "bfloat16"}, {"float", "float"}, {"half", "float"}};

// A matrix of rows through an operator, with gaps between rows.
class RowsCase {
 public:
  RowsCase(OperatorBench& bench, const RowTypes& types, Dice& dice, std::uint32_t rows,
           std::uint32_t columns, std::uint32_t gap)
      : bench_(bench), types_(types), gap_(gap), x(random_values(dice, from(), rows, columns)) {
    for (double& value : x.elements) value = rounded(from(), value * 6);
  }
  DataType from() const { return type_named(types_.from); }
  DataType to() const { return type_named(types_.to); }

  template <class Params>
  void run(const std::string& name, Params& params) {
    params.rows = static_cast<std::uint32_t>(x.rows);
    params.columns = static_cast<std::uint32_t>(x.columns);
    if (gap_ != 0) params.from_pitch = params.to_pitch = pitch();
    params.from = bench_.place(packed(x, "RowMajor", from(), pitch()));
    const std::vector<unsigned char> before((x.rows * pitch() + 8) * platform::bytes_of(to()),
                                            0xA5);
    params.to = bench_.place(before);
    ASSERT_TRUE(bench_.run_operator("op_" + name + "_" + types_.from + "_" + types_.to, params))
        << bench_.refusal();
    after_ = bench_.fetch(params.to, before.size());
    const std::uint64_t bytes = platform::bytes_of(to());
    for (std::uint64_t i = 0; i < after_.size() / bytes; ++i) {
      if (i < x.rows * pitch() && i % pitch() < x.columns) continue;
      ASSERT_EQ(std::memcmp(&after_[i * bytes], &before[i * bytes], bytes), 0) << "element " << i;
    }
  }
  double result(std::uint64_t row, std::uint64_t column) const {
    return get_element(after_, row * pitch() + column, to());
  }
  std::uint64_t pitch() const { return x.columns + gap_; }

 private:
  OperatorBench& bench_;
  const RowTypes types_;
  const std::uint32_t gap_;
  std::vector<unsigned char> after_;

 public:
  Values x;
};

void expect_softmax(const RowsCase& one) {
  for (std::uint64_t r = 0; r < one.x.rows; ++r) {
    double most = -HUGE_VAL, least = HUGE_VAL, sum = 0;
    for (std::uint64_t c = 0; c < one.x.columns; ++c) {
      most = std::fmax(most, one.x.at(r, c));
      if (std::isfinite(one.x.at(r, c))) least = std::fmin(least, one.x.at(r, c));
    }
    for (std::uint64_t c = 0; c < one.x.columns; ++c) sum += std::exp(one.x.at(r, c) - most);
    // Differences, exponentials, the sum, a quotient; each also when parts are brought together.
    const double relative =
        (4 * std::fmin(most - least, 100) + 2 * static_cast<double>(one.x.columns) + 20) * kUnit;
    for (std::uint64_t c = 0; c < one.x.columns; ++c) {
      const double exact = std::exp(one.x.at(r, c) - most) / sum;
      ASSERT_TRUE(near_enough(one.to(), one.result(r, c), exact, relative * exact + 0x1p-140))
          << "row " << r << ", column " << c << " of " << one.x.columns << " is "
          << one.result(r, c) << ", exactly " << exact;
    }
  }
}

class RowOperators : public testing::TestWithParam<BenchCores> {
 protected:
  OperatorBench bench_{GetParam()};
  Dice dice_{GetParam() == BenchCores::kSplit ? 31U : 32U};
  std::uint32_t columns() {
    if (dice_() % 20 == 0) return number(dice_, 5000, 11'000);  // not in UB
    return dice_() % 2 == 0 ? number(dice_, 1, 70) : number(dice_, 71, 1500);
  }
  std::uint32_t rows(std::uint32_t count) {
    return number(dice_, 1, std::max(3U, std::min(200U, 20'000 / count)));
  }
};

TEST_P(RowOperators, SoftmaxAtRandom) {
  for (unsigned i = 0; i < shapes_at_random(); ++i) {
    bench_.forget();
    const std::uint32_t count = columns();
    RowsCase one(bench_, kRowTypes[i % 4], dice_, rows(count), count,
                 dice_() % 2 == 0 ? 0 : number(dice_, 1, 9));
    operators::SoftmaxParams params;
    one.run("softmax", params);
    expect_softmax(one);
    if (HasFailure()) FAIL() << "shape " << i;
  }
}

// Some of more rows than UB holds columns of.
TEST_P(RowOperators, SoftmaxOfFewColumns) {
  for (std::uint32_t count = 1; count <= 16; ++count) {
    bench_.forget();
    RowsCase one(bench_, kRowTypes[count % 4], dice_, number(dice_, 1, 20'000 / count), count, 0);
    operators::SoftmaxParams params;
    one.run("softmax", params);
    expect_softmax(one);
    if (HasFailure()) FAIL() << count << " columns";
  }
}

TEST_P(RowOperators, RmsNormAtRandom) {
  for (unsigned i = 0; i < shapes_at_random(); ++i) {
    bench_.forget();
    const std::uint32_t count = columns();
    RowsCase one(bench_, kRowTypes[i % 4], dice_, rows(count), count,
                 dice_() % 2 == 0 ? 0 : number(dice_, 1, 9));
    operators::RmsNormParams params;
    params.epsilon = 1e-3F;
    Values gamma = random_values(dice_, one.from(), 1, count);
    if (dice_() % 3 != 0) {
      params.gamma = bench_.place(packed(gamma, "RowMajor", one.from(), count));
    } else {
      gamma.elements.assign(count, 1);
    }
    one.run("rms_norm", params);
    for (std::uint64_t r = 0; r < one.x.rows; ++r) {
      double squares = 0;
      for (std::uint64_t c = 0; c < count; ++c) squares += one.x.at(r, c) * one.x.at(r, c);
      const double root = std::sqrt(squares / count + static_cast<double>(params.epsilon));
      for (std::uint64_t c = 0; c < count; ++c) {
        const double exact = one.x.at(r, c) / root * gamma.at(0, c);
        ASSERT_TRUE(near_enough(one.to(), one.result(r, c), exact,
                                (count + 10.0) * kUnit * std::fabs(exact)))
            << "row " << r << ", column " << c << " of " << count << " is " << one.result(r, c)
            << ", exactly " << exact;
      }
    }
    if (HasFailure()) FAIL() << "shape " << i;
  }
}

struct GemvTypes {
  const char *from, *to;
};

TEST_P(RowOperators, GemvAtRandom) {
  const GemvTypes types[] = {{"half", "half"},  {"float", "float"}, {"bfloat16", "bfloat16"},
                             {"half", "float"}, {"int8", "int32"},  {"int32", "int32"}};
  const std::string layouts[] = {"RowMajor", "ColumnMajor", "zN", "nZ"};
  for (unsigned i = 0; i < shapes_at_random(); ++i) {
    bench_.forget();
    const GemvTypes& type = types[i % 6];
    const std::string& layout = layouts[i / 6 % 4];
    const DataType from = type_named(type.from), to = type_named(type.to);
    const std::uint32_t m = number(dice_, 1, dice_() % 2 == 0 ? 40 : 700);
    const std::uint32_t k = dice_() % 15 == 0 ? 0 : number(dice_, 1, dice_() % 2 == 0 ? 40 : 900);
    const std::uint32_t gap =
        layout[0] == 'z' || layout[0] == 'n' || dice_() % 2 == 0 ? 0 : number(dice_, 1, 9);
    const Values a = random_values(dice_, from, m, k), x = random_values(dice_, from, k, 1);
    operators::GemvParams params;
    params.m = m, params.k = k;
    const std::uint64_t line = (layout == "ColumnMajor" ? m : k) + gap;
    params.lda = gap == 0 ? 0 : line;
    params.a = bench_.place(packed(a, layout, from, line));
    params.x = bench_.place(packed(x, "RowMajor", from, 1));
    const std::vector<unsigned char> before((m + 8) * platform::bytes_of(to), 0xA5);
    params.y = bench_.place(before);
    const std::string object = std::string("op_gemv_") + type.from + "_" + type.to + "_" + layout;
    ASSERT_TRUE(bench_.run_operator(object, params)) << bench_.refusal();
    const auto after = bench_.fetch(params.y, before.size());
    for (std::uint32_t r = 0; r < m; ++r) {
      const Exact exact = exact_element(a, x, r, 0, 0, k);
      const double found = get_element(after, r, to);
      if (is_real(from)) {
        ASSERT_TRUE(near_enough(to, found, exact.sum, error_of_sums(exact.size, k + 2)))
            << object << " " << m << " x " << k << ": " << r << " is " << found << ", exactly "
            << exact.sum;
      } else {
        const auto wrapped = static_cast<std::int32_t>(
            static_cast<std::uint32_t>(static_cast<std::int64_t>(exact.sum)));
        ASSERT_EQ(found, wrapped) << object << " " << m << " x " << k << ": " << r;
      }
    }
    EXPECT_TRUE(std::equal(after.begin() + static_cast<std::ptrdiff_t>(m * platform::bytes_of(to)),
                           after.end(), before.begin()));
    if (HasFailure()) FAIL() << "shape " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Cores, RowOperators,
                         testing::Values(BenchCores::kCoupled, BenchCores::kSplit,
                                         BenchCores::kInRegisters),
                         [](const auto& each) { return name_of(each.param); });

// In rows that fit into UB and in one that does not, whose first part is infinitely small.
TEST(RowNumbers, ThatAreNoneAreNumPys) {
  OperatorBench bench;
  Dice dice(33);
  for (const std::uint32_t columns : {7U, 9000U}) {
    RowsCase one(bench, {"float", "float"}, dice, 5, columns, 0);
    one.x.at(0, 3) = std::nan("");
    one.x.at(1, 2) = HUGE_VAL;
    one.x.at(2, 1) = -HUGE_VAL;
    for (std::uint32_t c = 0; c < columns; ++c) {
      one.x.at(3, c) = -HUGE_VAL;
      if (c + 1 < columns) one.x.at(4, c) = -HUGE_VAL;
    }
    operators::SoftmaxParams params;
    one.run("softmax", params);
    for (std::uint32_t c = 0; c < columns; ++c) {
      for (const std::uint32_t row : {0U, 1U, 3U})
        ASSERT_TRUE(std::isnan(one.result(row, c))) << row;
      ASSERT_EQ(one.result(4, c), c + 1 == columns ? 1 : 0);
    }
    EXPECT_EQ(one.result(2, 1), 0);
    EXPECT_GT(one.result(2, 0), 0);
  }
}

TEST(RowRefusals, SayWhatCannotBe) {
  OperatorBench bench;
  using testing::HasSubstr;
  operators::SoftmaxParams softmax;
  EXPECT_TRUE(bench.run_operator("op_softmax_half_half", softmax));
  EXPECT_EQ(bench.launches(), 0U);
  softmax.rows = softmax.columns = 4;
  softmax.to_pitch = 3;
  EXPECT_FALSE(bench.run_operator("op_softmax_half_half", softmax));
  EXPECT_THAT(bench.refusal(), HasSubstr("to_pitch"));
  operators::GemvParams gemv;
  gemv.m = gemv.k = 4, gemv.lda = 4;
  EXPECT_FALSE(bench.run_operator("op_gemv_half_half_zN", gemv));
  EXPECT_THAT(bench.refusal(), HasSubstr("lda"));
}

}  // namespace
}  // namespace npu::test
