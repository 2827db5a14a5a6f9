// SPDX-License-Identifier: Apache-2.0
// The heap of an address space: pages shared by small blocks and given back when empty, pages of
// large blocks' own, quotas, what the card maps meanwhile.
#include "npu/driver/heap.hpp"

#include <random>

#include "tests/driver/space_fixture.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

class HeapTest : public SpaceTest {
 protected:
  void SetUp() override {
    SpaceTest::SetUp();
    own = std::move(*device->create_address_space({}, quota));
    heap = std::make_unique<DeviceHeap>(*own);
    before = free_bytes();
  }
  Bytes free_bytes() const { return device->memory_statistics().free; }
  Bytes taken() const { return before - free_bytes(); }
  DeviceAddress get(Bytes size, PagePolicy policy = PagePolicy::kHugeFirst, Bytes padding = 0) {
    const auto block = heap->allocate(size, policy, padding);
    EXPECT_THAT(block, IsOk());
    return block->address;
  }
  std::shared_ptr<MemoryQuota> quota = std::make_shared<MemoryQuota>();
  std::unique_ptr<AddressSpace> own;
  std::unique_ptr<DeviceHeap> heap;
  Bytes before = 0;
};

TEST_F(HeapTest, SmallBlocksShareAPage) {
  std::vector<DeviceAddress> blocks(3000);
  for (auto& block : blocks) block = get(64, PagePolicy::kHugeFirst, 32);
  EXPECT_EQ(taken(), kPageSize);
  EXPECT_EQ(quota->use().used(), kPageSize);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_EQ(blocks[i].value % DeviceHeap::kAlignment, 0U);
    EXPECT_EQ(blocks[i].value, blocks[0].value + i * 128);
  }
  EXPECT_EQ(poke(*own, blocks[2999], 77), 0);
  for (const auto at : blocks) ASSERT_THAT(heap->free(at), IsOk());
  EXPECT_EQ(taken(), 0U);
  EXPECT_EQ(quota->use().used(), 0U);
  EXPECT_EQ(peek(*own, blocks[2999]), code(abi::FaultCode::kTranslation));
}

TEST_F(HeapTest, BlocksThatFillTheirPagesHaveOnePageForTheirPadding) {
  std::vector<DeviceAddress> blocks(10);
  for (auto& block : blocks) block = get(2_MiB, PagePolicy::kHugeFirst, 32);
  EXPECT_EQ(taken(), 22_MiB);
  EXPECT_EQ(quota->use().used(), 20_MiB);
  EXPECT_EQ(heap->find(blocks[3] + 2_MiB + 31)->address, blocks[3]);
  EXPECT_FALSE(heap->find(blocks[3] + 2_MiB + 32));
  EXPECT_EQ(poke(*own, blocks[0] + 2_MiB + 24, 5), 0);
  EXPECT_EQ(peek(*own, blocks[9] + 2_MiB + 24), 5);
  quota->set_limit(24_MiB);
  EXPECT_THAT(heap->allocate(6_MiB, PagePolicy::kHugeOnly, 32), FailsWith(ErrorCode::kOutOfMemory));
  for (const auto at : blocks) ASSERT_THAT(heap->free(at), IsOk());
  EXPECT_EQ(taken(), 0U);
  EXPECT_EQ(peek(*own, blocks[9] + 2_MiB), code(abi::FaultCode::kTranslation));
}

TEST_F(HeapTest, LargeBlocksHavePagesOfTheirOwn) {
  const auto first = must(heap->allocate(2_MiB));
  EXPECT_EQ(first.address.value % kPageSize, 0U);
  EXPECT_TRUE(first.own_pages);
  EXPECT_EQ(heap->allocate(1_MiB + 64, PagePolicy::kHugeFirst, 32)->size, 1_MiB + 96);
  EXPECT_EQ(taken(), 4_MiB);
  get(64, PagePolicy::kHugeOnly);
  EXPECT_EQ(taken(), 6_MiB);
  get(3_MiB, PagePolicy::kNormal);
  get(1_MiB, PagePolicy::kNormal);
  EXPECT_EQ(taken(), 10_MiB);
}

TEST_F(HeapTest, GiantPagesAreWholeGibibytes) {
  get(1, PagePolicy::kGiantOnly);
  EXPECT_EQ(taken(), 1_GiB);
  quota->set_limit(2_GiB - 1);
  EXPECT_THAT(heap->allocate(1_GiB, PagePolicy::kGiantOnly), FailsWith(ErrorCode::kOutOfMemory));
}

TEST_F(HeapTest, HugeFirstTakesRoomInPagesInUseWhereThereIsNoPageLeft) {
  quota->set_limit(4_MiB);
  const auto small = get(64);
  const auto refused = quota->use().refused;
  EXPECT_THAT(heap->allocate(4_MiB), FailsWith(ErrorCode::kOutOfMemory));
  EXPECT_EQ(quota->use().refused, refused + 1);
  const auto block = must(heap->allocate(3_MiB));
  EXPECT_FALSE(block.own_pages);
  EXPECT_EQ(block.address, small + 64);
  EXPECT_EQ(taken(), 4_MiB);
  EXPECT_THAT(heap->allocate(2_MiB, PagePolicy::kHugeOnly), FailsWith(ErrorCode::kOutOfMemory));
}

TEST_F(HeapTest, TheAllocationThatWouldPassTheQuotaIsRefusedAndNothingElse) {
  quota->set_limit(64_MiB);
  for (int i = 0; i < 64; ++i) get(1_MiB);
  EXPECT_EQ(quota->use().used(), 64_MiB);
  EXPECT_THAT(heap->allocate(64), FailsWith(ErrorCode::kOutOfMemory));
  EXPECT_THAT(heap->allocate(5_MiB, PagePolicy::kNormal), FailsWith(ErrorCode::kOutOfMemory));
  EXPECT_EQ(quota->use().refused, 2U);
  EXPECT_EQ(heap->use().blocks, 64U);
  EXPECT_EQ(heap->use().pages, 64_MiB);
}

TEST_F(HeapTest, WhatIsNoBlocksBeginningCannotBeFreed) {
  const auto block = get(4096), large = get(8_MiB);
  EXPECT_THAT(heap->free(block + 64), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(heap->free(large + kPageSize), FailsWith(ErrorCode::kInvalidArgument));
  ASSERT_THAT(heap->free(block), IsOk());
  EXPECT_THAT(heap->free(block), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_FALSE(heap->find(block));
  EXPECT_TRUE(heap->contains(block));
  EXPECT_EQ(heap->find(large + 5)->address, large);
}

TEST_F(HeapTest, ABlockStaysIfTheCardDoesNotLetItsPagesGo) {
  const auto block = get(3_MiB, PagePolicy::kNormal);
  card.behaviour.invalidate_stuck = true;
  EXPECT_THAT(heap->free(block), FailsWith(ErrorCode::kTimeout));
  EXPECT_EQ(heap->find(block)->size, 3_MiB);
  EXPECT_EQ(heap->use().pages, 4_MiB);
}

TEST_F(HeapTest, PagesAreToldOfBeforeTheyGo) {
  const auto first = get(1_MiB), second = get(1_MiB + 64, PagePolicy::kNormal);
  std::vector<std::pair<std::uint64_t, Bytes>> gone;
  const auto note = [&](DeviceAddress at, Bytes size) { gone.emplace_back(at.value, size); };
  ASSERT_THAT(heap->free(first, note), IsOk());
  EXPECT_TRUE(gone.empty());
  ASSERT_THAT(heap->free(second, note), IsOk());
  ASSERT_EQ(gone.size(), 1U);
  EXPECT_EQ(gone[0], std::make_pair(first.value, 2 * kPageSize));
}

// Each block keeps the words at its ends, whatever comes and goes around it.
TEST_F(HeapTest, BlocksKeepTheirContentsUnderRandomCalls) {
  std::mt19937 random(7);
  std::map<std::uint64_t, Bytes> live;
  const auto at = [&](std::uint64_t address) {
    return card.mmu().locate(own->vmid(), address).value_or(~0ULL);
  };
  quota->set_limit(96_MiB);
  for (int i = 0; i < 3000; ++i) {
    const Bytes size = 64 * (1 + random() % (random() % 8 == 0 ? 100'000 : 2'000));
    const auto block = random() % 2 == 0
                           ? heap->allocate(size, static_cast<PagePolicy>(random() % 3))
                           : Result<HeapBlock>(fail(ErrorCode::kOutOfMemory, ""));
    if (block) {
      live[block->address.value] = size;
      for (const auto end : {block->address.value, block->address.value + size - 8}) {
        card.memory().write(at(end), &end, sizeof end);
      }
      continue;
    }
    if (live.empty()) continue;
    const auto old = std::next(live.begin(), static_cast<std::ptrdiff_t>(random() % live.size()));
    for (const auto end : {old->first, old->first + old->second - 8}) {
      std::uint64_t word = 0;
      card.memory().read(at(end), &word, sizeof word);
      ASSERT_EQ(word, end);
    }
    ASSERT_THAT(heap->free(DeviceAddress{old->first}), IsOk());
    live.erase(old);
    ASSERT_EQ(taken(), heap->use().pages);
    ASSERT_EQ(quota->use().used(), heap->use().pages);
  }
  for (const auto& [address, size] : live) ASSERT_THAT(heap->free({address}), IsOk());
  EXPECT_EQ(taken(), 0U);
}

}  // namespace
}  // namespace npu::driver
