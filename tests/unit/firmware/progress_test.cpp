// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "firmware/aicpu/skipped_tasks.hpp"
#include "tests/unit/firmware/part_fixture.hpp"

namespace npu::test {
namespace {

using firmware::Progress;
using firmware::RunStop;
using firmware::Stop;
using firmware::ThreadProgress;

class ProgressOfTwo : public Part {
 protected:
  ProgressOfTwo() {
    graph.add(TaskShape::kAic);
    graph.add(TaskShape::kAic);
    graph.header.threads = 2;
    place();
  }
  ThreadProgress published() { return control<ThreadProgress>(firmware::scratch::kProgress); }
  static ThreadProgress completed(std::uint32_t tasks) {
    ThreadProgress progress;
    progress.completed = tasks;
    return progress;
  }
  firmware::Cores cores;
};

TEST_F(ProgressOfTwo, OthersHearOfItWhenItIsPublished) {
  Progress progress(*run);
  progress.note_lane();
  progress.note_task();
  EXPECT_EQ(published().completed, 0U);
  progress.publish(cores);
  EXPECT_EQ(published().completed, 1U);
  EXPECT_EQ(published().lanes, 1U);
}

TEST_F(ProgressOfTwo, AllHaveEndedWhenBothThreadsTogetherSaySo) {
  Progress progress(*run);
  progress.note_task();
  EXPECT_FALSE(progress.all_ended());
  set_other(completed(1));
  EXPECT_TRUE(progress.all_ended());
}

TEST_F(ProgressOfTwo, MovesChangeWithWhatAnyThreadDoes) {
  Progress progress(*run);
  const auto before = progress.moves();
  set_other(completed(1));
  const auto then = progress.moves();
  progress.note_lane();
  EXPECT_NE(then, before);
  EXPECT_NE(progress.moves(), then);
}

TEST_F(ProgressOfTwo, IdleCoresElsewhereAreThoseOfTheShape) {
  ThreadProgress other;
  other.idle_aic = 3;
  other.idle_aiv = 5;
  set_other(other);
  const Progress progress(*run);
  EXPECT_EQ(progress.idle_elsewhere(TaskShape::kAic), 3U);
  EXPECT_EQ(progress.idle_elsewhere(TaskShape::kAiv), 5U);
}

TEST_F(ProgressOfTwo, TheEndAddsUpWhatBothHaveDone) {
  ThreadProgress other = completed(1);
  other.dispatched = 10;
  other.polls = 20;
  other.dump_ticks = 30;
  set_other(other);
  Progress progress(*run);
  progress.note_task();
  abi::RunResult result;
  progress.sum_up({1, 2, 3}, result);
  EXPECT_EQ(result.completed, 2U);
  EXPECT_EQ(result.dispatched_blocks, 11U);
  EXPECT_EQ(result.polls, 22U);
  EXPECT_EQ(result.dump_ticks, 33U);
}

TEST_F(ProgressOfTwo, TheFirstFailureIsTheRuns) {
  RunStop here(*run), elsewhere(*run);
  elsewhere.fail(RunStatus::kKernelFailed, 1, nullptr, 7, 0, 4);
  here.fail(RunStatus::kCoreException, 0);
  EXPECT_EQ(here.why(), Stop::kFailed);
  abi::RunResult result;
  here.read_failure(result);
  EXPECT_EQ(static_cast<RunStatus>(result.status), RunStatus::kKernelFailed);
  EXPECT_EQ(result.task, 1U);
  EXPECT_EQ(result.detail, 7U);
  EXPECT_EQ(result.block, 4U);
}

TEST_F(ProgressOfTwo, AFailureBehindTheTimeoutDoesNotReplaceIt) {
  RunStop here(*run), elsewhere(*run);
  elsewhere.time_out();
  EXPECT_FALSE(here.is_known());
  here.fail(RunStatus::kCoreException, 0);
  EXPECT_EQ(here.why(), Stop::kTimeout);
}

TEST(SkippedTasks, ThoseAddedMeanwhileHaveTheirTurnNext) {
  firmware::SkippedTasks tasks;
  tasks.add(1);
  std::vector<std::uint32_t> taken;
  const auto visit = [&](std::uint32_t task) {
    taken.push_back(task);
    if (task < 3) tasks.add(task + 1);
  };
  tasks.take(visit);
  EXPECT_EQ(taken, (std::vector<std::uint32_t>{1}));
  tasks.take(visit);
  tasks.take(visit);
  EXPECT_EQ(taken, (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_TRUE(tasks.empty());
}

}  // namespace
}  // namespace npu::test
