// SPDX-License-Identifier: Apache-2.0
// Function level reset while requests are in flight.
#include "dma_bench.hpp"

namespace npu::test {
namespace {

void reset(DmaBench& bench) {
  bench.registers.function_reset(0);
  bench.ring.reset();
  bench.dma.function_reset(0);
}

// Resets `delay` after the doorbell of a copy of 1 MiB, then works on as if nothing had been.
void survives_reset(DmaOpcode opcode, Picoseconds delay) {
  DmaBench bench;
  bench.enable();
  for (unsigned i = 0; i < 8; ++i) bench.push(make_entry(opcode, 0, 1_MiB, 1_MiB, i % 4, i));
  bench.ring_doorbell();
  bench.run(delay);
  reset(bench);
  EXPECT_TRUE(bench.ring.idle());
  EXPECT_EQ(bench.read<abi::DmaConsumerIndex>().raw, 0u);
  auto& source = opcode == kH2d ? bench.host.bytes : bench.hbm.bytes;
  auto& target = opcode == kD2h ? bench.host.bytes : bench.hbm.bytes;
  bench.fill_random(source, 4_MiB, 100'000);
  bench.enable();  // while the old responses are still coming
  bench.submit(make_entry(opcode, 4_MiB, 6_MiB, 100'000, 0, 9, true));
  bench.run(1_ms);
  EXPECT_EQ(bench.event(9).raw, 1u);
  EXPECT_EQ(bench.interrupts.size(), 1u);
  EXPECT_EQ(0, std::memcmp(&source[4_MiB], &target[6_MiB], 100'000));
  for (unsigned i = 0; i < 8; ++i) EXPECT_EQ(bench.event(i).raw, 0u);
  EXPECT_EQ(bench.sim.pool.in_use(), 0u) << "late responses are given back";
  EXPECT_EQ(bench.host.outstanding + bench.hbm.outstanding, 0u);
}

TEST(DmaReset, DuringDoorbellDecode) {
  survives_reset(kH2d, 10_ns);
}
TEST(DmaReset, DuringFetch) {
  survives_reset(kH2d, 60_ns);
}
TEST(DmaReset, DuringSetup) {
  survives_reset(kH2d, 150_ns);
}
TEST(DmaReset, DuringHostReads) {
  survives_reset(kH2d, 3_us);
}
TEST(DmaReset, DuringTranslation) {
  survives_reset(kD2h, 500_ns);
}
TEST(DmaReset, DuringPostedWrites) {
  survives_reset(kD2h, 2_us);
}
TEST(DmaReset, DuringDeviceCopies) {
  survives_reset(kD2d, 2_us);
}

TEST(DmaStuckEngine, IsPassedByWhatOthersTake) {
  DmaBench bench;
  bench.enable();
  bench.dma.engine(0).set_stuck(true);
  for (unsigned i = 0; i < 8; ++i) bench.push(make_entry(kH2d, 0, 1_MiB, 4_KiB, i % 4, i));
  bench.ring_doorbell();
  bench.run(1_ms);
  std::uint64_t done = 0;
  for (unsigned i = 0; i < 8; ++i) done += bench.event(i).raw;
  EXPECT_GE(done, 1U);
  EXPECT_LT(done, 8U) << "what the engine has taken waits";
  bench.dma.engine(0).set_stuck(false);
  bench.run(1_ms);
  for (unsigned i = 0; i < 8; ++i) EXPECT_EQ(bench.event(i).raw, 1U);
}

TEST(DmaStuckEngine, AllOfThemWorkAgainAfterAReset) {
  DmaBench bench;
  bench.enable();
  for (unsigned i = 0; i < 4; ++i) bench.dma.engine(i).set_stuck(true);
  bench.submit(make_entry(kH2d, 0, 1_MiB, 4_KiB, 0, 1));
  bench.run(1_ms);
  EXPECT_EQ(bench.event(1).raw, 0U);
  reset(bench);
  bench.enable();
  bench.submit(make_entry(kH2d, 0, 1_MiB, 4_KiB, 0, 2));
  bench.run(1_ms);
  EXPECT_EQ(bench.event(1).raw, 0U);
  EXPECT_EQ(bench.event(2).raw, 1U);
}

// Each of four streams has two commands in the ring; one engine loses one of them.
TEST(DmaLostCommand, HoldsUpItsStreamAlone) {
  DmaBench bench;
  bench.enable();
  bench.dma.engine(0).lose_next(true);
  for (unsigned i = 0; i < 8; ++i) bench.push(make_entry(kH2d, 0, 1_MiB, 4_KiB, i % 4, i));
  bench.ring_doorbell();
  bench.run(1_ms);
  std::uint64_t done = 0;
  for (unsigned i = 0; i < 8; ++i) done += bench.event(i).raw;
  EXPECT_EQ(done, 6U);
  EXPECT_EQ(bench.event(0).raw + bench.event(4).raw, 0U) << "the first stream";
  EXPECT_FALSE(bench.ring.idle());
  bench.submit(make_entry(kH2d, 0, 1_MiB, 4_KiB, 1, 9));
  bench.run(1_ms);
  EXPECT_EQ(bench.event(9).raw, 1U);
}

TEST(DmaLostCommand, IsCarriedOutLateInTheOrderOfItsStream) {
  DmaBench bench;
  bench.enable();
  bench.fill_random(bench.host.bytes, 0, 4_KiB);
  bench.dma.engine(0).lose_next(true);
  bench.push(make_entry(kH2d, 0, 1_MiB, 4_KiB, 0, 1));
  bench.push(make_entry(kD2h, 1_MiB, 2_MiB, 4_KiB, 0, 2));
  bench.ring_doorbell();
  bench.run(1_ms);
  EXPECT_EQ(bench.event(2).raw, 0U);
  bench.dma.find_lost(0);
  bench.run(1_ms);
  EXPECT_EQ(bench.event(1).raw, 1U);
  EXPECT_EQ(bench.event(2).raw, 1U);
  EXPECT_EQ(0, std::memcmp(&bench.host.bytes[0], &bench.host.bytes[2_MiB], 4_KiB));
  EXPECT_TRUE(bench.ring.idle());
}

TEST(DmaLostCommand, IsGoneAfterAReset) {
  DmaBench bench;
  bench.enable();
  bench.dma.engine(0).lose_next(true);
  bench.submit(make_entry(kH2d, 0, 1_MiB, 4_KiB, 0, 1));
  bench.run(1_ms);
  reset(bench);
  bench.dma.find_lost(0);
  bench.enable();
  bench.submit(make_entry(kH2d, 0, 1_MiB, 4_KiB, 0, 2));
  bench.run(1_ms);
  EXPECT_EQ(bench.event(1).raw, 0U);
  EXPECT_EQ(bench.event(2).raw, 1U);
  EXPECT_TRUE(bench.ring.idle());
}

TEST(DmaReset, AnswersThatComeVeryLateAreDropped) {
  DmaBench bench;
  bench.enable();
  bench.host.answer = false;
  bench.submit(make_entry(kH2d, 0, 1_MiB, 64_KiB, 0, 1));
  bench.run(10_us);
  reset(bench);
  bench.host.answer_kept();
  bench.run(1_ms);
  EXPECT_EQ(bench.event(1).raw, 0u);
  EXPECT_EQ(bench.dma.statistics().commands, 0u);
  EXPECT_EQ(bench.host.outstanding, 0u);
}

}  // namespace
}  // namespace npu::test
