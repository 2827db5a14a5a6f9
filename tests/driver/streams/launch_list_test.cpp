// SPDX-License-Identifier: Apache-2.0
// Launches that are recorded once and run again: their order, arguments, gaps and doorbells.
#include <cstring>

#include "npu/driver/launch_list.hpp"
#include "tests/driver/streams/stream_fixture.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

constexpr auto kAll = {LaunchCores::kCube, LaunchCores::kVector, LaunchCores::kVector,
                       LaunchCores::kMixed, LaunchCores::kCube};

class LaunchListTest : public StreamTest {
 protected:
  // A launch that can be told from others by its blocks.
  KernelLaunch numbered(LaunchCores cores, std::uint32_t blocks) {
    auto launch = kernel(cores, blocks);
    launch.blocks = blocks;
    return launch;
  }
  // Launches with 1, 2, ... blocks.
  void record_all(LaunchList& list) {
    std::uint32_t blocks = 0;
    for (const auto cores : kAll) ASSERT_THAT(list.add(numbered(cores, ++blocks)), IsOk());
  }
  std::vector<abi::LaunchPayload> launched() const {
    std::vector<abi::LaunchPayload> all;
    for (const auto& executed : cp.executed()) {
      if (executed.entry.opcode != static_cast<std::uint8_t>(abi::QueueOpcode::kLaunchAiCore)) {
        continue;
      }
      all.push_back(executed.entry.get<abi::LaunchPayload>());
    }
    return all;
  }
  std::vector<std::uint32_t> blocks() const {
    std::vector<std::uint32_t> all;
    for (const auto& launch : launched()) all.push_back(launch.blocks);
    return all;
  }
  std::uint64_t argument_at(std::uint64_t address) {
    std::uint64_t value = 0;
    card.memory().read(*card.mmu().locate(process->vmid(), address), &value, sizeof value);
    return value;
  }
  std::uint64_t doorbells() {
    std::uint64_t all = 0;
    for (const auto& queue : must(process->snapshot())) all += queue.doorbells;
    return all;
  }
};

TEST_F(LaunchListTest, RunsInTheOrderOfRecordingAgainAndAgain) {
  LaunchList list(*process);
  record_all(list);
  ASSERT_THAT(list.finish(in(10_ms)), IsOk());
  ASSERT_THAT(list.run(in(10_ms)), IsOk());
  ASSERT_THAT(list.run(in(10_ms)), IsOk());
  ASSERT_THAT(list.wait(in(10_ms)), IsOk());
  EXPECT_EQ(blocks(), (std::vector<std::uint32_t>{1, 2, 3, 4, 5, 1, 2, 3, 4, 5}));
  for (const auto& launch : launched()) {
    EXPECT_EQ(argument_at(launch.arguments), launch.blocks);
    EXPECT_EQ(launch.mixed, launch.blocks == 4 ? 1U : 0U);
  }
}

// One for each of three kinds of cores, and one for the entry that is waited for.
TEST_F(LaunchListTest, ARunRingsAsManyDoorbellsHoweverManyLaunchesItHas) {
  for (const int copies : {1, 20}) {
    LaunchList list(*process);
    for (int i = 0; i < copies; ++i) record_all(list);
    ASSERT_THAT(list.finish(in(10_ms)), IsOk());
    const auto before = doorbells();
    ASSERT_THAT(list.run(in(10_ms)), IsOk());
    ASSERT_THAT(list.wait(in(100_ms)), IsOk());
    EXPECT_EQ(doorbells() - before, 4U);
  }
}

TEST_F(LaunchListTest, AnUpdateChangesArgumentsAndBlocksFromTheNextRunOn) {
  LaunchList list(*process);
  record_all(list);
  ASSERT_THAT(list.finish(in(10_ms)), IsOk());
  ASSERT_THAT(list.run(in(10_ms)), IsOk());
  EXPECT_THAT(list.update(2, numbered(LaunchCores::kVector, 9)),
              FailsWith(ErrorCode::kInvalidArgument));  // it runs
  ASSERT_THAT(list.wait(in(10_ms)), IsOk());
  ASSERT_THAT(list.update(2, numbered(LaunchCores::kVector, 9)), IsOk());
  ASSERT_THAT(list.run(in(10_ms)), IsOk());
  ASSERT_THAT(list.wait(in(10_ms)), IsOk());
  EXPECT_EQ(blocks(), (std::vector<std::uint32_t>{1, 2, 3, 4, 5, 1, 2, 9, 4, 5}));
  EXPECT_EQ(argument_at(launched()[7].arguments), 9U);
  EXPECT_THAT(list.update(2, numbered(LaunchCores::kCube, 9)),
              FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(list.update(5, numbered(LaunchCores::kCube, 9)),
              FailsWith(ErrorCode::kInvalidArgument));
}

TEST_F(LaunchListTest, WorkOfAnotherStreamHasItsPlaceInAGap) {
  const auto beside = open();
  LaunchList list(*process);
  ASSERT_THAT(list.add(numbered(LaunchCores::kCube, 1)), IsOk());
  EXPECT_EQ(list.add_gap(), 0U);
  ASSERT_THAT(list.add(numbered(LaunchCores::kCube, 2)), IsOk());
  ASSERT_THAT(list.finish(in(10_ms)), IsOk());
  for (const std::uint32_t blocks_before : {0U, 3U}) {
    ASSERT_THAT(list.run(in(10_ms)), IsOk());
    EXPECT_THAT(list.wait(in(1_ms)), FailsWith(ErrorCode::kTimeout));
    EXPECT_EQ(blocks().size(), blocks_before + 1);
    const abi::QueueEntry begin = list.wait_for_gap(0), end = list.end_gap(0);
    ASSERT_THAT(beside->submit(&begin, 1), IsOk());
    ASSERT_THAT(beside->launch(numbered(LaunchCores::kVector, 7)), IsOk());
    ASSERT_THAT(beside->submit(&end, 1), IsOk());
    ASSERT_THAT(list.wait(in(10_ms)), IsOk());
  }
  EXPECT_EQ(blocks(), (std::vector<std::uint32_t>{1, 7, 2, 1, 7, 2}));
}

TEST_F(LaunchListTest, GapsThatAreNotBetweenLaunchesAreRefused) {
  for (const bool in_front : {true, false}) {
    LaunchList list(*process);
    if (in_front) list.add_gap();
    ASSERT_THAT(list.add(numbered(LaunchCores::kCube, 1)), IsOk());
    if (!in_front) list.add_gap();
    EXPECT_THAT(list.finish(in(10_ms)), FailsWith(ErrorCode::kInvalidArgument));
    EXPECT_THAT(list.run(in(10_ms)), FailsWith(ErrorCode::kInvalidArgument));
  }
  EXPECT_THAT(LaunchList(*process).finish(in(10_ms)), FailsWith(ErrorCode::kInvalidArgument));
}

// The arguments of the first launch are gone; the other queue waits for the one that has stopped.
TEST_F(LaunchListTest, AFaultOfOneQueueEndsTheWait) {
  LaunchList list(*process);
  ASSERT_THAT(list.add(numbered(LaunchCores::kCube, 1)), IsOk());
  ASSERT_THAT(list.add(numbered(LaunchCores::kVector, 2)), IsOk());
  ASSERT_THAT(list.finish(in(10_ms)), IsOk());
  ASSERT_THAT(list.run(in(10_ms)), IsOk());
  ASSERT_THAT(list.wait(in(10_ms)), IsOk());
  ASSERT_THAT(process->space().free({launched().front().arguments}), IsOk());
  ASSERT_THAT(list.run(in(10_ms)), IsOk());
  EXPECT_THAT(list.wait(in(1'000_ms)), FailsWith(ErrorCode::kDeviceFault));
}

}  // namespace
}  // namespace npu::driver
