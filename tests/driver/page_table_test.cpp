// SPDX-License-Identifier: Apache-2.0
// Page tables as they appear on the bus and in the card's memory.
#include <algorithm>
#include <random>

#include "npu/abi/layout.hpp"
#include "npu/abi/page_table.hpp"
#include "npu/abi/registers.hpp"
#include "tests/driver/space_fixture.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

using test::BusAccess;

class PageTableTest : public SpaceTest {
 protected:
  // Stores to the page tables while `call` runs.
  template <class Call>
  std::vector<BusAccess> table_stores(const Call& call) {
    fake.bus_log.clear();
    fake.log_bus = true;
    call();
    fake.log_bus = false;
    std::vector<BusAccess> stores;
    for (const auto& access : fake.bus_log) {
      const bool in_tables = access.bar == 2 && access.offset >= 56_GiB + abi::kReservedTableOffset;
      if (in_tables && access.kind == BusAccess::Kind::kWrite) stores.push_back(access);
    }
    return stores;
  }
  unsigned count(BusAccess::Kind kind, Bytes offset) const {
    return static_cast<unsigned>(
        std::count_if(fake.bus_log.begin(), fake.bus_log.end(), [&](const BusAccess& access) {
          return access.bar == 0 && access.kind == kind && access.offset == offset;
        }));
  }
  std::uint64_t place(DeviceAddress at) {
    return card.mmu().locate(space().vmid(), at.value).value_or(~0ULL);
  }
};

TEST_F(PageTableTest, NeighbouringEntriesAreWrittenInOrderSoThatTheyCombine) {
  const auto stores = table_stores([&] { ASSERT_THAT(device->allocate(64_MiB), IsOk()); });
  ASSERT_EQ(stores.size(), 32U);  // the tables were there already
  for (std::size_t i = 1; i < stores.size(); ++i) {
    EXPECT_EQ(stores[i].offset, stores[0].offset + 8 * i);
  }
}

TEST_F(PageTableTest, MappingNeitherInvalidatesNorReads) {
  table_stores([&] { ASSERT_THAT(device->allocate(8_MiB), IsOk()); });
  EXPECT_EQ(count(BusAccess::Kind::kWrite, abi::MmuInvalidate::kOffset), 0U);
  EXPECT_TRUE(std::none_of(fake.bus_log.begin(), fake.bus_log.end(), [](const auto& access) {
    return access.kind == BusAccess::Kind::kRead;
  }));
}

TEST_F(PageTableTest, FreeingInvalidatesOnceAfterTheEntriesWereWritten) {
  const auto block = device->allocate(8_MiB);
  table_stores([&] { ASSERT_THAT(device->free(block->address), IsOk()); });
  EXPECT_EQ(count(BusAccess::Kind::kWrite, abi::MmuInvalidate::kOffset), 1U);
  const auto& log = fake.bus_log;
  const auto start = std::find_if(log.begin(), log.end(), [](const auto& access) {
    return access.bar == 0 && access.offset == abi::MmuInvalidate::kOffset;
  });
  EXPECT_TRUE(std::any_of(log.begin(), start, [](const auto& access) {
    return access.kind == BusAccess::Kind::kBarrier;
  }));
  EXPECT_TRUE(std::none_of(start, log.end(), [](const auto& access) { return access.bar == 2; }));
}

TEST_F(PageTableTest, AlignedGibsTakeOneEntryEach) {
  ASSERT_THAT(device->free(memory), IsOk());
  ASSERT_THAT(device->allocate(1_GiB), IsOk());  // the tables exist from here on
  const auto stores = table_stores([&] { ASSERT_THAT(device->allocate(8_GiB), IsOk()); });
  EXPECT_EQ(stores.size(), 8U);
}

TEST_F(PageTableTest, AGiantPageIsSplitWhenAPartOfItChanges) {
  const auto block = device->allocate(2_GiB);
  const auto at = block->address;
  const auto begin = place(at);
  ASSERT_EQ(begin % 1_GiB, 0U);
  EXPECT_EQ(poke(space(), at + 512_MiB, 1), 0);
  ASSERT_THAT(space().set_access(at + 512_MiB, 2_MiB, Access::kRead), IsOk());
  EXPECT_EQ(poke(space(), at + 512_MiB, 2), -static_cast<int>(abi::FaultCode::kDevicePermission));
  EXPECT_EQ(poke(space(), at + 514_MiB, 3), 0);
  EXPECT_EQ(poke(space(), at + 510_MiB, 4), 0);
  for (Bytes offset = 0; offset < 2_GiB; offset += 2_MiB) {
    ASSERT_EQ(place(at + offset), begin + offset);
  }
}

TEST_F(PageTableTest, AllOfTheCardIsHandedOutInPagesAndMergesBackInAnyOrder) {
  ASSERT_THAT(device->free(memory), IsOk());
  const auto before = device->memory_statistics();
  std::vector<DeviceAddress> pages;
  for (Bytes used = 0; used < 56_GiB; used += 2_MiB) {
    const auto page = must(device->allocate(2_MiB));
    pages.push_back(page.address);
  }
  EXPECT_THAT(device->allocate(1), FailsWith(ErrorCode::kOutOfMemory));
  std::shuffle(pages.begin(), pages.end(), std::mt19937(5));
  for (const auto page : pages) ASSERT_THAT(device->free(page), IsOk());
  const auto after = device->memory_statistics();
  EXPECT_EQ(after.largest_free_block, 56_GiB);
  EXPECT_EQ(after.giant_pages_free, before.giant_pages_free);
  EXPECT_EQ(after.allocations, 0U);
}

// 31 MiB are 7936 tables; a table maps 1 GiB in pages of 2 MiB. Far-apart pages use them up.
TEST_F(PageTableTest, RunningOutOfTablesIsAnErrorThatChangesNothing) {
  const auto other = must(device->create_address_space());
  auto& own = *other;
  const auto physical = own.create_memory(2_MiB);
  const auto range = must(own.reserve(Bytes{8} << 40));
  Bytes mapped = 0;
  Status status;
  while (mapped < 8192 && (status = own.map(range + mapped * 1_GiB, 2_MiB, *physical))) {
    ++mapped;
  }
  EXPECT_THAT(status, FailsWith(ErrorCode::kOutOfResources, "page tables"));
  EXPECT_GT(mapped, 7900U);
  EXPECT_FALSE(own.range_of(range + mapped * 1_GiB)->mapped);
  ASSERT_THAT(own.unmap(range, 2_MiB), IsOk());
  EXPECT_THAT(own.map(range + mapped * 1_GiB, 2_MiB, *physical), IsOk());
}

}  // namespace
}  // namespace npu::driver
