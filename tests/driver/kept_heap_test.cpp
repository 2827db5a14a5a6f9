// SPDX-License-Identifier: Apache-2.0
// The heap of one stream: freed blocks stay mapped, empty ranges go when they are told to.
#include "npu/driver/kept_heap.hpp"

#include <random>

#include "tests/driver/space_fixture.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

class KeptHeapTest : public SpaceTest {
 protected:
  void SetUp() override {
    SpaceTest::SetUp();
    own = std::move(*device->create_address_space({}, quota));
    heap = std::make_unique<KeptHeap>(*own);
  }
  DeviceAddress get(Bytes size) {
    const auto block = heap->allocate(size);
    EXPECT_THAT(block, IsOk());
    return *block;
  }
  Bytes taken() const { return quota->use().used(); }
  std::shared_ptr<MemoryQuota> quota = std::make_shared<MemoryQuota>();
  std::unique_ptr<AddressSpace> own;
  std::unique_ptr<KeptHeap> heap;
};

TEST_F(KeptHeapTest, AFreedBlockStaysMappedUntilTheHeapIsTrimmed) {
  const auto block = get(3_MiB);
  ASSERT_EQ(poke(*own, block, 42), 0);
  heap->free(block, 3_MiB);
  EXPECT_EQ(peek(*own, block), 42);
  EXPECT_EQ(get(3_MiB), block);
  heap->free(block, 3_MiB);
  card.behaviour.invalidate_stuck = true;
  EXPECT_THAT(heap->trim(), FailsWith(ErrorCode::kTimeout));
  EXPECT_EQ(heap->pages(), 4_MiB);
}

TEST_F(KeptHeapTest, TrimGivesBackRangesWithoutABlockAlone) {
  const auto first = get(2_MiB), second = get(2_MiB), third = get(4_MiB);
  heap->free(first, 2_MiB);
  heap->free(third, 4_MiB);
  ASSERT_THAT(heap->trim(), IsOk());
  EXPECT_EQ(taken(), 2_MiB);
  EXPECT_EQ(peek(*own, first), code(abi::FaultCode::kTranslation));
  EXPECT_EQ(peek(*own, second), 0);
  heap->free(second, 2_MiB);
  ASSERT_THAT(heap->trim(), IsOk());
  EXPECT_EQ(taken(), 0U);
  EXPECT_EQ(heap->pages(), 0U);
}

TEST_F(KeptHeapTest, RangesGrowWithTheHeapUnlessThereIsNoMemory) {
  get(4_MiB);
  get(kPageSize);
  EXPECT_EQ(heap->pages(), 8_MiB);
  get(4_MiB);  // two pages are left
  EXPECT_EQ(heap->pages(), 16_MiB);
  quota->set_limit(24_MiB);
  get(8_MiB);
  EXPECT_EQ(heap->pages(), 24_MiB);
  EXPECT_THAT(heap->allocate(8_MiB), FailsWith(ErrorCode::kOutOfMemory));
  EXPECT_THAT(heap->allocate(0), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(heap->allocate(~Bytes{0}), FailsWith(ErrorCode::kOutOfMemory));
  EXPECT_EQ(taken(), 24_MiB);
}

TEST_F(KeptHeapTest, BlocksDoNotOverlapUnderRandomCalls) {
  std::mt19937 random(9);
  std::map<std::uint64_t, Bytes> live;
  for (int i = 0; i < 3000; ++i) {
    if (random() % 2 == 0 || live.empty()) {
      const Bytes size = 1 + random() % (random() % 16 == 0 ? 3'000'000 : 30'000);
      const auto at = get(size).value;
      ASSERT_EQ(at % KeptHeap::kGrain, 0U);
      const auto above = live.lower_bound(at);
      ASSERT_TRUE(above == live.end() || at + size <= above->first);
      if (above != live.begin()) {
        const auto below = std::prev(above);
        ASSERT_LE(below->first + below->second, at);
      }
      live[at] = size;
      continue;
    }
    const auto old = std::next(live.begin(), static_cast<std::ptrdiff_t>(random() % live.size()));
    heap->free({old->first}, old->second);
    live.erase(old);
    if (random() % 64 == 0) {
      ASSERT_THAT(heap->trim(), IsOk());
    }
    ASSERT_EQ(taken(), heap->pages());
  }
  for (const auto& [address, size] : live) heap->free({address}, size);
  ASSERT_THAT(heap->trim(), IsOk());
  EXPECT_EQ(taken(), 0U);
}

}  // namespace
}  // namespace npu::driver
