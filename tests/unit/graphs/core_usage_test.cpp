// SPDX-License-Identifier: Apache-2.0
#include "workloads/task_graph/core_usage.hpp"

#include <gtest/gtest.h>

namespace npu::workloads {
namespace {

abi::TaskRecord block(std::uint32_t core, std::uint64_t ready, std::uint64_t sent,
                      std::uint64_t begun, std::uint64_t ended) {
  abi::TaskRecord record;
  record.dispatch = 1;
  record.physical_core = core;
  record.ready = ready;
  record.sent = sent;
  record.begun = begun;
  record.ended = ended;
  return record;
}

constexpr UsedCores kOneCluster{1, 2, 1};

TEST(CoreUsage, AReadyBlockBesideAnIdleCoreIsDispatchsFault) {
  const auto pools = core_usage({block(0, 10, 13, 15, 25)}, kOneCluster);
  ASSERT_EQ(pools.size(), 2U);
  EXPECT_EQ(pools[0].name, "aic");
  EXPECT_EQ(pools[0].busy, 10U);
  EXPECT_EQ(pools[0].dispatch_bound, 3U);
  EXPECT_EQ(pools[1].blocks, 0U);
}

TEST(CoreUsage, ABlockThatWaitsForABusyCoreIsNot) {
  // The second one is ready at 12, its core is busy from 11 to 30; from 30 to 34 it is not.
  const auto pools = core_usage({block(0, 10, 10, 11, 30), block(0, 12, 34, 35, 40)}, kOneCluster);
  EXPECT_EQ(pools[0].dispatch_bound, 4U);
  EXPECT_EQ(pools[0].phases, 1U);
}

TEST(CoreUsage, VectorCoresAreTwoPerCluster) {
  // One of two is busy from 0 to 20, the other idle: 10 to 15 is dispatch's.
  const auto pools = core_usage({block(1, 0, 0, 0, 20), block(2, 10, 15, 16, 18)}, kOneCluster);
  EXPECT_EQ(pools[1].name, "aiv");
  EXPECT_EQ(pools[1].cores, 2U);
  EXPECT_EQ(pools[1].busy, 22U);
  EXPECT_EQ(pools[1].dispatch_bound, 5U);
}

TEST(CoreUsage, PhasesAreSeparatedByTimeWithoutWaiters) {
  const auto pools = core_usage(
      {block(0, 0, 2, 2, 4), block(0, 4, 9, 9, 10), block(0, 12, 13, 13, 14)}, UsedCores{1, 0, 1});
  EXPECT_EQ(pools[0].name, "core");
  EXPECT_EQ(pools[0].phases, 3U);
  EXPECT_EQ(pools[0].dispatch_bound, 2U + 5U + 1U);
  EXPECT_EQ(pools[0].longest_phase, 5U);
}

TEST(CoreUsage, RecordsThatWereNeverWrittenAreNoBlocks) {
  EXPECT_EQ(core_usage({abi::TaskRecord{}}, kOneCluster)[0].blocks, 0U);
}

}  // namespace
}  // namespace npu::workloads
