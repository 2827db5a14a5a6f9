// SPDX-License-Identifier: Apache-2.0
// Launches of an empty kernel beside the published figure of each class of kernels.
#include "tests/system/runtime/runtime_card.hpp"
#include "workloads/simulator/counted_software.hpp"

namespace npu::test {
namespace {

struct LaunchClass {
  const char* name;
  const char* config;
  std::vector<std::string> parameters;
  double published;  // us, from the dispatch of the first block to the report of the last
};

// kernel-times.md K2 (from init to the first copy: with dispatch and report 0.7 us more), K22, K23;
// 950.md N24.
const LaunchClass kClasses[] = {
    {"Plain", "910b2.yaml", {"tiling=none", "cores=cube"}, 1.3},
    {"Generated", "910b2.yaml", {"tiling=arguments"}, 2.3},
    {"ConstantTiling", "910b2.yaml", {"tiling=constant"}, 2.2 + 0.7},
    {"RunTimeTiling", "910b2.yaml", {"tiling=runtime"}, 3.5 + 0.7},
    {"Large", "910b2.yaml", {"tiling=runtime", "pipe=on"}, 7.0},
    {"Mixed", "910b2.yaml", {"tiling=runtime", "pipe=on", "mixed=on", "cores=cube"}, 7.0 + 5.0},
    {"Elementwise950", "950pr.yaml", {"tiling=arguments"}, 0.9},
    {"Rows950", "950pr.yaml", {"tiling=runtime", "structure=0", "pipe=on"}, 1.4},
    {"Product950", "950pr.yaml", {"tiling=runtime", "structure=0", "pipe=on", "cores=cube"}, 2.3},
    {"Attention950",
     "950pr.yaml",
     {"tiling=runtime", "structure=0", "pipe=on", "cores=cube", "mixed=on"},
     5.9}};

class EmptyLaunch : public testing::TestWithParam<LaunchClass> {};

TEST_P(EmptyLaunch, TakesWhatIsPublishedOfItsClass) {
  constexpr double kWithin = 0.3;  // us
  Machine machine({}, GetParam().config);
  const auto report = machine.workload("kernel_launch", GetParam().parameters);
  EXPECT_NEAR(metric(report, "launch.cold_us"), GetParam().published, kWithin);
  // A build that counts no instructions fetches next to nothing of them.
  if (workloads::counted_programs().empty()) return;
  // Of a kernel of few lines neither is the shorter one: a launch's place in time matters more.
  EXPECT_LT(metric(report, "launch.warm_us"), metric(report, "launch.cold_us") + kWithin);
}

INSTANTIATE_TEST_SUITE_P(Classes, EmptyLaunch, testing::ValuesIn(kClasses),
                         [](const auto& instance) { return std::string(instance.param.name); });

TEST(EmptyLaunch910b2, TakesSoftwareInitAtLeast) {
  Machine machine({"aicore.software_init_ns=4000"}, "910b2.yaml");
  const auto report = machine.workload("kernel_launch", {"tiling=none", "blocks=1"});
  // Dispatch, hardware init, report.
  EXPECT_GT(metric(report, "launch.warm_us"), 0.7 + 4.0);
}

}  // namespace
}  // namespace npu::test
