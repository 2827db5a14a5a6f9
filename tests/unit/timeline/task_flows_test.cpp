// SPDX-License-Identifier: Apache-2.0
#include "tools/timeline/task_flows.hpp"

#include <gmock/gmock.h>

namespace npu::timeline {
namespace {

platform::TraceEvent of_task(platform::Activity activity, std::uint64_t cause,
                             std::uint64_t detail) {
  platform::TraceEvent event{};
  event.cause = cause;
  event.detail = detail;
  event.activity = activity;
  return event;
}

platform::TraceEvent task_at(std::uint32_t card, std::uint64_t run, std::uint32_t task,
                             std::uint64_t address) {
  return of_task(platform::Activity::kTask, platform::task_cause(card, run, task), address);
}

platform::TraceEvent call_with(std::uint32_t card, std::uint64_t address) {
  constexpr std::uint64_t kBlock = std::uint64_t{7} << 48;
  return of_task(platform::Activity::kKernelCall, platform::queue_cause(card, 1, 0),
                 kBlock | address);
}

TEST(TaskFlows, FindTheTaskOfACallByItsArguments) {
  TaskFlows flows;
  flows.declare(task_at(0, 0, 0, 0x1000));
  flows.declare(task_at(0, 0, 1, 0x2000));
  flows.declare(of_task(platform::Activity::kTaskEdge, platform::task_cause(0, 0, 1), 0));
  auto* const task = flows.find(call_with(0, 0x2000));
  ASSERT_NE(task, nullptr);
  EXPECT_EQ(task->cause, platform::task_cause(0, 0, 1));
  EXPECT_THAT(task->producers, testing::ElementsAre(0U));
  EXPECT_EQ(flows.find(*task, 0)->cause, platform::task_cause(0, 0, 0));
  EXPECT_EQ(flows.find(call_with(0, 0x3000)), nullptr);
}

TEST(TaskFlows, ForgetTheRunBeforeOfTheSameCardAlone) {
  TaskFlows flows;
  flows.declare(task_at(0, 0, 0, 0x1000));
  flows.declare(task_at(1, 0, 0, 0x1000));
  flows.declare(task_at(0, 1, 0, 0x5000));
  EXPECT_EQ(flows.find(call_with(0, 0x1000)), nullptr);
  EXPECT_NE(flows.find(call_with(1, 0x1000)), nullptr);
  EXPECT_EQ(flows.find(call_with(0, 0x5000))->cause, platform::task_cause(0, 1, 0));
}

}  // namespace
}  // namespace npu::timeline
