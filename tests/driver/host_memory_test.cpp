// SPDX-License-Identifier: Apache-2.0
// Host memory in an address space: handles, entries of tables, books.
#include <array>

#include "npu/abi/page_table.hpp"
#include "tests/driver/space_fixture.hpp"

namespace npu::driver {
namespace {

class HostMemoryTest : public SpaceTest {
 protected:
  void SetUp() override {
    SpaceTest::SetUp();
    imported = must(fake.import_dma(card.config().bdf, {bytes.data(), bytes.size()},
                                    platform::DmaDirection::kBidirectional,
                                    platform::HostPages::kResident));
    pages = *space().reserve(kSize);
  }
  void TearDown() override {
    imported.reset();
    SpaceTest::TearDown();
  }

  static constexpr Bytes kSize = 4_MiB;  // the memory's, in whole pages
  alignas(4096) inline static std::array<std::byte, 2_MiB + 4096> bytes{};
  std::unique_ptr<platform::DmaMemory> imported;
  DeviceAddress pages;
};

TEST_F(HostMemoryTest, IsMappedLikeMemoryOfTheCardAndIsNoneOfIt) {
  const auto before = space().memory_statistics();
  const auto handle = space().import_host_memory(*imported);
  ASSERT_THAT(handle, IsOk());
  ASSERT_THAT(space().map(pages, kSize, *handle, 0, Access::kReadWrite), IsOk());
  EXPECT_THAT(space().map(pages, kSize, *handle), FailsWith(ErrorCode::kBusy));
  EXPECT_EQ(space().memory_statistics().free, before.free);
  EXPECT_EQ(space().range_of(pages + 2_MiB)->memory, *handle);
  // The handle may go first.
  ASSERT_THAT(space().release_memory(*handle), IsOk());
  EXPECT_THAT(space().release_memory(*handle), FailsWith(ErrorCode::kInvalidArgument));
  ASSERT_THAT(space().unmap(pages, kSize), IsOk());
  ASSERT_THAT(space().release(pages), IsOk());
  const auto after = space().memory_statistics();
  EXPECT_EQ(after.free, before.free);
  EXPECT_EQ(after.allocations, before.allocations);
  // Its slot is for others, which are memory of the card.
  const auto own = space().create_memory(2_MiB);
  ASSERT_THAT(own, IsOk());
  EXPECT_EQ(space().memory_statistics().free, before.free - 2_MiB);
  EXPECT_THAT(space().release_memory(*own), IsOk());
}

TEST_F(HostMemoryTest, HasWholePagesAndNoMore) {
  const auto handle = *space().import_host_memory(*imported);
  const auto larger = *space().reserve(8_MiB);
  EXPECT_THAT(space().map(larger, 6_MiB, handle), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(space().map(larger, 2_MiB, handle, 2_MiB, Access::kRead), IsOk());
}

TEST_F(HostMemoryTest, MustComeFromAnImport) {
  const auto small = *device->allocate_host(4096), next = *device->allocate_host(4096);
  const auto& unaligned = small->bus().value % kPageSize != 0 ? small : next;
  EXPECT_THAT(space().import_host_memory(*unaligned),
              FailsWith(ErrorCode::kInvalidArgument, "is no multiple of 2097152"));
}

TEST_F(HostMemoryTest, CompactionLeavesItWhereItIs) {
  const auto handle = *space().import_host_memory(*imported);
  ASSERT_THAT(space().map(pages, kSize, handle, 0, Access::kReadWrite), IsOk());
  const auto first = *space().allocate(2_MiB), second = *space().allocate(2_MiB);
  ASSERT_THAT(poke(space(), second.address, 5), 0);
  ASSERT_THAT(space().free(first.address), IsOk());
  EXPECT_THAT(device->compact(1_GiB), IsOk());
  EXPECT_EQ(peek(space(), second.address), 5);
  EXPECT_EQ(space().range_of(pages)->memory, handle);
  EXPECT_THAT(space().unmap(pages, kSize), IsOk());
}

}  // namespace
}  // namespace npu::driver
