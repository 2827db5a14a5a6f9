// SPDX-License-Identifier: Apache-2.0
#include "tools/timeline/memory_map.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace npu::timeline {
namespace {

using platform::BlockState;

class Memory : public testing::Test {
 protected:
  void block(BlockState state, std::uint64_t address, std::uint64_t size, std::uint32_t track = 1) {
    platform::TraceEvent event;
    event.begin = event.end = Instant(Picoseconds(++now_));
    event.bytes = size;
    event.detail = static_cast<std::uint64_t>(state) << 60 | address;
    event.track = track;
    event.activity = platform::Activity::kMemoryBlock;
    map_.on_event(event);
  }
  // What a moment says of each of the first bytes; kFree where no range is.
  static std::vector<BlockState> bytes(const MemoryMap::Moment& moment, std::size_t size) {
    std::vector<BlockState> result(size, BlockState::kFree);
    std::uint64_t last = 0;
    for (const auto& range : moment.ranges) {
      EXPECT_LE(last, range.begin) << "ascending, apart";
      EXPECT_LT(range.begin, range.end);
      last = range.end;
      for (auto at = range.begin; at < range.end && at < size; ++at) result[at] = range.state;
    }
    return result;
  }

  MemoryMap map_;
  std::int64_t now_ = 0;
};

TEST_F(Memory, AtTheEndIsWhatEachByteWasLastToldToBe) {
  constexpr std::size_t kSize = 64;
  std::mt19937_64 random(9);
  std::vector<BlockState> model(kSize, BlockState::kFree);
  for (int i = 0; i < 3000; ++i) {
    const auto at = random() % kSize;
    const auto size = 1 + random() % (kSize - at);
    const auto state = static_cast<BlockState>(random() % 3);
    block(state, at, size);
    std::fill_n(model.begin() + static_cast<std::ptrdiff_t>(at), size, state);
  }
  const auto cards = map_.cards(Instant(Picoseconds(now_)));
  ASSERT_EQ(cards.size(), 1U);
  EXPECT_EQ(cards[0].moments.back().label, "end of the run");
  EXPECT_EQ(bytes(cards[0].moments.back(), kSize), model);
}

TEST_F(Memory, HasTheMomentWithMostInUse) {
  block(BlockState::kAllocated, 0, 10);
  block(BlockState::kAllocated, 20, 5);
  block(BlockState::kFree, 0, 10);
  block(BlockState::kPinned, 30, 7);
  block(BlockState::kFree, 20, 5);
  const auto cards = map_.cards(Instant(Picoseconds(99)));
  ASSERT_EQ(cards[0].moments.size(), 2U);
  const auto& most = cards[0].moments.front();
  EXPECT_EQ(most.label, "most in use");
  ASSERT_EQ(most.ranges.size(), 2U);
  EXPECT_EQ(most.ranges[0].end, 10U);
  EXPECT_EQ(most.ranges[1].end, 25U);
}

TEST_F(Memory, HasWhatWasBeforeAMoveAndBehindIt) {
  block(BlockState::kAllocated, 16, 8);
  block(BlockState::kFree, 16, 8);
  block(BlockState::kMoved, 0, 8);
  block(BlockState::kAllocated, 16, 16);
  const auto cards = map_.cards(Instant(Picoseconds(99)));
  ASSERT_GE(cards[0].moments.size(), 3U);
  std::map<std::string, MemoryMap::Moment> by_label;
  for (const auto& moment : cards[0].moments) by_label[moment.label] = moment;
  EXPECT_EQ(bytes(by_label.at("before blocks are moved"), 32)[16], BlockState::kAllocated);
  EXPECT_EQ(bytes(by_label.at("blocks have been moved"), 32)[0], BlockState::kMoved);
  EXPECT_EQ(bytes(by_label.at("blocks have been moved"), 32)[16], BlockState::kFree);
}

TEST_F(Memory, IsOneMapPerCard) {
  block(BlockState::kAllocated, 0, 8, 1);
  block(BlockState::kAllocated, 8, 8, 2);
  const auto cards = map_.cards(Instant(Picoseconds(99)));
  ASSERT_EQ(cards.size(), 2U);
  EXPECT_EQ(cards[0].track, 1U);
  EXPECT_EQ(cards[1].moments.back().ranges.front().begin, 8U);
}

}  // namespace
}  // namespace npu::timeline
