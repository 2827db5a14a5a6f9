// SPDX-License-Identifier: Apache-2.0
// Operators launched by themselves: every element compared by the workload, on every kind of card.
#include "tests/system/runtime/runtime_card.hpp"

namespace npu::test {
namespace {

using OperatorCase = std::tuple<const char*, const char*, std::uint64_t>;

class OperatorOnCard : public testing::TestWithParam<OperatorCase> {};

// The workload fails if an element is not what it should be.
TEST_P(OperatorOnCard, EveryElementIsRight) {
  const auto& [config, op, elements] = GetParam();
  Machine machine({}, std::string(config) + ".yaml");
  for (const auto* type : {"fp16", "bf16", "fp32"}) {
    const auto report =
        machine.workload("vector_operator", {std::string("op=") + op, std::string("type=") + type,
                                             "elements=" + std::to_string(elements)});
    // A launch and its report take 0.7 us at least (hardware.md H42, H43, H45: 0.15 + 0.05 + 0.5).
    EXPECT_GT(metric(report, "operator.duration_us"), 0.7);
    EXPECT_GT(metric(report, "operator.wall_us"), metric(report, "operator.duration_us") + 0.5);
    EXPECT_GT(metric(report, "operator.start_us"), 0.2);
    EXPECT_LT(metric(report, "operator.start_us"), metric(report, "operator.duration_us") - 0.5);
  }
}

INSTANTIATE_TEST_SUITE_P(Cards, OperatorOnCard,
                         testing::Combine(testing::Values("910b", "910b2", "950pr"),
                                          testing::Values("sigmoid", "gelu", "mish", "exp",
                                                          "maximum"),
                                          testing::Values(1, 257, 100'003)),
                         [](const auto& instance) {
                           return std::string(std::get<0>(instance.param)) + "_" +
                                  std::get<1>(instance.param) + "_" +
                                  std::to_string(std::get<2>(instance.param));
                         });

// Configuration and its vector or coupled cores (hardware.md H1, configs/).
class OperatorCores : public testing::TestWithParam<std::pair<const char*, int>> {};

TEST_P(OperatorCores, AreAllUsed) {
  const auto& [config, cores] = GetParam();
  Machine machine({}, std::string(config) + ".yaml");
  const auto report = machine.workload("vector_operator", {"elements=100000"});
  EXPECT_EQ(exact(report, "operator.blocks"), cores);
}

INSTANTIATE_TEST_SUITE_P(Cards, OperatorCores,
                         testing::Values(std::pair{"910b2", 48}, std::pair{"910b", 64},
                                         std::pair{"950pr", 64}),
                         [](const auto& instance) { return std::string(instance.param.first); });

TEST(OperatorRun, IntegersHaveAMaximum) {
  Machine machine({}, "910b2.yaml");
  machine.workload("vector_operator", {"op=maximum", "type=int64", "elements=10007"});
  machine.workload("vector_operator", {"op=maximum", "type=int32", "elements=10007"});
}

// Of 64 MiB, 24 for each tensor: there is no third one.
TEST(OperatorRun, OfOneOperandNeedsRoomForTwoTensors) {
  Machine machine({"core.functional=off", "hbm.usable_mib=64", "hbm.installed_mib=2048"},
                  "910b2.yaml");
  const auto report = machine.workload("vector_operator", {"op=exp", "elements=12582912"});
  EXPECT_EQ(exact(report, "operator.blocks"), 48);
}

// hardware.md H42, kernel-times.md K28: 241 clocks per 64 elements at 1.8 GHz on 48 cores, and a
// launch.
TEST(OperatorRun, AMaximumOfInt64IsBoundByItsEmulation) {
  Machine machine({}, "910b2.yaml");
  const auto report =
      machine.workload("vector_operator", {"op=maximum", "type=int64", "elements=3145728"});
  const double computing = 3'145'728.0 / 64 / 48 * 241 / 1800;
  EXPECT_GT(metric(report, "operator.duration_us"), computing);
  EXPECT_LT(metric(report, "operator.duration_us"), 1.1 * computing);
}

}  // namespace
}  // namespace npu::test
