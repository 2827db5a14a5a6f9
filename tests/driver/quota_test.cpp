// SPDX-License-Identifier: Apache-2.0
// The memory quota of a client: every way to memory counts, over cards; what is refused touches
// nothing.
#include "npu/driver/quota.hpp"

#include <random>

#include "npu/driver/sharing.hpp"
#include "tests/driver/peer_fixture.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

class QuotaTest : public PeerTest {
 protected:
  using Quota = std::shared_ptr<MemoryQuota>;
  static Quota quota_of(Bytes limit) { return std::make_shared<MemoryQuota>(limit); }
  std::unique_ptr<AddressSpace> open_space(unsigned card, const Quota& quota) {
    auto space = devices[card]->create_address_space({}, quota);
    EXPECT_THAT(space, IsOk());
    return std::move(*space);
  }
  Bytes used(unsigned card) const {
    return kPages * kPageSize - devices[card]->memory_statistics().free;
  }
};

TEST_F(QuotaTest, OverTheQuotaFailsBeforeTheCardIsTouched) {
  const auto quota = quota_of(8_MiB);
  const auto space = open_space(0, quota);
  const auto first = must(space->allocate(5_MiB));
  EXPECT_EQ(quota->use().allocated, 6_MiB);
  const auto compactions = devices[0]->compaction_statistics().runs;
  fake.log_bus = true;
  EXPECT_THAT(space->allocate(4_MiB),
              FailsWith(ErrorCode::kOutOfMemory, "over the client's quota: 6291456 of 8388608"));
  EXPECT_THAT(space->create_memory(4_MiB), FailsWith(ErrorCode::kOutOfMemory));
  EXPECT_TRUE(fake.bus_log.empty());
  fake.log_bus = false;
  EXPECT_EQ(devices[0]->compaction_statistics().runs, compactions);
  EXPECT_EQ(quota->use().refused, 2U);
  EXPECT_THAT(space->allocate(2_MiB), IsOk());
  ASSERT_THAT(space->free(first.address), IsOk());
  EXPECT_EQ(quota->use().used(), 2_MiB);
  EXPECT_EQ(quota->use().most, 8_MiB);
}

TEST_F(QuotaTest, WhatTheCardCannotGiveWasNeverInUse) {
  const auto quota = quota_of(MemoryQuota::kUnlimited);
  const auto space = open_space(0, quota);
  ASSERT_THAT(space->allocate(2_MiB), IsOk());
  EXPECT_THAT(space->create_memory((kPages + 1) * kPageSize), FailsWith(ErrorCode::kOutOfMemory));
  EXPECT_EQ(quota->use().most, 2_MiB);
  EXPECT_EQ(quota->use().used(), 2_MiB);
}

TEST_F(QuotaTest, SpacesOfAllCardsCountTogether) {
  const auto quota = quota_of(4_MiB);
  const auto here = open_space(0, quota), there = open_space(1, quota);
  ASSERT_THAT(here->create_memory(2_MiB), IsOk());
  ASSERT_THAT(there->allocate(2_MiB), IsOk());
  EXPECT_THAT(here->allocate(1), FailsWith(ErrorCode::kOutOfMemory));
  EXPECT_THAT(space(0).allocate(2_MiB), IsOk());  // somebody else
}

TEST_F(QuotaTest, FreeAndTotalAreWithinTheQuota) {
  const auto quota = quota_of(5_MiB);
  const auto space = open_space(0, quota);
  EXPECT_EQ(space->memory_statistics().total, 5_MiB);
  EXPECT_EQ(space->memory_statistics().free, 4_MiB);  // whole pages
  ASSERT_THAT(space->allocate(2_MiB), IsOk());
  const auto seen = space->memory_statistics();
  EXPECT_EQ(seen.free, 2_MiB);
  EXPECT_EQ(seen.largest_free_block, 2_MiB);
  EXPECT_EQ(seen.huge_pages_free, 1U);
  EXPECT_EQ(seen.giant_pages_free, 0U);
  quota->set_limit(1_GiB);
  EXPECT_EQ(space->memory_statistics().total, kPages * kPageSize);
  EXPECT_EQ(space->memory_statistics().free, kPages * kPageSize - 2_MiB);
}

TEST_F(QuotaTest, ALimitBelowWhatThereIsRevokesNothing) {
  const auto quota = quota_of(MemoryQuota::kUnlimited);
  const auto space = open_space(0, quota);
  const auto a = *space->allocate(8_MiB), b = *space->allocate(8_MiB);
  quota->set_limit(4_MiB);
  EXPECT_EQ(quota->use().used(), 16_MiB);
  EXPECT_EQ(space->memory_statistics().free, 0U);
  EXPECT_THAT(space->allocate(2_MiB), FailsWith(ErrorCode::kOutOfMemory));
  ASSERT_THAT(space->free(a.address), IsOk());
  EXPECT_THAT(space->allocate(2_MiB), FailsWith(ErrorCode::kOutOfMemory));
  ASSERT_THAT(space->free(b.address), IsOk());
  EXPECT_THAT(space->allocate(4_MiB), IsOk());
}

TEST_F(QuotaTest, ABlockCountsUntilNobodyUsesIt) {
  const auto quota = quota_of(4_MiB);
  const auto anne = open_space(0, quota), bert = open_space(0, nullptr);
  const auto memory = *anne->create_memory(4_MiB);
  map(*bert, *bert->import_memory(*anne, memory), 4_MiB);
  ASSERT_THAT(anne->release_memory(memory), IsOk());
  EXPECT_EQ(quota->use().used(), 4_MiB);
  EXPECT_THAT(anne->allocate(2_MiB), FailsWith(ErrorCode::kOutOfMemory));
  ASSERT_THAT(bert->close(), IsOk());
  EXPECT_EQ(quota->use().used(), 0U);
}

TEST_F(QuotaTest, WhoStillUsesABlockHasItWhenItsMakerEnds) {
  const auto first = quota_of(8_MiB), second = quota_of(2_MiB);
  auto anne = open_space(0, first);
  const auto bert = open_space(0, second);
  const auto memory = *anne->create_memory(4_MiB);
  const auto imported = *bert->import_memory(*anne, memory);
  const auto at = map(*bert, imported, 4_MiB);
  ASSERT_THAT(bert->release_memory(imported), IsOk());
  EXPECT_EQ(second->use().used(), 0U);
  anne.reset();
  EXPECT_EQ(first->use().used(), 0U);
  EXPECT_EQ(second->use().used(), 4_MiB);  // over its limit
  EXPECT_THAT(bert->allocate(2_MiB), FailsWith(ErrorCode::kOutOfMemory));
  ASSERT_THAT(bert->unmap(at, 4_MiB), IsOk());
  EXPECT_THAT(bert->allocate(2_MiB), IsOk());
}

TEST_F(QuotaTest, WhatAnotherCardBorrowsIsItsMakers) {
  const auto quota = quota_of(4_MiB), other = quota_of(2_MiB);
  auto anne = open_space(0, quota);
  const auto bert = open_space(1, other);
  const auto borrowed = must(bert->import_memory(*anne, *anne->create_memory(4_MiB)));
  EXPECT_EQ(other->use().used(), 0U);
  anne.reset();
  EXPECT_EQ(quota->use().used(), 4_MiB);
  ASSERT_THAT(bert->release_memory(borrowed), IsOk());
  EXPECT_EQ(used(0), 0U);  // which looks
  EXPECT_EQ(quota->use().used(), 0U);
}

TEST_F(QuotaTest, WhatFailsForOtherReasonsDoesNotCount) {
  const auto quota = quota_of(1_GiB);
  const auto space = open_space(0, quota);
  EXPECT_THAT(space->allocate(0), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(space->create_memory(3_MiB), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(space->allocate(512_MiB), FailsWith(ErrorCode::kOutOfMemory));
  EXPECT_THAT(space->allocate(~Bytes{0}), FailsWith(ErrorCode::kOutOfMemory));
  EXPECT_EQ(quota->use().used(), 0U);
}

// What counts is what is there, whatever comes in whatever order.
TEST_F(QuotaTest, TheBooksAreTheMemory) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    const auto quota = quota_of(32_MiB);
    auto anne = open_space(0, quota), bert = open_space(0, quota);
    std::vector<std::pair<AddressSpace*, DeviceAddress>> plain;
    std::vector<std::pair<AddressSpace*, MemoryHandle>> handles;
    for (unsigned step = 0; step < 200; ++step) {
      auto* const space = random() % 2 == 0 ? anne.get() : bert.get();
      const Bytes size = (1 + random() % 6) * 1_MiB;
      switch (random() % 6) {
        case 0:
          if (const auto memory = space->allocate(size)) plain.emplace_back(space, memory->address);
          break;
        case 1:
          if (const auto memory = space->create_memory(size)) handles.emplace_back(space, *memory);
          break;
        case 2:
          quota->set_limit((random() % 40) * 1_MiB);
          break;
        case 3:
          if (handles.empty()) break;
          if (const auto all = bert->import_memory(*handles[0].first, handles[0].second)) {
            handles.emplace_back(bert.get(), *all);
          }
          break;
        case 4:
          if (plain.empty()) break;
          EXPECT_THAT(plain.back().first->free(plain.back().second), IsOk());
          plain.pop_back();
          break;
        default:
          if (handles.empty()) break;
          EXPECT_THAT(handles.back().first->release_memory(handles.back().second), IsOk());
          handles.pop_back();
      }
      EXPECT_EQ(quota->use().used(), used(0)) << "seed " << seed << ", step " << step;
    }
    anne.reset();
    EXPECT_EQ(quota->use().used(), used(0)) << "seed " << seed;
    bert.reset();
    EXPECT_EQ(quota->use().used(), 0U);
  }
}

}  // namespace
}  // namespace npu::driver
