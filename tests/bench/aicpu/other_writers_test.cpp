// SPDX-License-Identifier: Apache-2.0
// Writes that do not come through the MMU (BAR2, other cards), which are known by device-local
// address alone.
#include "model/aicpu/held_lines.hpp"
#include "tests/bench/aicpu/aicpu_bench.hpp"

namespace npu::test {
namespace {

constexpr SimTime kWritten = 10'000 * kNs;

void write_at(AicpuBench& bench, SimTime when, std::uint64_t address, std::uint32_t value) {
  bench.at(when, [&bench, address, value] {
    std::memcpy(bench.memory.bytes.data() + address, &value, sizeof value);
    bench.watch.bytes_written(address, sizeof value);
  });
}

std::uint64_t seen_after(bool snoops_dma, std::uint64_t written) {
  auto config = aicpu_config();
  config.snoops_dma = snoops_dma;
  AicpuBench bench(config);
  write_at(bench, kWritten, written, 5);
  std::uint64_t seen = 9;
  bench.run_program([&](AicpuPort& port) {
    EXPECT_EQ(port.load(kDataAt, 4), 0U);
    port.compute(20'000);
    seen = port.load(kDataAt, 4);
    return 0;
  });
  return seen;
}

TEST(OtherWriters, AreSeenAtOnceWhereDmaIsSnooped) {
  EXPECT_EQ(seen_after(true, kDataAt), 5U);
}

TEST(OtherWriters, AreNotSeenWhereItIsNot) {
  EXPECT_EQ(seen_after(false, kDataAt), 0U);
}

TEST(OtherWriters, OfTheNextLineLeaveALineAlone) {
  EXPECT_EQ(seen_after(true, kDataAt + 64), 0U);
}

TEST(OtherWriters, EndTheSleepOfAPollLoop) {
  auto config = aicpu_config();
  config.snoops_dma = true;
  AicpuBench bench(config);
  write_at(bench, kWritten, kDataAt, 5);
  const auto done = bench.run_program([](AicpuPort& port) {
    while (port.load(kDataAt, 4) == 0) port.poll_again(~std::uint64_t{0});
    return 0;
  });
  EXPECT_FALSE(done.fault.failed());
  EXPECT_GT(done.when, kWritten);
  EXPECT_LT(done.when, kWritten + 1000 * kNs);
}

TEST(OtherWriters, OfALineThatIsOnItsWayAreNotMissed) {
  auto config = aicpu_config();
  config.snoops_dma = true;
  AicpuBench bench(config);
  std::uint64_t seen = 9, last = 9;
  write_at(bench, kWritten, kDataAt, 5);
  write_at(bench, kWritten + 5'000 * kNs, kDataAt, 6);
  bench.run_program([&](AicpuPort& port) {
    port.compute(static_cast<unsigned>(kWritten / kNs - port.system_counter() - 50));
    port.load(kDataAt, 4);  // asked for before the write, answered behind it
    port.compute(1000);
    seen = port.load(kDataAt, 4);
    port.compute(10'000);
    last = port.load(kDataAt, 4);
    return 0;
  });
  EXPECT_EQ(seen, 5U);
  EXPECT_EQ(last, 6U);
}

TEST(HeldLines, AreTakenOnceAndKeptWhileTheyAreHeld) {
  model::HeldLines lines;
  lines.add(0x1000, {1, 3, 0x9000});
  lines.add(0x1020, {1, 3, 0x9000});
  lines.add(0x1000, {2, 3, 0x9000});
  lines.add(0x1080, {0, 4, 0x7000});
  EXPECT_EQ(lines.size(), 3U);
  std::vector<unsigned> told;
  const auto tell = [&](const auto& holder) { told.push_back(holder.core); };
  lines.take(0x1040, 0x40, tell);
  EXPECT_TRUE(told.empty());
  lines.take(0x103F, 2, tell);
  lines.take(0x1000, 64, tell);
  EXPECT_EQ(told, (std::vector<unsigned>{1, 2}));
  lines.keep([](const auto& holder) { return holder.core != 0; });
  EXPECT_EQ(lines.size(), 0U);
}

}  // namespace
}  // namespace npu::test
