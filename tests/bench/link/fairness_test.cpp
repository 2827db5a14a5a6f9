// SPDX-License-Identifier: Apache-2.0
// Who gets which share of a wire, and what a full receiver holds up.
#include <algorithm>

#include "tests/bench/link/link_bench.hpp"

namespace npu::test {
namespace {

// Bytes that the memory of `card` was given by `when` in messages of `length`.
Bytes given(LinkCard& card, unsigned length, SimTime when) {
  Bytes sum = 0;
  for (const auto& each : card.memory.seen) {
    if (each.length == length && each.when <= when) sum += length;
  }
  return sum;
}

TEST(HccsFairness, FlowsGetTheSameBytesWhateverTheSizeOfTheirMessages) {
  LinkBench bench;
  bench.card(0).issue_many(true, 1, 64, 0);
  for (unsigned i = 0; i < 256; ++i) {
    bench.card(0).issue(true, 1, 1024 * i, bench.card(0).buffer.data(), 1024, 1);
  }
  bench.run(100 * kMicrosecond);
  for (const SimTime when : {10, 20, 40, 60}) {
    const auto large = given(bench.card(1), 4096, when * kMicrosecond);
    const auto small = given(bench.card(1), 1024, when * kMicrosecond);
    EXPECT_GT(large, 0U);
    EXPECT_LE(std::max(large, small) - std::min(large, small), 4096U) << when << " us";
  }
}

TEST(HccsFairness, ALateFlowWaitsForOneMessageAtMost) {
  LinkBench bench;
  bench.card(0).issue_many(true, 1, 100, 0);
  bench.run(20 * kMicrosecond);
  const auto late = bench.card(0).issue(true, 1, 0, bench.card(0).buffer.data(), 4096, 1);
  bench.run(100 * kMicrosecond);
  EXPECT_LE(bench.card(0).answer(late).when, 20 * kMicrosecond + kRoundTrip + kFull);
}

TEST(HccsFairness, FourFlowsHaveAQuarterEach) {
  LinkBench bench;
  for (const unsigned flow : {0U, 1U, 2U, 3U}) bench.card(0).issue_many(true, 1, 32, flow);
  bench.run(200 * kMicrosecond);
  const auto& answers = bench.card(0).answers;
  ASSERT_EQ(answers.size(), 128U);
  // Numbers 0..31 are of flow 0, and so on; of any four in a row one is of each.
  for (std::size_t i = 0; i + 3 < answers.size(); i += 4) {
    std::vector<std::uint64_t> flows;
    for (std::size_t k = i; k < i + 4; ++k) flows.push_back(answers[k].id / 32);
    std::sort(flows.begin(), flows.end());
    EXPECT_EQ(flows, (std::vector<std::uint64_t>{0, 1, 2, 3})) << "from answer " << i;
  }
}

// Data for the other card's reads and this card's own writes share one wire.
TEST(HccsFairness, WritesAndReadDataShareAWire) {
  LinkBench bench;
  bench.card(0).issue_many(true, 1, 64);
  bench.card(1).issue_many(false, 0, 64);
  bench.run(40 * kMicrosecond);
  const auto writes = bench.card(0).answers.size(), reads = bench.card(1).answers.size();
  EXPECT_GT(writes, 30U);
  EXPECT_LE(std::max(writes, reads) - std::min(writes, reads), 3U);
}

TEST(HccsFairness, OtherPairsOfCardsAreNotConcerned) {
  LinkBench bench(3);
  bench.card(0).issue_many(true, 1, 64);
  const auto id = bench.card(0).issue(true, 2, 0, bench.card(0).buffer.data(), 4096, 1);
  bench.run(100 * kMicrosecond);
  EXPECT_EQ(bench.card(0).answer(id).when, kRoundTrip);
}

TEST(HccsCredits, AFullReceiverHoldsWritesBackAndNothingElse) {
  auto config = link_chip_config();
  config.hccs.receive_buffer = 8_KiB;
  LinkBench bench(2, config);
  bench.card(1).memory.answer = false;
  bench.card(0).issue_many(true, 1, 5);
  bench.run(50 * kMicrosecond);
  EXPECT_EQ(bench.card(1).memory.seen.size(), 2U);
  // Reads, by it and of it, need no room.
  const auto read = bench.card(1).issue(false, 0, 0, bench.card(1).buffer.data(), 4096);
  bench.card(0).issue(false, 1, 0, bench.card(0).buffer.data(), 64);
  bench.run(50 * kMicrosecond);
  EXPECT_EQ(bench.card(1).answer(read).when, 50 * kMicrosecond + kRoundTrip);
  EXPECT_EQ(bench.card(1).memory.seen.size(), 3U);
  EXPECT_GT(bench.net().wire(0, 0).statistics().credit_waits, 0U);
}

TEST(HccsCredits, RoomIsThereAgainWithTheResponse) {
  auto config = link_chip_config();
  config.hccs.receive_buffer = 8_KiB;
  LinkBench bench(2, config);
  bench.card(1).memory.answer = false;
  bench.card(0).issue_many(true, 1, 3);
  bench.run(50 * kMicrosecond);
  bench.card(1).memory.answer = true;
  bench.card(1).memory.answer_kept();
  bench.run(50 * kMicrosecond);
  ASSERT_EQ(bench.card(1).memory.seen.size(), 3U);
  EXPECT_EQ(bench.card(1).memory.seen[2].when,
            50 * kMicrosecond + kEmpty + kPropagation + kFull + kPropagation + kIngress);
}

}  // namespace
}  // namespace npu::test
