// SPDX-License-Identifier: Apache-2.0
// What the adaptive policy promises for one stream and for many that share the link: polling's
// latency up to 10 us, interrupts' CPU time from 50 us on, a fair trade between. The latencies of
// the rows are those that polling measured, not merely those aimed at.
#include <fmt/format.h>

#include "tests/system/support/machine.hpp"

namespace npu::test {
namespace {

// Both halves of a context switch, from configs/host.yaml.
constexpr double kContextSwitchNs = 5'000;

class WaitPolicy : public testing::TestWithParam<int> {
 protected:
  void measure(const std::string& targets, const std::string& policies) {
    report_ = machine_.workload("event_wait", {"targets=" + targets, "policies=" + policies,
                                               fmt::format("streams={}", GetParam())});
  }
  double of(const std::string& policy, int us, const std::string& what) {
    const auto suffix = GetParam() == 1 ? "" : fmt::format("streams{}.", GetParam());
    return metric(report_, fmt::format("event_wait.{}.{}us.{}{}", policy, us, suffix, what));
  }
  // The copy found for a target is waited for as long as the target says.
  void expect_near_target(int us) {
    EXPECT_NEAR(of("polling", us, "latency_ns"), 1'000.0 * us, 50.0 * us) << us;
  }

 private:
  Machine machine_;
  reports::Report report_;
};

TEST_P(WaitPolicy, IsAsFastAsPollingUpTo10Us) {
  measure("1,5,10", "polling,adaptive");
  for (const int us : {1, 5, 10}) {
    // 32 submissions at once take more than 1 us whatever they copy.
    if (us > 1 || GetParam() <= 8) expect_near_target(us);
    EXPECT_LE(of("adaptive", us, "latency_ns"), 1.05 * of("polling", us, "latency_ns")) << us;
  }
}

TEST_P(WaitPolicy, IsAsCheapAsInterruptsFrom50UsOn) {
  measure("50,100,500", "polling,interrupt,adaptive");
  for (const int us : {50, 100, 500}) {
    expect_near_target(us);
    EXPECT_LE(of("adaptive", us, "cpu_ns_per_wait"), 1.1 * of("interrupt", us, "cpu_ns_per_wait"))
        << us;
    EXPECT_LE(of("adaptive", us, "latency_ns"), of("polling", us, "latency_ns") + kContextSwitchNs)
        << us;
  }
}

TEST_P(WaitPolicy, IsNeverWorseThanBothOthersBetween) {
  measure("20,35", "polling,interrupt,adaptive");
  for (const int us : {20, 35}) {
    expect_near_target(us);
    EXPECT_LE(of("adaptive", us, "cpu_ns_per_wait"), 0.5 * of("polling", us, "cpu_ns_per_wait"))
        << us;
    const auto slower =
        std::max(of("polling", us, "latency_ns"), of("interrupt", us, "latency_ns"));
    EXPECT_LE(of("adaptive", us, "latency_ns"), 1.02 * slower) << us;
  }
}

INSTANTIATE_TEST_SUITE_P(Streams, WaitPolicy, testing::Values(1, 8, 32));

TEST(WaitPolicyAlone, SleepsMostOf20UsAndIsAsFastAsPolling) {
  Machine machine;
  const auto report = machine.workload("event_wait", {"targets=20", "streams=1"});
  const auto of = [&](const std::string& policy, const std::string& what) {
    return metric(report, "event_wait." + policy + ".20us." + what);
  };
  EXPECT_LE(of("adaptive", "latency_ns"), 1.05 * of("polling", "latency_ns"));
  EXPECT_LE(of("adaptive", "cpu_ns_per_wait"), 0.4 * of("polling", "cpu_ns_per_wait"));
}

TEST(WaitPolicyAlone, PollingBurnsACoreAndInterruptsAddAContextSwitch) {
  Machine machine;
  const auto report =
      machine.workload("event_wait", {"targets=20,100", "streams=1", "policies=polling,interrupt"});
  for (const std::string us : {"20us.", "100us."}) {
    const double polled = metric(report, "event_wait.polling." + us + "latency_ns");
    EXPECT_NEAR(metric(report, "event_wait.polling." + us + "cpu_percent"), 100, 0.1);
    const double later = metric(report, "event_wait.interrupt." + us + "latency_ns") - polled;
    EXPECT_GT(later, 0.8 * kContextSwitchNs) << us;
    EXPECT_LT(later, 1.1 * kContextSwitchNs) << us;
  }
}

TEST(WaitPolicyAlone, ManyTasksWaitAtOnce) {
  Machine machine;
  const auto report = machine.workload("event_wait", {"targets=20", "streams=16", "iterations=4"});
  EXPECT_NEAR(metric(report, "event_wait.polling.20us.streams16.cpu_percent"), 100, 0.1);
}

}  // namespace
}  // namespace npu::test
