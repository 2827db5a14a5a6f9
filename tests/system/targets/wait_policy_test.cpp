// SPDX-License-Identifier: Apache-2.0
// Waiting policies: what each promises of latency and CPU time.
#include "tests/system/support/machine.hpp"

namespace npu::test {
namespace {

constexpr double kContextSwitch = 5'000;  // ns, mission M5

struct Waited {
  double latency, cpu, percent;
};

Waited waited(const workloads::Report& report, const std::string& policy, const std::string& us) {
  const std::string prefix = "event_wait." + policy + "." + us + "us.";
  return {metric(report, prefix + "latency_ns"), metric(report, prefix + "cpu_ns_per_wait"),
          metric(report, prefix + "cpu_percent")};
}

workloads::Report measure(const std::string& targets) {
  Machine machine;
  return machine.workload("event_wait",
                          {"targets=" + targets, "streams=1", "iterations=8", "warm_up=4"});
}

TEST(WaitPolicy, PollingBurnsACoreAndInterruptsAddAContextSwitch) {
  const auto report = measure("10,50");
  for (const std::string us : {"10", "50"}) {
    const auto polling = waited(report, "polling", us);
    const auto interrupt = waited(report, "interrupt", us);
    EXPECT_NEAR(polling.latency, std::stod(us) * 1000, std::stod(us) * 50) << "as long as asked";
    EXPECT_NEAR(polling.percent, 100, 1) << us;
    EXPECT_NEAR(interrupt.latency - polling.latency, kContextSwitch, 750) << us;
    EXPECT_NEAR(interrupt.cpu, kContextSwitch, 500) << us;
  }
}

TEST(WaitPolicy, AdaptiveIsAsFastAsPollingUpTo10us) {
  const auto report = measure("1,5,10");
  for (const std::string us : {"1", "5", "10"}) {
    const auto polling = waited(report, "polling", us);
    EXPECT_LE(waited(report, "adaptive", us).latency, 1.05 * polling.latency) << us;
  }
}

TEST(WaitPolicy, AdaptiveIsAsCheapAsInterruptsFrom50us) {
  const auto report = measure("50,100,500");
  for (const std::string us : {"50", "100", "500"}) {
    const auto adaptive = waited(report, "adaptive", us);
    EXPECT_LE(adaptive.cpu, 1.1 * waited(report, "interrupt", us).cpu) << us;
    EXPECT_LE(adaptive.latency, waited(report, "polling", us).latency + kContextSwitch) << us;
  }
}

TEST(WaitPolicy, AdaptiveIsBetweenBothAt20us) {
  const auto report = measure("20");
  const auto adaptive = waited(report, "adaptive", "20");
  const auto polling = waited(report, "polling", "20");
  EXPECT_LE(adaptive.latency, 1.05 * polling.latency);
  EXPECT_LE(adaptive.cpu, polling.cpu / 2);
}

}  // namespace
}  // namespace npu::test
