// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "tests/bench/host/host_bench.hpp"

namespace npu::test {
namespace {

TEST(NumaMemory, OfANodeIsFinite) {
  model::NumaMemory memory(memory_config());
  const auto all = memory.allocate(1_GiB, 0);
  EXPECT_NE(all.data, nullptr);
  EXPECT_EQ(memory.allocate(1, 0).data, nullptr);
  EXPECT_NE(memory.allocate(1, 1).data, nullptr);
  EXPECT_TRUE(memory.free(all));
  EXPECT_EQ(memory.used(0), 0U);
  EXPECT_EQ(memory.used(1), 4096U) << "whole pages";
}

TEST(NumaMemory, FreesNothingOfSomebodyElses) {
  model::NumaMemory memory(memory_config());
  std::array<std::byte, 4096> other{};
  const auto mine = memory.allocate(8192, 0);
  EXPECT_FALSE(memory.free({other.data(), other.size()}));
  EXPECT_FALSE(memory.free({mine.data + 4096, 4096}));
  EXPECT_EQ(memory.used(0), 8192U);
}

TEST(NumaMemory, OfAnotherNodeIsFarther) {
  const model::NumaMemory memory(memory_config());
  EXPECT_EQ(memory.latency(false, 0, 0), 90_ns);
  EXPECT_EQ(memory.latency(true, 1, 1), 60_ns);
  EXPECT_EQ(memory.latency(true, 0, 1), 60_ns + 70_ns);
}

struct CountingWatcher : model::MemoryWatcher {
  explicit CountingWatcher(model::WatchList* leaves = nullptr) : list(leaves) {}
  void memory_written() override {
    ++told;
    if (list != nullptr) list->unwatch(*this);
  }
  model::WatchList* list;
  int told = 0;
};

TEST(WatchList, TellsOfBytesOfTheRangeAlone) {
  model::WatchList list;
  std::array<std::byte, 64> memory{};
  CountingWatcher watcher;
  list.watch({memory.data() + 8, 8}, watcher);
  list.written(memory.data(), 8);
  list.written(memory.data() + 16, 8);
  EXPECT_EQ(watcher.told, 0);
  list.written(memory.data(), 9);
  list.written(memory.data() + 15, 1);
  EXPECT_EQ(watcher.told, 2);
}

TEST(WatchList, WhoLeavesWhenToldDoesNotHideTheNext) {
  model::WatchList list;
  std::array<std::byte, 8> memory{};
  CountingWatcher leaves(&list), stays;
  list.watch({memory.data(), 8}, leaves);
  list.watch({memory.data(), 8}, stays);
  list.written(memory.data(), 1);
  list.written(memory.data(), 1);
  EXPECT_EQ(leaves.told, 1);
  EXPECT_EQ(stays.told, 2);
}

TEST(IommuFaultLog, KeepsTheFirstAndCountsAll) {
  HostBench bench;
  model::IommuFaultLog log(bench.simulation);
  for (std::uint64_t i = 0; i <= model::IommuFaultLog::kKept; ++i) {
    log.record({0, kRequester, 0, i, true, model::Completion::kUnsupportedRequest}, 0);
  }
  ASSERT_EQ(log.faults().size(), model::IommuFaultLog::kKept);
  EXPECT_EQ(log.faults().back().bus, model::IommuFaultLog::kKept - 1);
  EXPECT_EQ(log.count(kRequester), model::IommuFaultLog::kKept + 1);
  EXPECT_EQ(log.count(kRequester + 1), 0U);
}

}  // namespace
}  // namespace npu::test
