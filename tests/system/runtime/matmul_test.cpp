// SPDX-License-Identifier: Apache-2.0
// Products of matrices on simulated cards: every element against plain arithmetic.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/system/support/machine.hpp"

namespace npu::test {
namespace {

using reports::Report;

struct Shape {
  unsigned m, n, k;
};
std::vector<std::string> parameters(const Shape& shape, const std::string& type) {
  return {"m=" + std::to_string(shape.m), "n=" + std::to_string(shape.n),
          "k=" + std::to_string(shape.k), "type=" + type, "check=full"};
}

using Case = std::tuple<const char*, const char*, Shape>;

std::string matmul_name(const testing::TestParamInfo<Case>& info) {
  const auto& [config, type, shape] = info.param;
  const std::string card = config;
  return card.substr(0, card.find('.')) + "_" + type + "_" + std::to_string(shape.m) + "x" +
         std::to_string(shape.n) + "x" + std::to_string(shape.k);
}

class MatmulOnCard : public testing::TestWithParam<Case> {};

TEST_P(MatmulOnCard, EveryElementIsRight) {
  const auto& [config, type, shape] = GetParam();
  Machine machine({}, config);
  const Report report = machine.workload("matmul", parameters(shape, type));
  EXPECT_EQ(exact(report, "matmul.elements_compared"), shape.m * shape.n);
}

// Ones, primes, sizes off every border of tiles, fractals and lines.
constexpr Shape kShapes[] = {{1, 1, 1},      {1, 300, 5},   {17, 31, 13},  {127, 257, 259},
                             {128, 256, 64}, {1000, 3, 77}, {15, 16, 600}, {1, 6144, 130}};
INSTANTIATE_TEST_SUITE_P(Split, MatmulOnCard,
                         testing::Combine(testing::Values("910b2.yaml"),
                                          testing::Values("fp16", "bf16", "fp32", "int8"),
                                          testing::ValuesIn(kShapes)),
                         matmul_name);
INSTANTIATE_TEST_SUITE_P(
    Coupled, MatmulOnCard,
    testing::Combine(testing::Values("910b.yaml"), testing::Values("fp16", "bf16", "fp32", "int8"),
                     testing::Values(Shape{127, 257, 259}, Shape{1, 6144, 130})),
    matmul_name);
INSTANTIATE_TEST_SUITE_P(Others, MatmulOnCard,
                         testing::Combine(testing::Values("950pr.yaml", "910a.yaml"),
                                          testing::Values("fp16", "int8"),
                                          testing::Values(Shape{127, 257, 259})),
                         matmul_name);

class EmptyMatmul : public testing::TestWithParam<Shape> {};

TEST_P(EmptyMatmul, GivesNothingOrZeros) {
  const Shape shape = GetParam();
  Machine machine({}, "910b2.yaml");
  const Report report = machine.workload("matmul", parameters(shape, "fp32"));
  EXPECT_EQ(exact(report, "matmul.elements_compared"), shape.m * shape.n);
  EXPECT_EQ(metric(report, "matmul.max_relative_error"), 0);
}
INSTANTIATE_TEST_SUITE_P(Dimensions, EmptyMatmul,
                         testing::Values(Shape{0, 5, 3}, Shape{3, 0, 5}, Shape{4, 5, 0}));

TEST(MatmulRun, ThePartsOfARunAddUpToIt) {
  Machine machine({}, "910b2.yaml");
  const Report report = machine.workload("matmul", parameters({256, 256, 256}, "fp16"));
  std::int64_t sum = 0;
  for (const auto* part : {"submit", "queue", "aicpu", "dispatch", "cores", "completion", "wait"}) {
    sum += exact(report, std::string("matmul.breakdown.") + part + "_us");
  }
  EXPECT_EQ(sum, exact(report, "matmul.run_us"));
  EXPECT_GE(metric(report, "matmul.host_to_host_us"), metric(report, "matmul.run_us"));
}

TEST(MatmulRun, BothHandshakesGiveTheSameProduct) {
  // One machine per process, so both run on the same.
  Machine machine({}, "910b2.yaml");
  for (const auto* handshake : {"register", "memory"}) {
    auto with = parameters({500, 300, 200}, "fp16");
    with.push_back(std::string("handshake=") + handshake);
    EXPECT_EQ(exact(machine.workload("matmul", with), "matmul.elements_compared"), 150'000);
  }
}

class Handshakes : public testing::TestWithParam<const char*> {};

TEST_P(Handshakes, ATaskInAChainCostsMoreThroughMemory) {
  Machine machine({}, GetParam());
  const Report report = machine.workload("dispatch_latency", {"tasks=100"});
  const auto of = [&](const std::string& handshake, const std::string& what) {
    return exact(report, "dispatch." + handshake + "." + what);
  };
  // Published: 1040 ns from a core to an AICPU through memory, 600 through COND.
  EXPECT_GT(of("memory", "chain.ended_to_seen_ns"), of("register", "chain.ended_to_seen_ns"));
  EXPECT_GT(exact(report, "dispatch.chain.memory_extra_us"), 0);
  // Side by side it may be less: a line that has not changed is a hit, a register's load is not.
  for (const std::string order : {"chain", "parallel"}) {
    EXPECT_EQ(exact(report, "dispatch." + order + ".memory_extra_us"),
              of("memory", order + ".per_task_us") - of("register", order + ".per_task_us"));
  }
}
INSTANTIATE_TEST_SUITE_P(Cards, Handshakes, testing::Values("910b2.yaml", "910b.yaml"),
                         [](const auto& instance) {
                           const std::string config = instance.param;
                           return config.substr(0, config.find('.'));
                         });

// (So large that it does not matter how large a program a compiler makes.)
TEST(MatmulRun, MoreClustersAreQuicker) {
  Machine machine({"core.functional=off"}, "910b2.yaml");
  double last = 1e9;
  for (const auto* clusters : {"1", "4", "24"}) {
    auto with = parameters({2048, 2048, 1024}, "fp16");
    with.push_back(std::string("block_dim=") + clusters);
    const double now = metric(machine.workload("matmul", with), "matmul.duration_us");
    EXPECT_LT(now, last / 2.5) << clusters;
    last = now;
  }
}

TEST(MatmulRun, WithoutArithmeticNothingIsComparedAndTimePasses) {
  Machine machine({"core.functional=off"}, "910b2.yaml");
  const Report quick = machine.workload("matmul", {"m=512", "n=512", "k=512"});
  EXPECT_EQ(quick.find("matmul.max_relative_error"), nullptr);
  EXPECT_GT(metric(quick, "matmul.duration_us"), 0);
}

}  // namespace
}  // namespace npu::test
