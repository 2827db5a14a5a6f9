// SPDX-License-Identifier: Apache-2.0
// Expressions: every type, lengths around tiles and blocks, numbers that are none.
#include <gmock/gmock.h>

#include <functional>

#include "tests/system/operators/bounded.hpp"
#include "tests/system/operators/matrices.hpp"

namespace npu::test {
namespace {

using operators::VectorParams;

struct At {
  Bounded a, b, c, d, s, s1;
};
struct Formula {
  const char* name;  // tests/system/operators/CMakeLists.txt has it as an expression
  std::function<Bounded(const At&)> exact;
};

const std::vector<Formula>& formulas() {
  static const std::vector<Formula> kAll{
      {"sum", [](const At& x) { return x.a + x.b; }},
      {"mixed", [](const At& x) { return x.a * x.b + x.c * x.s - x.d; }},
      {"quotient", [](const At& x) { return max(x.a, x.b) / (abs(x.c) + x.s1); }},
      {"choice", [](const At& x) { return x.a.value < x.b.value ? exp(x.a) : ln(abs(x.b) + 1.0); }},
      {"roots",
       [](const At& x) {
         return sqrt(abs(x.a)) * rsqrt(x.b * x.b + 1.0) + reciprocal(x.c * x.c + 2.0);
       }},
      {"activations", [](const At& x) { return min(silu(x.a), relu(x.b)) - sigmoid(x.a * 4.0); }},
      {"gelu",
       [](const At& x) {
         // By its definition with tanh, whose two forms are one.
         const double inner =
             std::sqrt(2 / std::acos(-1.0)) * (x.a.value + 0.044715 * std::pow(x.a.value, 3));
         return Bounded(0.5 * x.a.value * (1 + std::tanh(inner)), 0, 40);
       }},
      {"mish",
       [](const At& x) {
         return Bounded(x.a.value * std::tanh(std::log1p(std::exp(x.a.value))), 0, 40);
       }},
      {"kept",  // constants in registers and beside them
       [](const At& x) {
         const Bounded first = x.a.value > 0 ? Bounded(1.0) / (x.b * x.b + 1.0) : x.s;
         return first + (0 < x.b.value ? Bounded(2.0) : x.a);
       }},
      {"constant", [](const At& x) { return x.s + x.s1 * 2.0; }},
      {"copy", [](const At& x) { return x.a; }},
  };
  return kAll;
}

struct Objects {
  std::string formula, from, to;
  std::string object() const { return "op_elementwise_" + formula + "_" + from + "_" + to; }
};
std::vector<Objects> real_objects() {
  std::vector<Objects> all;
  for (const auto& formula : formulas()) {
    for (const auto* const type : {"half", "float"}) all.push_back({formula.name, type, type});
  }
  for (const auto* const name : {"sum", "mixed", "quotient", "copy"}) {
    all.push_back({name, "bfloat16", "bfloat16"});
  }
  all.push_back({"copy", "half", "float"});
  all.push_back({"copy", "float", "half"});
  return all;
}
const Formula& formula_of(const Objects& objects) {
  return *std::find_if(formulas().begin(), formulas().end(),
                       [&](const Formula& f) { return f.name == objects.formula; });
}

class Elementwise {
 public:
  Elementwise(OperatorBench& bench, const Objects& objects, Dice& dice, std::uint64_t count)
      : bench_(bench), objects_(objects), count_(count) {
    for (unsigned i = 0; i < 4; ++i) inputs.push_back(random_values(dice, from(), 1, count));
    params.count = count;
    params.scalars[0] = 0.625F;
    params.scalars[1] = 1.5F;
  }
  DataType from() const { return type_named(objects_.from); }
  DataType to() const { return type_named(objects_.to); }

  void run(std::uint32_t cores = 0) {
    bench_.forget();
    for (unsigned i = 0; i < 4; ++i) {
      params.inputs[i] = bench_.place(packed(inputs[i], "RowMajor", from(), count_));
    }
    const std::vector<unsigned char> before((count_ + 8) * platform::bytes_of(to()), 0xA5);
    params.to = bench_.place(before);
    ASSERT_TRUE(bench_.run_operator(objects_.object(), params, cores)) << bench_.refusal();
    after_ = bench_.fetch(params.to, before.size());
    const std::uint64_t end = count_ * platform::bytes_of(to());
    EXPECT_TRUE(std::equal(after_.begin() + static_cast<std::ptrdiff_t>(end), after_.end(),
                           before.begin()));
  }
  double result(std::uint64_t i) const { return get_element(after_, i, to()); }
  At at(std::uint64_t i) const {
    const auto input = [&](unsigned k) { return inputs[k].at(0, i); };
    return {input(0), input(1), input(2), input(3), params.scalars[0], params.scalars[1]};
  }
  void expect_formula() const {
    for (std::uint64_t i = 0; i < count_; ++i) {
      const Bounded exact = formula_of(objects_).exact(at(i));
      ASSERT_TRUE(near_enough(to(), result(i), exact.value, exact.error))
          << objects_.object() << ": element " << i << " of " << count_ << " is " << result(i)
          << ", exactly " << exact.value;
    }
  }
  VectorParams params;
  std::vector<Values> inputs;

 private:
  OperatorBench& bench_;
  const Objects objects_;
  const std::uint64_t count_;
  std::vector<unsigned char> after_;
};

class ElementwiseOnCores : public testing::TestWithParam<BenchCores> {};

TEST_P(ElementwiseOnCores, IsTheFormulaAtRandom) {
  OperatorBench bench(GetParam());
  Dice dice(GetParam() == BenchCores::kSplit ? 21 : 22);
  const auto objects = real_objects();
  for (unsigned i = 0; i < shapes_at_random(); ++i) {
    const auto count = dice() % 6 == 0 ? number(dice, 10'000, 40'000) : number(dice, 1, 3000);
    Elementwise one(bench, objects[i % objects.size()], dice, count);
    one.run(number(dice, 0, 5));
    one.expect_formula();
    if (HasFailure()) FAIL() << "shape " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Cores, ElementwiseOnCores,
                         testing::Values(BenchCores::kCoupled, BenchCores::kSplit,
                                         BenchCores::kInRegisters),
                         [](const auto& each) { return name_of(each.param); });

TEST(ElementwiseNumbers, ThatAreNoneAreKeptByEachInstruction) {
  OperatorBench bench;
  Dice dice(23);
  const double none = std::nan("");
  for (const auto* const type : {"half", "bfloat16", "float"}) {
    for (const auto* const name : {"sum", "quotient", "copy"}) {
      Elementwise one(bench, {name, type, type}, dice, 6);
      one.inputs[0].elements = {none, 1, HUGE_VAL, -HUGE_VAL, HUGE_VAL, 0};
      one.inputs[1].elements = {1, none, 1, 1, -HUGE_VAL, -0.0};
      one.run();
      one.expect_formula();
    }
  }
}

TEST(ElementwiseIntegers, AreComputedInInt32AndEndAtTheirEnds) {
  OperatorBench bench;
  Dice dice(24);
  const auto exact = [](const At& x) {
    return std::max(x.a.value * x.b.value + x.c.value, -3.0) - std::fabs(x.d.value);
  };
  const std::pair<const char*, const char*> types[] = {
      {"int8", "int8"}, {"int8", "int32"}, {"int32", "int32"}};
  for (const auto& [from, to] : types) {
    Elementwise one(bench, {"integers", from, to}, dice, 3001);
    one.run();
    for (std::uint64_t i = 0; i < 3001; ++i) {
      ASSERT_EQ(one.result(i), rounded(one.to(), exact(one.at(i))))
          << from << " " << to << " " << i;
    }
  }
}

TEST(ElementwiseIntegers, OfInt64HaveALargerAndASmallerOne) {
  OperatorBench bench;
  Dice dice(25);
  Elementwise one(bench, {"largest", "int64", "int64"}, dice, 1000);
  for (unsigned k = 0; k < 3; ++k) one.inputs[k].elements[7] = k == 1 ? 0x1p52 : -0x1p52;
  one.run();
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const At x = one.at(i);
    ASSERT_EQ(one.result(i), std::min(std::max(x.a.value, x.b.value), x.c.value)) << i;
  }
}

TEST(ElementwiseRefusals, SayWhatCannotBe) {
  OperatorBench bench;
  VectorParams params;
  EXPECT_TRUE(bench.run_operator("op_elementwise_sum_half_half", params)) << "nothing is nothing";
  EXPECT_EQ(bench.launches(), 0U);
  params.count = std::uint64_t{1} << 45;
  EXPECT_FALSE(bench.run_operator("op_elementwise_sum_half_half", params));
  EXPECT_THAT(bench.refusal(), testing::HasSubstr("2^44"));
  params.count = 1;
  EXPECT_FALSE(bench.run_operator("op_elementwise_sum_half_half", params));
  EXPECT_THAT(bench.refusal(), testing::HasSubstr("not given"));
  for (auto& input : params.inputs) input = 2;
  params.inputs[1] = 1;
  EXPECT_FALSE(bench.run_operator("op_elementwise_sum_half_half", params));
  EXPECT_THAT(bench.refusal(), testing::HasSubstr("multiples"));
  params.inputs[1] = 2;
  bench.limits({0, 0, 0, 0, 4_KiB, 0});
  EXPECT_FALSE(bench.run_operator("op_elementwise_sum_half_half", params));
  EXPECT_THAT(bench.refusal(), testing::HasSubstr("UB"));
}

}  // namespace
}  // namespace npu::test
