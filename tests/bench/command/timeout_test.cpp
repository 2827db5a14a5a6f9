// SPDX-License-Identifier: Apache-2.0
// Launches whose blocks may run so long and no longer. A core has one event for all deadlines of
// its blocks.
#include <map>

#include "command_bench.hpp"

namespace npu::test {
namespace {

constexpr std::uint16_t kGoOn = abi::kEntryCompletion | abi::kEntryContinueOnError;

QueueEntry limited(QueueEntry entry, std::uint32_t timeout_us) {
  auto payload = entry.get<abi::LaunchPayload>();
  payload.timeout_us = timeout_us;
  entry.set(payload);
  return entry;
}

model::ChipConfig one_core() {
  auto config = command_chip_config();
  config.ai_cores = 1;
  return config;
}

// By the entries' tags.
std::map<std::uint32_t, unsigned> statuses(CommandBench& bench, TestQueue& queue) {
  std::map<std::uint32_t, unsigned> all;
  while (const auto entry = bench.completion(queue)) all[entry->tag] = entry->status;
  return all;
}

using Statuses = std::map<std::uint32_t, unsigned>;
constexpr unsigned kLate = static_cast<unsigned>(abi::FaultCode::kTaskTimeout);

TEST(CommandTimeout, ABlockThatRunsLongerIsEnded) {
  CommandBench bench(one_core());
  auto queue = bench.make();
  bench.push(queue, limited(spin(bench, 1, 1, 50'001, 1, kGoOn), 20));  // 50 us
  bench.push(queue, limited(spin(bench, 1, 2, 10'002, 1, kGoOn), 20));
  bench.push(queue, limited(spin(bench, 1, 3, 50'003, 1, kGoOn), 0));
  bench.ring(queue);
  bench.run(200_us);
  EXPECT_EQ(statuses(bench, queue), (Statuses{{1, kLate}, {2, 0}, {3, 0}}));
}

// The limit is of each block, not of the launch.
TEST(CommandTimeout, ManyShortBlocksMayTakeLonger) {
  CommandBench bench(one_core());
  auto queue = bench.make();
  bench.push(queue, limited(spin(bench, 1, 1, 9'000, 10, kGoOn), 20));
  bench.ring(queue);
  bench.run(300_us);
  EXPECT_EQ(statuses(bench, queue), (Statuses{{1, 0}}));
  EXPECT_EQ(bench.blocks(), 10U);
}

// The event of the first deadline comes while a block with a later one, or with none, runs.
TEST(CommandTimeout, ALaterBlockHasADeadlineOfItsOwn) {
  CommandBench bench(one_core());
  auto queue = bench.make();
  bench.push(queue, limited(spin(bench, 1, 1, 5'004, 1, kGoOn), 40));
  bench.push(queue, limited(spin(bench, 1, 2, 60'005, 1, kGoOn), 100));
  bench.push(queue, limited(spin(bench, 1, 3, 60'001, 1, kGoOn), 10));
  bench.push(queue, limited(spin(bench, 1, 4, 60'002, 1, kGoOn), 0));
  bench.push(queue, limited(spin(bench, 1, 5, 60'003, 1, kGoOn), 50));
  bench.ring(queue);
  bench.run(400_us);
  EXPECT_EQ(statuses(bench, queue), (Statuses{{1, 0}, {2, 0}, {3, kLate}, {4, 0}, {5, kLate}}));
}

TEST(CommandTimeout, AllBlocksOfTheLaunchEnd) {
  auto config = command_chip_config();
  config.ai_cores = 4;
  CommandBench bench(config);
  auto queue = bench.make();
  bench.push(queue, limited(spin(bench, 1, 1, 50'001, 100, kGoOn), 20));
  bench.push(queue, limited(spin(bench, 1, 2, 1'002, 8, kGoOn), 20));
  bench.ring(queue);
  bench.run(200_us);
  EXPECT_EQ(statuses(bench, queue), (Statuses{{1, kLate}, {2, 0}}));
}

}  // namespace
}  // namespace npu::test
