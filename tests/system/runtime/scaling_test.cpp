// SPDX-License-Identifier: Apache-2.0
// What more scheduler threads and more cores do to graphs that dispatch bounds.
#include <gtest/gtest.h>

#include "tests/support/folders.hpp"
#include "tests/system/support/machine.hpp"

namespace npu::test {
namespace {

double duration(Machine& machine, const std::string& graph, const std::string& parameters,
                unsigned threads) {
  const auto report = machine.workload(
      "graph", {"graph=" + source_dir() + "/workloads/graphs/" + graph + ".yaml",
                "parameters=" + parameters, "aicpu_thread_num=" + std::to_string(threads)});
  return metric(report, "graph." + graph + ".duration_us");
}

class ThreadScaling : public testing::TestWithParam<const char*> {};

// Two thousand empty tasks that wait for nobody.
TEST_P(ThreadScaling, EachSchedulerThreadMakesEmptyTasksQuicker) {
  Machine machine({}, GetParam());
  for (const auto* handshake : {"register", "memory"}) {
    std::vector<double> times;
    for (unsigned threads = 1; threads <= 4; ++threads) {
      const auto report = machine.workload(
          "dispatch_latency", {"tasks=2000", "aicpu_thread_num=" + std::to_string(threads)});
      times.push_back(
          metric(report, std::string("dispatch.") + handshake + ".parallel.per_task_us"));
      if (threads == 1) continue;
      EXPECT_LT(times[threads - 1], times[threads - 2]) << handshake << ", " << threads;
      // No more than all of it can be shared; thread 0 wires alone.
      EXPECT_GT(times[threads - 1], times[0] / threads) << handshake << ", " << threads;
    }
    EXPECT_LT(times[3], times[0] / 1.25) << handshake;
  }
}

TEST_P(ThreadScaling, EachSchedulerThreadMakesADispatchBoundGraphQuicker) {
  Machine machine({}, GetParam());
  for (const auto& [graph, parameters] : {std::pair{"independent_mix", "aic=300,aiv=600"},
                                          std::pair{"paged_attention", "batch=16,blocks=16"}}) {
    double last = 1e12;
    for (unsigned threads = 1; threads <= 4; ++threads) {
      const double now = duration(machine, graph, parameters, threads);
      EXPECT_LT(now, last) << graph << ", " << threads << " threads";
      last = now;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cards, ThreadScaling, testing::Values("910b2.yaml", "910b.yaml"),
                         [](const auto& instance) {
                           const std::string config = instance.param;
                           return config.substr(0, config.find('.'));
                         });

TEST(ThreadScaling, OfAChainIsNone) {
  Machine machine({}, "910b2.yaml");
  duration(machine, "chain", "length=50", 4);  // programs are where they are needed then
  const double one = duration(machine, "chain", "length=50", 1);
  const double four = duration(machine, "chain", "length=50", 4);
  EXPECT_LT(four, 1.25 * one);
  EXPECT_GT(four, 0.5 * one) << "nothing of a chain is parallel, but for sweeps of fewer cores";
}

}  // namespace
}  // namespace npu::test
