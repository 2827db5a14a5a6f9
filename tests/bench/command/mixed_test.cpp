// SPDX-License-Identifier: Apache-2.0
// Mixed launches: each block on a whole cluster.
#include "command_bench.hpp"

namespace npu::test {
namespace {

model::ChipConfig split_chip() {
  auto config = command_chip_config();
  config.core = core_config(model::ProgramCoreKind::kSplit);
  return config;
}

QueueEntry mixed(QueueEntry entry, std::uint32_t value = 1, std::uint32_t clusters = 0) {
  auto payload = entry.get<abi::LaunchPayload>();
  payload.mixed = value;
  payload.cores = clusters;
  entry.set(payload);
  return entry;
}

std::uint16_t status_of(CommandBench& bench, TestQueue& queue, const QueueEntry& entry) {
  bench.submit(queue, entry);
  bench.run(200_us);
  const auto completion = bench.completion(queue);
  EXPECT_TRUE(completion.has_value());
  return completion ? completion->status : std::uint16_t{0xFFFF};
}
constexpr std::uint16_t code(FaultCode fault) {
  return static_cast<std::uint16_t>(fault);
}

TEST(CommandMixed, BlocksAreOnAllCoresOfACluster) {
  CommandBench bench(split_chip());
  auto queue = bench.make();
  EXPECT_EQ(status_of(bench, queue, mixed(spin(bench, 1, 1, 10'000, 16))), 0);
  for (unsigned core = 0; core < 24; ++core) {
    EXPECT_EQ(bench.aicores.statistics(core).blocks, 2U) << core;
  }
}

TEST(CommandMixed, LaunchesKeepToAsManyClustersAsTheySay) {
  CommandBench bench(split_chip());
  auto queue = bench.make();
  EXPECT_EQ(status_of(bench, queue, mixed(spin(bench, 1, 1, 1'000, 8), 1, 2)), 0);
  for (const unsigned core : {0U, 1U, 8U, 9U, 10U, 11U}) {
    EXPECT_EQ(bench.aicores.statistics(core).blocks, 4U) << core;
  }
}

TEST(CommandMixed, CoupledCoresAreClusters) {
  CommandBench bench;
  auto queue = bench.make();
  EXPECT_EQ(status_of(bench, queue, mixed(spin(bench, 1, 1, 1'000, 16))), 0);
  EXPECT_EQ(bench.blocks(), 16U);
}

// Blocks of the other queue come one by one to whatever core is free.
TEST(CommandMixed, LaunchesAreNotPassedWithoutEnd) {
  CommandBench bench(split_chip());
  auto others = bench.make(), queue = bench.make();
  auto many = spin(bench, 1, 1, 3'000, 1'000);
  bench.submit(others, many);
  bench.run(20_us);

  bench.submit(queue, mixed(spin(bench, 1, 2, 100, 1)));
  bench.run(20_us);

  EXPECT_TRUE(bench.completion(queue).has_value());
  EXPECT_FALSE(bench.completion(others).has_value());
}

TEST(CommandMixed, LaunchesNeedAWholeCluster) {
  CommandBench bench(split_chip());
  QueueSpec spec;
  spec.core_mask = 0x7F'FFE0;  // cubes 5 to 7, all vector cores but one of cluster 7
  auto queue = bench.make(spec);
  EXPECT_EQ(status_of(bench, queue, mixed(spin(bench, 1, 1, 100, 4))), 0);
  EXPECT_EQ(bench.aicores.statistics(5).blocks + bench.aicores.statistics(6).blocks, 4U);
  EXPECT_EQ(bench.aicores.statistics(7).blocks, 0U);
  spec.core_mask = 0xFF;
  auto cubes = bench.make(spec);
  EXPECT_EQ(status_of(bench, cubes, mixed(spin(bench, 1, 1, 100, 4))),
            code(FaultCode::kInvalidCoreMask));
}

TEST(CommandMixed, LaunchesAreOneOrNoneAndNotOfAicpus) {
  CommandBench bench(split_chip());
  auto first = bench.make(), second = bench.make();
  EXPECT_EQ(status_of(bench, first, mixed(spin(bench, 1, 1, 100, 1), 2)),
            code(FaultCode::kMalformedEntry));
  auto entry = mixed(spin(bench, 1, 1, 100, 1));
  entry.opcode = static_cast<std::uint8_t>(QueueOpcode::kLaunchAicpu);
  EXPECT_EQ(status_of(bench, second, entry), code(FaultCode::kMalformedEntry));
}

}  // namespace
}  // namespace npu::test
