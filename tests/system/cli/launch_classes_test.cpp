// SPDX-License-Identifier: Apache-2.0
// Launches of an empty kernel beside the published figure of each class of kernels.
#include <nlohmann/json.hpp>

#include "tests/system/cli/program.hpp"

namespace npu::cli {
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
    {"Plain", "910b2", {"tiling=none", "cores=cube"}, 1.3},
    {"Generated", "910b2", {"tiling=arguments"}, 2.3},
    {"ConstantTiling", "910b2", {"tiling=constant"}, 2.2 + 0.7},
    {"RunTimeTiling", "910b2", {"tiling=runtime", "blocks=24"}, 3.5 + 0.7},
    {"Large", "910b2", {"tiling=runtime", "pipe=on"}, 7.0},
    {"Mixed", "910b2", {"tiling=runtime", "pipe=on", "mixed=on", "cores=cube"}, 7.0 + 5.0},
    {"Elementwise950", "950pr", {"tiling=arguments"}, 0.9},
    {"Rows950", "950pr", {"tiling=runtime", "structure=0", "pipe=on"}, 1.4},
    {"Product950", "950pr", {"tiling=runtime", "structure=0", "pipe=on", "cores=cube"}, 2.3},
    {"Attention950",
     "950pr",
     {"tiling=runtime", "structure=0", "pipe=on", "cores=cube", "mixed=on"},
     5.9}};

class EmptyLaunch : public Program {
 protected:
  // The figure of a launch, in us.
  double launch(const std::string& figure, const std::string& config,
                const std::vector<std::string>& settings) {
    std::vector<std::string> words{"--config",      config,     "run",
                                   "kernel_launch", "--report", "r.json"};
    for (const auto& setting : settings) words.insert(words.end(), {"--set", setting});
    good(npusim(words));
    const auto report = nlohmann::json::parse(text("r.json"));
    for (const auto& metric : report["metrics"]) {
      if (metric["name"] == figure) return metric["value"].get<double>();
    }
    ADD_FAILURE() << "no " << figure;
    return 0;
  }
};

class EmptyLaunchOfAClass : public EmptyLaunch, public testing::WithParamInterface<LaunchClass> {};

TEST_P(EmptyLaunchOfAClass, TakesWhatIsPublished) {
  constexpr double kWithin = 0.3;  // us
  const auto& [name, config, parameters, published] = GetParam();
  const double cold = launch("launch.cold_us", config, parameters);
  EXPECT_NEAR(cold, published, kWithin);
  // Of a kernel of few lines neither is the shorter one: a launch's place in time matters more.
  EXPECT_LT(launch("launch.warm_us", config, parameters), cold + kWithin);
}

INSTANTIATE_TEST_SUITE_P(Classes, EmptyLaunchOfAClass, testing::ValuesIn(kClasses),
                         [](const auto& instance) { return std::string(instance.param.name); });

TEST_F(EmptyLaunch, TakesSoftwareInitAtLeast) {
  // Dispatch, hardware init, report.
  EXPECT_GT(launch("launch.warm_us", "910b2",
                   {"aicore.software_init_ns=4000", "tiling=none", "blocks=1"}),
            0.7 + 4.0);
}

}  // namespace
}  // namespace npu::cli
