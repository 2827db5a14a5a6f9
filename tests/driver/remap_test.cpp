// SPDX-License-Identifier: Apache-2.0
// Remapping when page tables run short, below the device: a space over its own table memory.
#include "driver/memory/space.hpp"
#include "npu/abi/registers.hpp"
#include "tests/driver/device_fixture.hpp"

namespace npu::driver {
namespace {

constexpr unsigned kVmid = 1;

// The card is taken away once everything is mapped: stores to it cost a test's time, and what they
// say is in the host's copy of the tables, too.
class RemapTest : public testing::Test {
 protected:
  void SetUp() override {
    auto registers = fake.map_bar(card.config().bdf, 0, 0, 4096, platform::Caching::kUncached);
    info.function.bdf = card.config().bdf;
    info.hbm_size = card.config().hbm_size;
    link = std::make_unique<CardLink>(fake, info, std::move(*registers), 1_ms);
    tables = std::move(*TableMemory::create(*link));
    invalidator = std::make_unique<Invalidator>(*link, 1_ms);
    space = std::move(*Space::create(kVmid, AddressWindow::take(kVmid - 1, {}, nullptr), physical,
                                     *tables, *invalidator));
    root = 0;  // the first table of all
  }
  // Maps memory that lies at `place`.
  std::uint64_t map(std::uint64_t place, Bytes size) {
    const auto memory = space->held().create(size, false);
    physical.relocate(memory->index, place);
    const auto at = space->reserve(size, size);
    EXPECT_THAT(space->map({*at, size}, *memory, 0, Access::kNone), IsOk());
    return *at;
  }
  void use_up_tables(std::size_t leave) {
    card.remove();
    EXPECT_FALSE(link->read<abi::DeviceStatus>().has_value());
    while (tables->available() > leave) ASSERT_THAT(tables->allocate(), IsOk());
  }
  std::uint64_t place_of(std::uint64_t at) const {
    const auto top = tables->read(root, abi::table_index(at, 2));
    const auto middle = tables->read(tables->table_at(top.address()), abi::table_index(at, 1));
    if (middle.leaf()) return middle.address();
    return tables->read(tables->table_at(middle.address()), abi::table_index(at, 0)).address();
  }

  test::FakePlatform fake;
  test::FakeCard& card = fake.add_card();
  PhysicalMemory physical{card.config().hbm_size};
  CardInfo info;
  std::unique_ptr<CardLink> link;
  std::unique_ptr<TableMemory> tables;
  std::unique_ptr<Invalidator> invalidator;
  std::unique_ptr<Space> space;
  TableId root = 0;
};

TEST_F(RemapTest, GoesOnWithTheOtherMappingsAfterAnError) {
  const auto giant = map(4_GiB, 1_GiB);
  const auto small = map(8_GiB, 2_MiB);
  use_up_tables(0);
  physical.relocate(0, 10_GiB + 2_MiB);  // no giant page any more
  physical.relocate(1, 20_GiB);
  bool changed = false;
  EXPECT_THAT(space->remap({true, true}, changed), FailsWith(ErrorCode::kOutOfResources));
  EXPECT_TRUE(changed);
  EXPECT_EQ(place_of(giant), 4_GiB);
  EXPECT_EQ(place_of(small), 20_GiB);
}

TEST_F(RemapTest, AnIntermediatePlaceCountsIfTheLastOneNeedsNoTable) {
  map(4_GiB, 4_GiB);
  EXPECT_EQ(space->tables_to_remap({{12_GiB}}), 0U);
  EXPECT_EQ(space->tables_to_remap({{12_GiB + 2_MiB}}), 4U);
  // At the end each GiB has its old table, not given back yet, and one for the way back from there.
  EXPECT_EQ(space->tables_to_remap({{12_GiB + 2_MiB, 20_GiB}}), 8U);
}

TEST_F(RemapTest, GoingBackFromGiantPagesTakesTablesOfItsOwn) {
  const auto at = map(4_GiB + 2_MiB, 2_GiB);
  EXPECT_EQ(space->tables_to_remap({{12_GiB + 2_MiB}}), 0U);
  EXPECT_EQ(space->tables_to_remap({{12_GiB}}), 2U);
  use_up_tables(2);
  bool changed = false;
  for (const Bytes place : {12_GiB, 4_GiB + 2_MiB}) {
    physical.relocate(0, place);
    EXPECT_THAT(space->remap({true}, changed), IsOk());
    EXPECT_EQ(place_of(at), place);
  }
  EXPECT_EQ(tables->available(), 0U);
}

}  // namespace
}  // namespace npu::driver
