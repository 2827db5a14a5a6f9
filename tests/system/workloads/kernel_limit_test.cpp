// SPDX-License-Identifier: Apache-2.0
// What bounds kernels is named: each time another part of the card is made the slowest.

#include "tests/system/workloads/simulated_run.hpp"

namespace npu::workloads {
namespace {

class KernelLimit : public WorkloadOnSimulator {
 protected:
  using Words = std::vector<std::string>;

  double percent(const std::string& name) const {
    for (const auto& limit : report_.limits()) {
      if (limit.name == name) return std::stod(limit.percent.text());
    }
    return 0;
  }
  // The first limit is `name`, and all add up to the kernels' time.
  void expect(const std::string& name, const std::string& workload, const Words& parameters,
              const Words& overrides = {}) {
    run(workload, parameters, overrides, "910b2.yaml");
    ASSERT_FALSE(report_.limits().empty());
    EXPECT_EQ(report_.limits().front().name, name) << report_.limits().front().text;
    double all = 0;
    for (const auto& limit : report_.limits()) all += std::stod(limit.percent.text());
    EXPECT_NEAR(all, 100, 0.01);
  }
};

const std::vector<std::string> kProduct{"m=1024", "n=1024", "k=1024"};
const std::vector<std::string> kRows{"op=maximum", "type=fp32", "elements=4194304"};

TEST_F(KernelLimit, PathOfMte2) {
  expect("mte2", "matmul_kernel", kProduct, {"core.gm_to_l1.per_clock_bytes=16"});
}
TEST_F(KernelLimit, Cube) {
  expect("cube", "matmul_kernel", kProduct,
         {"core.gm_to_l1.per_clock_bytes=2048", "l2.fill_ns=10"});
}
TEST_F(KernelLimit, HbmThatIsFull) {
  expect("hbm", "vector_operator", kRows, {"hbm.channels=4"});
  EXPECT_NE(report_.limits().front().text.find("it is full"), std::string::npos);
}
TEST_F(KernelLimit, HbmThatIsFarAway) {
  expect("hbm", "vector_operator", kRows, {"l2.fill_ns=10000"});
  EXPECT_NE(report_.limits().front().text.find("too few bytes in flight"), std::string::npos);
}
TEST_F(KernelLimit, L2) {
  expect("l2", "matmul_kernel", kProduct, {"l2.hit_ns=10000"});
}
TEST_F(KernelLimit, Vector) {
  expect("vector", "vector_operator", {"op=mish", "type=fp16", "elements=1048576"});
}
TEST_F(KernelLimit, ScalarUnit) {
  expect("scalar", "matmul_kernel", kProduct, {"core.issue_clocks=1000"});
}
TEST_F(KernelLimit, OfACompiledOperatorAreNamed) {
  expect("mte2", "operator", {"shape=1024,1024,1024"}, {"core.gm_to_l1.per_clock_bytes=16"});
  EXPECT_GT(percent("mte2"), 50);
}
TEST_F(KernelLimit, OfATaskGraphAreNamed) {
  expect("mte2", "matmul", kProduct, {"core.gm_to_l1.per_clock_bytes=16"});
}
// Both kinds of cores at once: none of their time is a wait of a queue.
TEST_F(KernelLimit, OfAMixedLaunchAreThoseOfItsCores) {
  run("operator", {"name=flash_attention", "shape=1,8,8,256,2048,128"}, {}, "910b2.yaml");
  EXPECT_LT(percent("launch"), 40);
  EXPECT_GT(percent("mte2"), 5);
}

}  // namespace
}  // namespace npu::workloads
