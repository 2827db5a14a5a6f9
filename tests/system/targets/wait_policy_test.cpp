// SPDX-License-Identifier: Apache-2.0
// The adaptive policy between its limits: as fast as polling, far cheaper. (At and beyond them:
// tests/system/workloads.)
#include "tests/system/support/machine.hpp"

namespace npu::test {
namespace {

TEST(WaitPolicy, AdaptiveSleepsMostOf20usAndIsAsFastAsPolling) {
  Machine machine;
  const auto report =
      machine.workload("event_wait", {"targets=20", "streams=1", "iterations=8", "warm_up=4"});
  const auto of = [&](const std::string& policy, const std::string& what) {
    return metric(report, "event_wait." + policy + ".20us." + what);
  };
  EXPECT_LE(of("adaptive", "latency_ns"), 1.05 * of("polling", "latency_ns"));
  EXPECT_LE(of("adaptive", "cpu_ns_per_wait"), 0.5 * of("polling", "cpu_ns_per_wait"));
}

}  // namespace
}  // namespace npu::test
