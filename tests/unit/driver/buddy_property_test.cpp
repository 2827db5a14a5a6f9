// SPDX-License-Identifier: Apache-2.0
// Properties that hold for every sequence of calls, checked against a plain list of intervals.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "npu/driver/buddy_allocator.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

using test::IsOk;

// Live allocations by address, and what follows from them.
class Intervals {
 public:
  explicit Intervals(Bytes total) : total_(total) {}

  void add(const DeviceMemory& memory) {
    const auto begin = memory.address.value;
    const auto next = live_.lower_bound(begin);
    ASSERT_LE(begin + memory.reserved, next == live_.end() ? total_ : next->first);
    if (next != live_.begin()) {
      ASSERT_LE(std::prev(next)->first + std::prev(next)->second, begin);
    }
    live_[begin] = memory.reserved;
  }
  DeviceAddress take(std::size_t index) {
    const auto at = std::next(live_.begin(), static_cast<std::ptrdiff_t>(index));
    const DeviceAddress address{at->first};
    live_.erase(at);
    return address;
  }
  std::size_t size() const { return live_.size(); }
  Bytes used() const {
    Bytes sum = 0;
    for (const auto& [begin, length] : live_) sum += length;
    return sum;
  }
  Bytes largest_gap() const {
    Bytes end = 0;
    Bytes largest = 0;
    for (const auto& [begin, length] : live_) {
      largest = std::max(largest, begin - end);
      end = begin + length;
    }
    return std::max(largest, total_ - end);
  }

 private:
  Bytes total_;
  std::map<std::uint64_t, Bytes> live_;
};

class RandomCalls : public testing::TestWithParam<unsigned> {};

TEST_P(RandomCalls, KeepAllocationsApartAndNeverRefuseWhatFits) {
  constexpr Bytes kTotal = 214_MiB;  // 107 pages: no power of two anywhere
  std::mt19937 random(GetParam());
  BuddyAllocator allocator(kTotal);
  Intervals expected(kTotal);
  for (int step = 0; step < 4000; ++step) {
    if (expected.size() > 0 && random() % 5 < 2) {
      ASSERT_THAT(allocator.free(expected.take(random() % expected.size())), IsOk());
    } else {
      const Bytes size = 1 + random() % (random() % 4 == 0 ? 60_MiB : 6_MiB);
      const Bytes pages = (size + 2_MiB - 1) / 2_MiB * 2_MiB;
      const bool fits = pages <= expected.largest_gap();
      const auto memory = allocator.allocate(size);
      ASSERT_EQ(memory.has_value(), fits) << "step " << step << ", " << size << " bytes";
      if (memory) expected.add(*memory);
    }
    ASSERT_EQ(allocator.statistics().used(), expected.used());
    ASSERT_EQ(allocator.statistics().largest_free_block, expected.largest_gap());
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomCalls, testing::Range(1U, 9U));

class MergeOrder : public testing::TestWithParam<unsigned> {};

TEST_P(MergeOrder, All56GiBInPagesMergeBackInAnyOrder) {
  BuddyAllocator allocator(56_GiB);
  std::vector<DeviceAddress> pages;
  for (Bytes i = 0; i < 56_GiB / 2_MiB; ++i) {
    const auto page = allocator.allocate(2_MiB);
    ASSERT_THAT(page, IsOk());
    pages.push_back(page->address);
  }
  EXPECT_EQ(allocator.statistics().free, 0U);
  EXPECT_FALSE(allocator.allocate(1).has_value());
  std::sort(pages.begin(), pages.end());
  EXPECT_EQ(std::adjacent_find(pages.begin(), pages.end()), pages.end());
  std::mt19937 random(GetParam());
  std::shuffle(pages.begin(), pages.end(), random);
  for (const auto page : pages) ASSERT_THAT(allocator.free(page), IsOk());
  EXPECT_EQ(allocator.statistics().largest_free_block, 56_GiB);
  // Fully merged: as many merges as splits.
  EXPECT_EQ(allocator.statistics().merges, allocator.statistics().splits);
  EXPECT_THAT(allocator.allocate(32_GiB), IsOk());
}

INSTANTIATE_TEST_SUITE_P(Seeds, MergeOrder, testing::Values(1U, 2U, 3U));

// O(1) per order step: at most one split or merge per order, whatever else is allocated.
TEST(BuddySteps, AnAllocationTakesAtMostOneSplitPerOrder) {
  BuddyAllocator allocator(56_GiB);
  for (int i = 0; i < 10000; ++i) {
    const auto before = allocator.statistics().splits;
    ASSERT_THAT(allocator.allocate(2_MiB), IsOk());
    ASSERT_LE(allocator.statistics().splits - before, kMaxOrder);
  }
}

}  // namespace
}  // namespace npu::driver
