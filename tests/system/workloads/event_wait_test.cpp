// SPDX-License-Identifier: Apache-2.0
// The trade-off of M5 and what the adaptive policy must make of it.
#include "tests/system/workloads/simulated_run.hpp"

namespace npu::workloads {
namespace {

// Both halves of a context switch, from configs/host.yaml.
constexpr double kContextSwitchNs = 5'000;

class EventWait : public WorkloadOnSimulator {
 protected:
  double of(const std::string& policy, int us, const std::string& what) const {
    return value("event_wait." + policy + "." + std::to_string(us) + "us." + what);
  }
};

TEST_F(EventWait, PollingBurnsACoreAndInterruptsAddAContextSwitch) {
  run("event_wait", {"targets=20,100", "streams=1", "policies=polling,interrupt"});
  for (const int us : {20, 100}) {
    EXPECT_NEAR(of("polling", us, "cpu_percent"), 100, 0.1);
    const double later = of("interrupt", us, "latency_ns") - of("polling", us, "latency_ns");
    EXPECT_GT(later, 0.8 * kContextSwitchNs) << us;
    EXPECT_LT(later, 1.1 * kContextSwitchNs) << us;
  }
}

TEST_F(EventWait, AdaptiveIsAsFastAsPollingUpTo10Us) {
  run("event_wait", {"targets=1,5,10", "streams=1"});
  for (const int us : {1, 5, 10}) {
    EXPECT_LE(of("adaptive", us, "latency_ns"), 1.05 * of("polling", us, "latency_ns")) << us;
  }
}

TEST_F(EventWait, AdaptiveIsAsCheapAsInterruptsFrom50UsOn) {
  run("event_wait", {"targets=50,100,500", "streams=1", "iterations=5"});
  for (const int us : {50, 100, 500}) {
    EXPECT_LE(of("adaptive", us, "cpu_ns_per_wait"), 1.1 * of("interrupt", us, "cpu_ns_per_wait"))
        << us;
    EXPECT_LE(of("adaptive", us, "latency_ns"), of("polling", us, "latency_ns") + kContextSwitchNs)
        << us;
  }
}

TEST_F(EventWait, ManyTasksWaitAtOnce) {
  run("event_wait", {"targets=20", "streams=16", "iterations=4"});
  EXPECT_NEAR(of("polling", 20, "streams16.cpu_percent"), 100, 0.1);
}

}  // namespace
}  // namespace npu::workloads
