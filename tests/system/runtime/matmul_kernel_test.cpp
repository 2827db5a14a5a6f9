// SPDX-License-Identifier: Apache-2.0
// Products by a kernel launched by itself: every element compared by the workload, on every kind of
// card.
#include "tests/system/runtime/runtime_card.hpp"

namespace npu::test {
namespace {

class MatmulKernel : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(MatmulKernel, ComputesEveryElement) {
  const auto& [config, type] = GetParam();
  Machine machine({}, std::string(config) + ".yaml");
  const auto report = machine.workload(
      "matmul_kernel", {"m=65", "n=130", "k=77", std::string("type=") + type, "launches=2"});
  EXPECT_EQ(exact(report, "matmul_kernel.elements_compared"), 65 * 130);
  // A launch and its report take 0.7 us at least (hardware.md H42, H43, H45: 0.15 + 0.05 + 0.5).
  EXPECT_GT(metric(report, "matmul_kernel.duration_us"), 0.7);
  EXPECT_GT(metric(report, "matmul_kernel.wall_us"),
            metric(report, "matmul_kernel.duration_us") + 0.5);
}

INSTANTIATE_TEST_SUITE_P(Cards, MatmulKernel,
                         testing::Combine(testing::Values("910b", "910b2", "950pr"),
                                          testing::Values("fp16", "bf16", "fp32", "int8")),
                         [](const auto& instance) {
                           return std::string(std::get<0>(instance.param)) + "_" +
                                  std::get<1>(instance.param);
                         });

// The first launch reads 2 MiB from the HBM, the second finds them in the L2.
TEST(MatmulKernelRun, IsQuickerWithItsOperandsInTheL2) {
  Machine machine({"core.functional=off"}, "910b2.yaml");
  const auto cold = machine.workload("matmul_kernel", {"m=512", "n=512", "k=1024"});
  const auto warm = machine.workload("matmul_kernel", {"m=512", "n=512", "k=1024", "launches=2"});
  EXPECT_LT(metric(warm, "matmul_kernel.duration_us"), metric(cold, "matmul_kernel.duration_us"));
}

// 4096 multiplications per clock and core (hardware.md H15), 24 cores at 1.8 GHz.
TEST(MatmulKernelRun, IsNotQuickerThanTheCubes) {
  Machine machine({"core.functional=off"}, "910b2.yaml");
  const auto report = machine.workload("matmul_kernel", {});
  EXPECT_EQ(exact(report, "matmul_kernel.blocks"), 24);
  EXPECT_LT(metric(report, "matmul_kernel.tflops"), 24 * 1.8e9 * 4096 * 2 / 1e12);
}

}  // namespace
}  // namespace npu::test
