// SPDX-License-Identifier: Apache-2.0
// Room in a heap's pages: cases, and random calls against a plain list of intervals.
#include "driver/heap/heap_room.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "npu/base/checked.hpp"
#include "npu/driver/memory.hpp"

namespace npu::driver {
namespace {

constexpr std::uint64_t kBegin = 0x4000'0000;
constexpr Bytes kUnit = 4096;

// Where it is now, and the empty pages that it has filled.
std::pair<std::uint64_t, Bytes> put(HeapRoom& room, Bytes size) {
  const auto at = room.find(size);
  EXPECT_TRUE(at);
  const auto pages = room.empty_pages(*at, size).size;
  room.take(*at, size);
  return {*at, pages};
}

class HeapRoomTest : public testing::Test {
 protected:
  void SetUp() override { room.add_range(kBegin, 16 * kPageSize); }
  HeapRoom room;
};

TEST_F(HeapRoomTest, BlocksFollowEachOtherAcrossPages) {
  const Bytes size = 1_MiB + 64;
  Bytes pages = 0;
  for (Bytes i = 0; i < 15; ++i) {
    const auto [at, more] = put(room, size);
    EXPECT_EQ(at, kBegin + i * size);
    pages += more;
  }
  EXPECT_EQ(pages, 8 * kPageSize);
}

TEST_F(HeapRoomTest, TheSmallestRoomInPagesInUseIsTaken) {
  const auto first = put(room, 4096).first, second = put(room, 64).first;
  const auto third = put(room, 256).first;
  static_cast<void>(second);
  static_cast<void>(put(room, 64));
  room.give(first, 4096);
  room.give(third, 256);
  EXPECT_EQ(put(room, 128), std::make_pair(third, Bytes{0}));
  EXPECT_EQ(put(room, 512), std::make_pair(first, Bytes{0}));
}

TEST_F(HeapRoomTest, ABlockGoesWhereTheFewestPagesAreEmpty) {
  const auto first = put(room, 3 * kPageSize + 64).first;
  const auto second = put(room, kPageSize - 64 - 64).first;
  EXPECT_EQ(second, first + 3 * kPageSize + 64);
  // All but 64 bytes of the fourth page; a page and those 64 bytes need one more page.
  EXPECT_EQ(put(room, kPageSize + 64), std::make_pair(second + kPageSize - 128, kPageSize));
}

TEST_F(HeapRoomTest, ATailIsUsedAsAHeadIs) {
  const auto first = put(room, 2 * kPageSize + 1_MiB).first;
  static_cast<void>(put(room, 14 * kPageSize - 1_MiB));
  room.give(first, 2 * kPageSize + 1_MiB);
  EXPECT_EQ(put(room, kPageSize + 1_MiB), std::make_pair(first + kPageSize, kPageSize));
}

TEST_F(HeapRoomTest, NoBlockExtendsOverTheEndOfARange) {
  room.add_range(kBegin + 16 * kPageSize, 16 * kPageSize);
  EXPECT_FALSE(room.find(17 * kPageSize));
  const auto first = put(room, 16 * kPageSize).first, second = put(room, 16 * kPageSize).first;
  room.give(first, 16 * kPageSize);
  room.give(second, 16 * kPageSize);
  EXPECT_FALSE(room.find(16 * kPageSize + kUnit));
  EXPECT_EQ(room.free_runs().size(), 2U);
}

// Which units are taken, looked at one after another.
class Units {
 public:
  explicit Units(std::size_t pages) : taken_(pages * kPerPage, false) {}
  static constexpr std::size_t kPerPage = kPageSize / kUnit;

  void set(std::uint64_t at, Bytes size, bool taken) {
    for (auto i = index(at); i < index(at + size); ++i) {
      ASSERT_NE(taken_[i], taken);
      taken_[i] = taken;
    }
  }
  bool is_empty(std::size_t page) const {
    const auto begin = taken_.begin() + static_cast<std::ptrdiff_t>(page * kPerPage);
    return std::find(begin, begin + kPerPage, true) == begin + kPerPage;
  }
  Bytes empty_in(std::uint64_t at, Bytes size) const {
    Bytes sum = 0;
    for (auto page = index(at) / kPerPage; page * kPerPage < index(at + size); ++page) {
      if (is_empty(page)) sum += kPageSize;
    }
    return sum;
  }
  // The longest run of free units in pages in use.
  Bytes longest_room() const {
    Bytes longest = 0, run = 0;
    for (std::size_t i = 0; i < taken_.size(); ++i) {
      if (i % kPerPage == 0 && is_empty(i / kPerPage)) {
        run = 0;
        i += kPerPage - 1;
        continue;
      }
      run = taken_[i] ? 0 : run + kUnit;
      longest = std::max(longest, run);
    }
    return longest;
  }

 private:
  static std::size_t index(std::uint64_t at) { return (at - kBegin) / kUnit; }
  std::vector<bool> taken_;
};

class RandomRoom : public testing::TestWithParam<unsigned> {};

TEST_P(RandomRoom, IsAsAPlainListOfUnitsSays) {
  constexpr std::size_t kPages = 12;
  std::mt19937 random(GetParam());
  HeapRoom room;
  room.add_range(kBegin, kPages * kPageSize);
  Units units(kPages);
  std::vector<std::pair<std::uint64_t, Bytes>> live;
  for (int i = 0; i < 1500; ++i) {
    const Bytes size = kUnit * (1 + random() % (random() % 4 == 0 ? 1000 : 60));
    const auto at = room.find(size);
    if (at && random() % 5 < 3) {
      const auto empty = units.empty_in(*at, size);
      ASSERT_EQ(room.empty_pages(*at, size).size, empty);
      ASSERT_EQ(empty == 0, units.longest_room() >= size);
      room.take(*at, size);
      ASSERT_NO_FATAL_FAILURE(units.set(*at, size, true));
      live.emplace_back(*at, size);
    } else if (!live.empty()) {
      std::swap(live[random() % live.size()], live.back());
      const auto [old, length] = live.back();
      live.pop_back();
      room.give(old, length);
      ASSERT_NO_FATAL_FAILURE(units.set(old, length, false));
      ASSERT_EQ(room.empty_pages(old, length).size, units.empty_in(old, length));
    }
  }
  for (const auto& [old, length] : live) room.give(old, length);
  ASSERT_EQ(room.free_runs().size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomRoom, testing::Range(1U, 9U));

}  // namespace
}  // namespace npu::driver
