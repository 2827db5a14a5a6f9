// SPDX-License-Identifier: Apache-2.0
// Compaction of a card so full that no block fits a hole: blocks slide over themselves, and keep
// what they hold whatever goes wrong on the way.
#include <random>

#include "tests/driver/small_card_fixture.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

class SlideTest : public SmallCardTest, public testing::WithParamInterface<unsigned> {
 protected:
  void expect_all_intact() {
    expect_intact('A', 5);
    expect_intact('B', 7);
  }
};

constexpr const char* kFull = "..AAAAA.BBBBBBB.";

TEST_F(SlideTest, GathersWhatIsFree) {
  lay_out(kFull);
  const auto report = must(device->compact(8_MiB));
  EXPECT_EQ(report.blocks, 2U);
  EXPECT_EQ(report.moved, 24_MiB);
  EXPECT_EQ(device->memory_statistics().largest_free_block, 8_MiB);
  expect_sum();
  fill_free_memory();
  expect_all_intact();
}

TEST_F(SlideTest, GoesUpIfThatIsTheLongerWay) {
  lay_out(".AAAAA.BBBBBBB...");
  ASSERT_THAT(device->compact(10_MiB), IsOk());
  EXPECT_EQ(physical(blocks['B']), 10 * kPageSize);
  fill_free_memory();
  expect_all_intact();
}

TEST_F(SlideTest, WithoutTheInvalidationNothingMoves) {
  lay_out(kFull);
  const auto place = physical(blocks['A']);
  card->behaviour.invalidate_stuck = true;
  EXPECT_THAT(device->compact(8_MiB), FailsWith(ErrorCode::kTimeout));
  EXPECT_EQ(physical(blocks['A']), place);
  expect_all_intact();
  expect_sum();
}

TEST_P(SlideTest, ThatFailsHalfWayLosesNothing) {
  lay_out(kFull);
  card->behaviour.failing_copy = GetParam();
  EXPECT_THAT(device->compact(8_MiB), FailsWith(ErrorCode::kDeviceFault));
  EXPECT_EQ(device->memory_statistics().free, 8_MiB);
  EXPECT_EQ(device->memory_statistics().allocations, 3U);
  expect_sum();
  fill_free_memory();
  expect_all_intact();
}

TEST_P(SlideTest, ThatFailsHalfWayGivesAllBackInTheEnd) {
  lay_out(kFull);
  card->behaviour.failing_copy = GetParam();
  EXPECT_THAT(device->compact(8_MiB), FailsWith(ErrorCode::kDeviceFault));
  for (const char letter : {'A', 'B'}) EXPECT_THAT(device->free(blocks[letter]), IsOk());
  EXPECT_EQ(device->memory_statistics().largest_free_block, 32_MiB);
}

INSTANTIATE_TEST_SUITE_P(Copies, SlideTest, testing::Range(1U, 7U));

// Random cards with a pinned block at their end.
class RandomSlideTest : public SmallCardTest, public testing::WithParamInterface<unsigned> {
 protected:
  void SetUp() override {
    SmallCardTest::SetUp();
    for (char letter = 'A'; picture_.size() < kPages; ++letter) {
      picture_.append(std::min<std::size_t>(random_() % 3, kPages - picture_.size()), '.');
      if (letter == 'P' || random_() % 12 == 0) letter = 'P';
      const auto pages = std::min<std::size_t>(1 + random_() % 8, kPages - picture_.size());
      picture_.append(pages, letter);
      if (letter == 'P') break;
      sizes_[letter] = pages;
    }
    lay_out(picture_);
  }
  // All that is free in front of the first pinned block, which is behind the others.
  Bytes room() const {
    const auto end = std::min(picture_.find('P'), picture_.size());
    return static_cast<Bytes>(std::count(
               picture_.begin(), picture_.begin() + static_cast<std::ptrdiff_t>(end), '.')) *
           kPageSize;
  }
  void expect_all_intact() {
    for (const auto& [letter, pages] : sizes_) expect_intact(letter, pages);
  }

  std::mt19937 random_{GetParam()};
  std::string picture_ = ".";
  std::map<char, std::size_t> sizes_;
};

TEST_P(RandomSlideTest, MakesWhatAFullSlideWouldGive) {
  SCOPED_TRACE(picture_);
  ASSERT_THAT(device->compact(room()), IsOk());
  EXPECT_GE(device->memory_statistics().largest_free_block, room());
  expect_sum();
  fill_free_memory();
  expect_all_intact();
}

TEST_P(RandomSlideTest, LosesNothingWhereverItFails) {
  SCOPED_TRACE(picture_);
  for (unsigned i = 0; i < 4; ++i) {
    card->behaviour.failing_copy = static_cast<unsigned>(1 + random_() % 6);
    static_cast<void>(device->compact(room()));
    expect_sum();
    expect_all_intact();
  }
  card->behaviour.failing_copy = 0;
  fill_free_memory();
  expect_all_intact();
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomSlideTest, testing::Range(1U, 41U));

}  // namespace
}  // namespace npu::driver
