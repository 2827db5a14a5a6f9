// SPDX-License-Identifier: Apache-2.0
// Bytes, errors, others' writes, reset, and a card without an L2.
#include "l2_bench.hpp"

namespace npu::test {
namespace {

using L2Bytes = OnBench<L2Bench>;

TEST_F(L2Bytes, MoveWhenTheRequestIsAccepted) {
  std::array<unsigned char, 600> out{}, in{};
  out.fill(0x5A);
  bench.issue({true, 0x1003, 600, out.data()});
  EXPECT_EQ(bench.memory0.bytes[0x1003], 0x5A);
  out.fill(0);
  bench.issue({false, 0x1003, 600, in.data()});
  EXPECT_EQ(in[599], 0x5A);
  bench.run(10_us);
  EXPECT_EQ(bench.status[1], tlm::TLM_OK_RESPONSE);
}

TEST_F(L2Bytes, AccessBeyondTheMemoryIsRefusedAndAllocatesNothing) {
  unsigned char byte = 0;
  const auto id = bench.issue({false, 64_MiB, 1, &byte});
  bench.run(10_us);
  EXPECT_EQ(bench.status[id], tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(bench.l2.statistics().requests, 0u);
  EXPECT_EQ(bench.memory_reads(), 0u);
}

// A memory whose second line holds an error that cannot be corrected.
void spoil_second_line(L2Bench& bench) {
  for (auto* memory : {&bench.memory0, &bench.memory1}) {
    memory->verdict = [](tlm::tlm_generic_payload& trans) {
      // Not of a client's request, whose bytes are moved at once, without time and errors.
      const bool timed = model::Transaction::of(trans).sender_states.count() == 0;
      const bool holds =
          trans.get_address() < 2 * kLine && trans.get_address() + trans.get_data_length() > kLine;
      return timed && trans.is_read() && holds ? model::Completion::kPoisoned
                                               : model::Completion::kSuccess;
    };
  }
}

TEST(L2Errors, OfTheMemoryFailAllThatWaitForTheReadAndStayInTheMemory) {
  L2Bench bench;
  spoil_second_line(bench);
  const auto first = bench.issue({false, kLine, 64});
  const auto merged = bench.issue({false, kLine + 64, 64, nullptr, 1, 0, false, 1});
  const auto beside = bench.issue({false, 2 * kLine, 64});
  bench.run(10_us);
  EXPECT_EQ(bench.status[first], tlm::TLM_GENERIC_ERROR_RESPONSE);
  EXPECT_EQ(bench.status[merged], tlm::TLM_GENERIC_ERROR_RESPONSE);
  EXPECT_EQ(bench.status[beside], tlm::TLM_OK_RESPONSE);
  const auto again = bench.issue({false, kLine, 64});
  bench.run(10_us);
  EXPECT_EQ(bench.status[again], tlm::TLM_GENERIC_ERROR_RESPONSE) << "the line was kept";
  bench.memory0.verdict = nullptr;
  const auto mended = bench.issue({false, kLine, 64});
  bench.run(10_us);
  EXPECT_EQ(bench.status[mended], tlm::TLM_OK_RESPONSE);
  EXPECT_TRUE(bench.holds(1));
}

TEST(L2Errors, AreNotMendedByAWriteOfPartOfTheLine) {
  L2Bench bench;
  spoil_second_line(bench);
  bench.write(kLine, 64);
  EXPECT_EQ(bench.write_backs().size(), 0u);
  const auto part = bench.issue({false, kLine + 128, 64});
  bench.run(10_us);
  EXPECT_EQ(bench.status[part], tlm::TLM_GENERIC_ERROR_RESPONSE);
  bench.write(kLine);  // all of it: needs no read
  EXPECT_TRUE(bench.holds(1));
}

TEST_F(L2Bytes, PostedWritesAreReleased) {
  unsigned char byte = 7;
  const auto id = bench.issue({true, 5, 1, &byte, 1, 0, true});
  bench.run(10_us);
  EXPECT_EQ(bench.ended[id], 0u);
  EXPECT_EQ(bench.memory0.bytes[5], 7);
  EXPECT_EQ(bench.sim.pool.in_use(), 0u);
}

TEST(L2Others, WhatTheyWriteIsReadAnewAndNotWrittenBack) {
  L2Bench bench;
  bench.write(0, 4 * kLine);
  bench.l2.bytes_written(kLine, 2 * kLine);  // the second and third
  EXPECT_TRUE(bench.holds(0));
  EXPECT_TRUE(bench.holds(3));
  EXPECT_FALSE(bench.holds(1));
  EXPECT_FALSE(bench.holds(2));
  EXPECT_EQ(bench.l2.statistics().snooped, 2u);
  EXPECT_EQ(bench.write_backs().size(), 0u);
}

TEST(L2Others, WhatIsDirtyBesideTheirBytesIsWrittenBackOnce) {
  L2Bench bench;
  bench.write(0, 4 * kLine);
  bench.l2.bytes_written(kLine + 5, 2 * kLine);  // part of the second, the third, 5 of the fourth
  bench.run(10_us);
  const auto backs = bench.write_backs();
  ASSERT_EQ(backs.size(), 2u);
  EXPECT_EQ(backs[0].address, kLine);
  EXPECT_EQ(backs[1].address, 3 * kLine);
  EXPECT_EQ(backs[0].length + backs[1].length, 2 * kLine);
  EXPECT_EQ(bench.l2.statistics().write_backs, 2u);
  EXPECT_EQ(bench.l2.statistics().snooped, 3u);
  for (unsigned line = 0; line < 4; ++line) EXPECT_EQ(bench.holds(line), line == 0) << line;
}

TEST(L2Others, WhatWasWrittenOfALineThatTheyWriteIsWrittenBackAndForgotten) {
  L2Bench bench;
  bench.write(0, 64);
  bench.l2.bytes_written(64, 64);
  bench.run(10_us);
  EXPECT_EQ(bench.write_backs().size(), 1u);
  bench.write(128, 64);
  EXPECT_GT(bench.read(0, 64), kReadHit) << "dropped";
}

TEST(L2Others, WhatIsCleanIsNotWrittenBack) {
  L2Bench bench;
  bench.read(0, 2 * kLine);
  bench.l2.bytes_written(5, kLine);
  bench.run(10_us);
  EXPECT_EQ(bench.l2.statistics().snooped, 2u);
  EXPECT_EQ(bench.write_backs().size(), 0u);
}

TEST(L2Others, TheirWriteBacksTakeBuffersThatOthersWaitFor) {
  auto config = small_l2();
  config.ways = config.slices = config.write_buffers = 1;
  config.size = 4 * kLine;  // a set for each of lines 0..3; 5 lies in that of 0
  L2Bench bench(config);
  bench.write(0, 3 * kLine);
  bench.memory0.latency = 1'000'000;
  const auto begin = model::sim_now();
  bench.l2.bytes_written(kLine, 1);
  bench.l2.bytes_written(2 * kLine, 1);  // nobody is made to wait
  const auto id = bench.issue({true, 5 * kLine});
  bench.run(10_us);
  EXPECT_EQ(bench.ended[id] - begin, 1'000'000 + kLineTime + kWrite + kNoc);
  EXPECT_EQ(bench.l2.statistics().write_backs, 3u);
}

TEST(L2Others, ADroppedPlaceIsUsedBeforeALineGoes) {
  L2Bench bench;
  bench.read(0, kLines * kLine);
  bench.l2.bytes_written(3 * kLine, 1);
  const auto before = bench.l2.statistics().read_misses;
  bench.read(0, kLines * kLine);
  EXPECT_EQ(bench.l2.statistics().read_misses, before + 1);
}

TEST(L2Others, WritesToALineOnItsWayLeaveItThere) {
  L2Bench bench;
  const auto id = bench.issue({false, 0});
  bench.l2.bytes_written(0, kLine);
  bench.run(10_us);
  EXPECT_NE(bench.ended[id], 0u);
  EXPECT_EQ(bench.read(0), kReadHit);
}

TEST(L2Reset, DropsLinesAndAnswersWhatIsInFlight) {
  auto config = small_l2();
  config.miss_buffers = 1;
  L2Bench bench(config);
  bench.read(0);
  const auto id = bench.issue({false, 8 * kLine, 32 * kLine});
  bench.run(50_ns);
  bench.l2.invalidate_all();
  bench.run(100_us);
  EXPECT_NE(bench.ended[id], 0u);
  EXPECT_FALSE(bench.holds(0));
  EXPECT_EQ(bench.sim.pool.in_use(), 0u);
}

TEST(L2None, RequestsGoToTheMemoryAndBackAsTheyAre) {
  auto config = small_l2();
  config.size = 0;
  L2Bench bench(config);
  EXPECT_EQ(bench.read(0x1000, 100), kMemory);
  EXPECT_EQ(bench.read(0x1000, 100), kMemory);
  EXPECT_EQ(bench.memory0.seen[1].length, 100u);
  bench.l2.bytes_written(0, 1);
  bench.l2.invalidate_all();
  EXPECT_EQ(bench.l2.statistics().requests, 0u);
}

}  // namespace
}  // namespace npu::test
