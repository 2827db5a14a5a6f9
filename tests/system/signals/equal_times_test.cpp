// SPDX-License-Identifier: Apache-2.0
// Polls that are passed over change nothing but that they take no time of the L2's slices. With
// slices that take no time, everything that the trace tells of the machine has the same times, and
// the report the same figures. Else polls keep others waiting for a clock, after which a task may
// go to another core: the table in docs/accuracy.md says what becomes of it.
#include <cmath>
#include <cstdlib>

#include "tests/system/accuracy/page.hpp"
#include "tests/system/signals/poll_plans.hpp"

namespace npu::test {
namespace {

class EqualTimes : public testing::TestWithParam<PollPlan> {};

TEST_P(EqualTimes, WithEveryPollAndWithPollsPassedOver) {
  const std::vector<std::string> overrides{"cards.0.l2.slice_per_clock_bytes=0"};
  const auto naive = run_in_a_process(GetParam(), {true, false, overrides});
  const auto skipping = run_in_a_process(GetParam(), {false, false, overrides});
  expect_same_lines(skipping, naive);
}

// The programs that count their instructions make the accesses of those that do not, at the same
// times if the count takes none.
TEST_P(EqualTimes, WithProgramsThatCountAndWithPlainOnes) {
  if (workloads::counted_programs().empty()) GTEST_SKIP() << "this build has no such programs";
  expect_same_lines(run_in_a_process(GetParam(), {false, true, {}}),
                    run_in_a_process(GetParam(), {}));
}

INSTANTIATE_TEST_SUITE_P(Runs, EqualTimes, testing::ValuesIn(poll_plans()),
                         [](const auto& instance) {
                           const std::string config = instance.param.config;
                           return std::string(instance.param.name) + "_" +
                                  config.substr(0, config.find('.')) + "_" +
                                  instance.param.handshake;
                         });

// The run's duration by the AICPUs' counter, in us.
double duration(const PollPlan& plan, bool naive) {
  const auto lines = run_in_a_process(plan, {naive, false, {}});
  const auto name = plan.workload + std::string(".");
  for (const auto& line : lines) {
    const auto end = line.find("duration_us ");
    if (line.rfind(name, 0) == 0 && end != std::string::npos) {
      return std::atof(line.c_str() + end + std::string("duration_us ").size());
    }
  }
  ADD_FAILURE() << plan.name << " reports no duration";
  return 1;
}

TEST(SkippedPolls, MakeTheDifferenceThatIsDocumented) {
  std::string table =
      "| configuration | run | handshake | every poll us | passed over us | difference % |\n"
      "|---|---|---|---|---|---|\n";
  double sum = 0;
  const auto plans = poll_plans();
  for (const auto& plan : plans) {
    const double naive = duration(plan, true), skipping = duration(plan, false);
    const double percent = (skipping / naive - 1) * 100;
    sum += percent;
    EXPECT_LT(std::abs(percent), 5) << plan.name;
    const std::string config = plan.config;
    table += fmt::format("| {} | {} | {} | {:.2f} | {:.2f} | {:+.2f} |\n",
                         config.substr(0, config.find('.')), plan.name, plan.handshake, naive,
                         skipping, percent);
  }
  EXPECT_LT(std::abs(sum / static_cast<double>(plans.size())), 1) << "in one direction";
  accuracy::expect_on_page("skipped-polls", table);
}

}  // namespace
}  // namespace npu::test
