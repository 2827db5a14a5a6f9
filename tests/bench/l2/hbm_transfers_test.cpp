// SPDX-License-Identifier: Apache-2.0
// What goes to the HBM: which lines are read and written together, and who waits for which read.
#include <gtest/gtest.h>

#include <vector>

#include "model/l2/line_fills.hpp"
#include "model/l2/write_back_queue.hpp"

namespace npu::test {
namespace {

struct Sent {
  unsigned client;
  tlm::tlm_command command;
  model::Line first;
  std::uint32_t lines;
  std::uint64_t cause;
  std::uint32_t number;
};

struct FakeHbm : model::HbmPort {
  std::vector<Sent> sent;
  void send(unsigned client, tlm::tlm_command command, const model::HbmTransfer& transfer,
            std::uint32_t number) override {
    sent.push_back({client, command, transfer.first, transfer.lines, transfer.cause, number});
  }
};

class LineFills : public testing::Test {
 protected:
  std::vector<std::uint32_t> finish(std::uint32_t fill) {
    std::vector<std::uint32_t> woken;
    fills.finish(fill, [&woken](std::uint32_t number) { woken.push_back(number); });
    return woken;
  }
  // A request that misses one line and waits for it.
  std::uint32_t miss(std::uint32_t request, model::Line line) {
    fills.begin({request, 0, 0});
    const auto fill = fills.read({}, line, 0);
    fills.end();
    return fill;
  }

  FakeHbm hbm;
  model::LineFills fills{hbm};
};

TEST_F(LineFills, NeighboursAreOneReadThatIsSentWhenItBecomesNoLonger) {
  fills.begin({5, 2, 77});
  const auto first = fills.read({}, 10, 100);
  EXPECT_EQ(fills.read({}, 11, 300), first);
  EXPECT_EQ(fills.read({}, 12, 200), first);
  EXPECT_TRUE(hbm.sent.empty());
  const auto second = fills.read({}, 14, 50);
  EXPECT_NE(second, first);
  EXPECT_EQ(hbm.sent.size(), 1u);
  EXPECT_EQ(fills.end(), 2u);
  ASSERT_EQ(hbm.sent.size(), 2u);
  EXPECT_EQ(hbm.sent[0].first, 10u);
  EXPECT_EQ(hbm.sent[0].lines, 3u);
  EXPECT_EQ(hbm.sent[0].number, first);
  EXPECT_EQ(hbm.sent[0].command, tlm::TLM_READ_COMMAND);
  EXPECT_EQ(hbm.sent[0].client, 2u);
  EXPECT_EQ(hbm.sent[0].cause, 77u);
  EXPECT_EQ(hbm.sent[1].first, 14u);
  EXPECT_EQ(hbm.sent[1].lines, 1u);
  // The lines are there when the last one is.
  EXPECT_EQ(fills.arrived(first, false), 300u);
  EXPECT_EQ(fills.arrived(second, false), 50u);
}

TEST_F(LineFills, NeighboursOfTwoRequestsAreTwoReads) {
  EXPECT_NE(miss(0, 10), miss(1, 11));
  EXPECT_EQ(hbm.sent.size(), 2u);
}

TEST_F(LineFills, WakeWhoWaitsInTheOrderOfComing) {
  const auto fill = miss(4, 10);
  for (const std::uint32_t request : {9, 2}) {
    fills.begin({request, 0, 0});
    fills.join(fill);
    EXPECT_EQ(fills.end(), 1u);
  }
  EXPECT_EQ(hbm.sent.size(), 1u) << "a line on its way is not read again";
  EXPECT_EQ(finish(fill), (std::vector<std::uint32_t>{4, 9, 2}));
}

TEST_F(LineFills, LinesOfOneReadInARowAreWaitedForOnce) {
  const auto fill = miss(0, 10);
  fills.begin({1, 0, 0});
  fills.join(fill);
  fills.join(fill);
  EXPECT_EQ(fills.end(), 1u);
  EXPECT_EQ(finish(fill), (std::vector<std::uint32_t>{0, 1}));
}

TEST_F(LineFills, ANumberThatIsUsedAgainHasNothingOfTheEarlierRead) {
  const auto fill = miss(0, 10);
  EXPECT_EQ(fills.arrived(fill, true), 0u);
  EXPECT_TRUE(fills[fill].spoilt);
  finish(fill);
  ASSERT_EQ(miss(1, 20), fill);
  EXPECT_FALSE(fills[fill].spoilt);
  EXPECT_EQ(fills[fill].transfer.first, 20u);
  EXPECT_EQ(fills[fill].transfer.lines, 1u);
  EXPECT_EQ(finish(fill), (std::vector<std::uint32_t>{1}));
}

TEST(WriteBackQueue, NeighboursThatGoTogetherAreOneWriteInWhateverOrderTheyCame) {
  FakeHbm hbm;
  model::WriteBackQueue queue(hbm);
  for (const model::Line line : {21, 9, 20, 8, 5}) queue.evict(line);
  EXPECT_TRUE(hbm.sent.empty());
  queue.send_evicted(1, 88);
  ASSERT_EQ(hbm.sent.size(), 3u);
  const std::vector<std::pair<model::Line, std::uint32_t>> runs{{5, 1}, {8, 2}, {20, 2}};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(hbm.sent[i].first, runs[i].first);
    EXPECT_EQ(hbm.sent[i].lines, runs[i].second);
    EXPECT_EQ(hbm.sent[i].command, tlm::TLM_WRITE_COMMAND);
    EXPECT_EQ(hbm.sent[i].client, 1u);
    EXPECT_EQ(hbm.sent[i].cause, 88u);
  }
  const auto over = queue.finish(hbm.sent[2].number);
  EXPECT_EQ(over.first, 20u);
  EXPECT_EQ(over.lines, 2u);
  EXPECT_EQ(over.cause, 88u);
  queue.send_evicted(1, 88);
  EXPECT_EQ(hbm.sent.size(), 3u) << "sent once";
}

TEST(WriteBackQueue, WhatOthersDroveOutIsNobodysAndAskedForOnce) {
  FakeHbm hbm;
  model::WriteBackQueue queue(hbm);
  EXPECT_TRUE(queue.snoop(3));
  EXPECT_FALSE(queue.snoop(2));
  queue.evict(4);
  queue.send_evicted(1, 88);
  ASSERT_EQ(hbm.sent.size(), 1u) << "not those of others";
  queue.send_snooped();
  ASSERT_EQ(hbm.sent.size(), 2u);
  EXPECT_EQ(hbm.sent[1].first, 2u);
  EXPECT_EQ(hbm.sent[1].lines, 2u);
  EXPECT_EQ(hbm.sent[1].cause, 0u);
  EXPECT_TRUE(queue.snoop(9)) << "it has to be sent again";
}

}  // namespace
}  // namespace npu::test
