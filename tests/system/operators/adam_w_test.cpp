// SPDX-License-Identifier: Apache-2.0
// Steps of AdamW in every type; fp16 is computed in fp16, operation by operation.
#include <gmock/gmock.h>

#include "tests/system/operators/result_memory.hpp"

namespace npu::test {
namespace {

struct Numbers {
  double power1, power2, rate, decay, beta1, beta2, epsilon;
  bool maximize;
};
struct Parameter {
  double variable, m, v, gradient;
};

// As the unit computes it, each operation rounded.
Parameter after(const Parameter& x, const Numbers& n, DataType type) {
  const auto r = [type](double value) { return rounded(type, value); };
  const double g = r(x.gradient * (n.maximize ? -1 : 1));
  const double rest1 = r(1 - n.beta1), rest2 = r(1 - n.beta2);
  const double m = r(r(x.m * n.beta1) + r(g * rest1));
  const double v = r(r(x.v * n.beta2) + r(r(x.gradient * x.gradient) * rest2));
  const double bias1 = r(1 - r(n.power1 * n.beta1)), bias2 = r(1 - r(n.power2 * n.beta2));
  const double root = r(r(r(std::sqrt(v)) / r(std::sqrt(bias2))) + n.epsilon);
  const double step = r(r(r(n.rate / bias1) * m) / root);
  const double kept = r(x.variable - r(x.variable * r(n.rate * n.decay)));
  return {r(kept - step), m, v, x.gradient};
}

class AdamW : public testing::TestWithParam<model::ProgramCoreKind> {
 protected:
  OperatorBench bench_{GetParam()};
  Dice dice_{GetParam() == model::ProgramCoreKind::kSplit ? 61U : 62U};

  std::uint64_t number_at(DataType type, double value) {
    std::vector<unsigned char> bytes(platform::bytes_of(type));
    put_element(bytes, 0, type, value);
    return bench_.place(bytes);
  }
  Numbers numbers(DataType type) {
    const auto pick = [&](std::initializer_list<double> values) {
      return rounded(type, values.begin()[dice_() % values.size()]);
    };
    return {pick({0.5, 0.9, 0}), pick({0.75, 0.999, 0}), pick({1e-3, 0.1, 0}),  pick({0, 0.1, 0.5}),
            pick({0.9, 0.5, 0}), pick({0.99, 0.5, 0.9}), pick({1e-3, 1e-2, 0}), dice_() % 2 == 0};
  }

  void step(const std::string& name) {
    bench_.forget();
    const DataType type = type_named(name);
    const Numbers n = numbers(type);
    const std::uint32_t count = dice_() % 4 == 0 ? number(dice_, 1, 9) : number(dice_, 10, 20'000);
    Values x[4] = {{1, count}, {1, count}, {1, count}, {1, count}};
    for (Values& values : x) values = random_values(dice_, type, 1, count);
    // Of no size that rounds to nothing: what is divided by it would be no number here and there.
    for (double& v : x[2].elements) v = rounded(type, std::fabs(v) + 0.01);
    operators::AdamWParams params;
    params.count = count, params.maximize = n.maximize ? 1 : 0;
    std::uint64_t* const tensors[] = {&params.variable, &params.m, &params.v, &params.gradient};
    for (unsigned k = 0; k < 4; ++k) {
      auto bytes = packed(x[k], "RowMajor", type, count);
      bytes.resize(bytes.size() + 64, 0xA5);
      *tensors[k] = bench_.place(bytes);
    }
    params.beta1_power = number_at(type, n.power1), params.beta2_power = number_at(type, n.power2);
    params.rate = number_at(type, n.rate), params.decay = number_at(type, n.decay);
    params.beta1 = number_at(type, n.beta1), params.beta2 = number_at(type, n.beta2);
    params.epsilon = number_at(type, n.epsilon);
    ASSERT_TRUE(bench_.run_operator("op_apply_adam_w_" + name + "_" + name, params))
        << bench_.refusal();
    std::vector<unsigned char> found[3];
    for (unsigned k = 0; k < 3; ++k) {
      found[k] = bench_.fetch(*tensors[k], count * platform::bytes_of(type) + 64);
      for (unsigned i = 0; i < 64; ++i) ASSERT_EQ(found[k][found[k].size() - 1 - i], 0xA5);
    }
    const DataType computed = type == DataType::kFp16 ? type : DataType::kFp32;
    for (std::uint64_t i = 0; i < count; ++i) {
      const Parameter exact = after(
          {x[0].elements[i], x[1].elements[i], x[2].elements[i], x[3].elements[i]}, n, computed);
      const double wanted[] = {exact.variable, exact.m, exact.v};
      for (unsigned k = 0; k < 3; ++k) {
        ASSERT_EQ(get_element(found[k], i, type), rounded(type, wanted[k]))
            << "tensor " << k << ", element " << i << " of " << count;
      }
    }
  }
};

TEST_P(AdamW, StepsAtRandom) {
  const std::string types[] = {"half", "bfloat16", "float"};
  for (unsigned i = 0; i < shapes_at_random(); ++i) {
    step(types[i % 3]);
    if (HasFailure()) FAIL() << "step " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Cores, AdamW, every_kind(), kind_name);

TEST(AdamWRefusals, SayWhatIsMissing) {
  OperatorBench bench;
  operators::AdamWParams params;
  EXPECT_TRUE(bench.run_operator("op_apply_adam_w_half_half", params));
  EXPECT_EQ(bench.launches(), 0U);
  params.count = 1;
  EXPECT_FALSE(bench.run_operator("op_apply_adam_w_half_half", params));
  EXPECT_THAT(bench.refusal(), testing::HasSubstr("must be given"));
}

}  // namespace
}  // namespace npu::test
