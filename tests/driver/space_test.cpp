// SPDX-License-Identifier: Apache-2.0
// Address spaces: plain memory, VMM-style mapping, isolation (requirements.md M2).
#include "npu/abi/page_table.hpp"
#include "tests/driver/space_fixture.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

using abi::FaultCode;

TEST_F(SpaceTest, AllocatedMemoryIsReadAndWrittenAtItsVirtualAddress) {
  const auto block = must(space().allocate(10_MiB));
  EXPECT_GE(block.address.value, 1ULL << 40);
  EXPECT_EQ(block.reserved, 10_MiB);
  EXPECT_EQ(poke(space(), block.address + 9_MiB, 4711), 0);
  EXPECT_EQ(peek(space(), block.address + 9_MiB), 4711);
}

TEST_F(SpaceTest, ADeviceLocalAddressUsedAsAVirtualOneFaults) {
  EXPECT_EQ(peek(space(), DeviceAddress{0}), code(FaultCode::kTranslation));
  EXPECT_EQ(peek(space(), DeviceAddress{55_GiB}), code(FaultCode::kTranslation));
}

TEST_F(SpaceTest, RunningOverTheEndOfAnAllocationFaults) {
  const auto block = space().allocate(6_MiB);
  ASSERT_THAT(space().allocate(6_MiB), IsOk());  // a neighbour
  EXPECT_EQ(peek(space(), block->address + (6_MiB - 4)), code(FaultCode::kTranslation));
}

TEST_F(SpaceTest, FreedMemoryIsUnreachableAtOnceAndFreeAgain) {
  const auto before = device->memory_statistics().free;
  const auto block = space().allocate(4_MiB);
  EXPECT_EQ(peek(space(), block->address), 0);  // now in the fake's TLB
  ASSERT_THAT(space().free(block->address), IsOk());
  EXPECT_EQ(peek(space(), block->address), code(FaultCode::kTranslation));
  EXPECT_EQ(device->memory_statistics().free, before);
}

TEST_F(SpaceTest, MapsMemoryWhereTheUserReservedAddresses) {
  const auto physical = space().create_memory(4_MiB);
  const auto at = space().reserve(8_MiB);
  ASSERT_THAT(space().map(*at + 2_MiB, 4_MiB, *physical), IsOk());
  EXPECT_EQ(peek(space(), *at + 2_MiB), code(FaultCode::kDevicePermission));
  ASSERT_THAT(space().set_access(*at + 2_MiB, 4_MiB, Access::kReadWrite), IsOk());
  EXPECT_EQ(poke(space(), *at + 2_MiB, 7), 0);
  EXPECT_EQ(peek(space(), *at + 2_MiB), 7);
  EXPECT_EQ(peek(space(), *at), code(FaultCode::kTranslation));
}

TEST_F(SpaceTest, ReadOnlyMemoryRefusesWrites) {
  const auto block = space().allocate(4_MiB);
  EXPECT_EQ(poke(space(), block->address + 2_MiB, 5), 0);
  ASSERT_THAT(space().set_access(block->address + 2_MiB, 2_MiB, Access::kRead), IsOk());
  EXPECT_EQ(poke(space(), block->address + 2_MiB, 6), code(FaultCode::kDevicePermission));
  EXPECT_EQ(peek(space(), block->address + 2_MiB), 5);
  EXPECT_EQ(poke(space(), block->address, 6), 0);
}

TEST_F(SpaceTest, OneMemoryMayBeMappedTwiceAndInPieces) {
  const auto physical = space().create_memory(4_MiB);
  const auto first = space().reserve(4_MiB);
  const auto second = space().reserve(2_MiB);
  ASSERT_THAT(space().map(*first, 4_MiB, *physical), IsOk());
  ASSERT_THAT(space().map(*second, 2_MiB, *physical, 2_MiB), IsOk());
  ASSERT_THAT(space().set_access(*first, 4_MiB, Access::kReadWrite), IsOk());
  ASSERT_THAT(space().set_access(*second, 2_MiB, Access::kRead), IsOk());
  EXPECT_EQ(poke(space(), *first + 2_MiB, 99), 0);
  EXPECT_EQ(peek(space(), *second), 99);
}

TEST_F(SpaceTest, ReleasedMemoryLivesUntilItsLastMappingIsGone) {
  const auto free = device->memory_statistics().free;
  const auto physical = space().create_memory(2_MiB);
  const auto at = space().reserve(2_MiB);
  ASSERT_THAT(space().map(*at, 2_MiB, *physical), IsOk());
  ASSERT_THAT(space().release_memory(*physical), IsOk());
  EXPECT_EQ(device->memory_statistics().free, free - 2_MiB);
  EXPECT_THAT(space().map(*at, 2_MiB, *physical), FailsWith(ErrorCode::kInvalidArgument));
  ASSERT_THAT(space().unmap(*at, 2_MiB), IsOk());
  EXPECT_EQ(device->memory_statistics().free, free);
}

// --- isolation

TEST_F(SpaceTest, ASpaceSeesNothingOfAnother) {
  const auto other = must(device->create_address_space());
  const auto mine = space().allocate(2_MiB);
  const auto theirs = other->allocate(4_MiB);
  EXPECT_EQ(poke(*other, theirs->address, 1), 0);
  EXPECT_EQ(poke(space(), mine->address, 2), 0);
  EXPECT_EQ(peek(*other, theirs->address), 1);
  EXPECT_EQ(peek(space(), mine->address), 2);
}

TEST_F(SpaceTest, AForeignAddressFaultsAndTheReportNamesAddressAndSpace) {
  const auto other = device->create_address_space();
  const auto theirs = (*other)->allocate(2_GiB);
  const auto via = stream_of(space());
  EXPECT_FALSE(write_word(via, theirs->address + 64, 1).has_value());
  const auto fault = device->take_fault();
  ASSERT_TRUE(fault && *fault);
  EXPECT_EQ((*fault)->code, FaultCode::kTranslation);
  EXPECT_EQ((*fault)->address, theirs->address.value + 64);
  EXPECT_EQ((*fault)->vmid, space().vmid());
  EXPECT_TRUE((*fault)->write);
  EXPECT_THAT(describe(**fault), testing::HasSubstr(" of VMID 1, write"));
  EXPECT_EQ(peek(**other, theirs->address + 64), 0);
}

TEST_F(SpaceTest, ImportedMemoryIsShared) {
  const auto other = device->create_address_space();
  const auto physical = space().create_memory(2_MiB);
  const auto imported = must((*other)->import_memory(space(), *physical));
  const auto at = (*other)->reserve(2_MiB);
  ASSERT_THAT((*other)->map(*at, 2_MiB, imported), IsOk());
  ASSERT_THAT((*other)->set_access(*at, 2_MiB, Access::kReadWrite), IsOk());
  ASSERT_THAT(space().release_memory(*physical), IsOk());
  EXPECT_EQ(poke(**other, *at, 3), 0);
  EXPECT_EQ(peek(**other, *at), 3);
  EXPECT_THAT((*other)->import_memory(space(), *physical), FailsWith(ErrorCode::kInvalidArgument));
}

TEST_F(SpaceTest, FifteenSpacesThenAClearRefusalThenReuse) {
  std::vector<std::unique_ptr<AddressSpace>> spaces;
  for (unsigned vmid = 2; vmid < abi::kVmids; ++vmid) {
    auto created = must(device->create_address_space());
    EXPECT_EQ(created->vmid(), vmid);
    spaces.push_back(std::move(created));
  }
  EXPECT_THAT(device->create_address_space(),
              FailsWith(ErrorCode::kOutOfResources, "all 18 address spaces"));
  spaces[4].reset();
  const auto again = must(device->create_address_space());
  EXPECT_EQ(again->vmid(), 6U);
}

TEST_F(SpaceTest, AReusedVmidSeesNothingOfItsPredecessor) {
  auto first = device->create_address_space();
  const auto old = (*first)->allocate(2_MiB);
  EXPECT_EQ(poke(**first, old->address, 11), 0);  // fills the fake's TLB
  first->reset();
  const auto second = device->create_address_space();
  ASSERT_EQ((*second)->vmid(), 2U);
  EXPECT_EQ(peek(**second, old->address), code(FaultCode::kTranslation));
}

TEST_F(SpaceTest, DestroyingASpaceGivesEverythingBack) {
  const auto free = device->memory_statistics().free;
  {
    const auto other = device->create_address_space();
    ASSERT_THAT((*other)->allocate(3_GiB), IsOk());
    ASSERT_THAT((*other)->create_memory(2_MiB), IsOk());
    const auto physical = (*other)->create_memory(2_MiB);
    ASSERT_THAT((*other)->map(*(*other)->reserve(2_MiB), 2_MiB, *physical), IsOk());
  }
  EXPECT_EQ(device->memory_statistics().free, free);
}

TEST_F(SpaceTest, ASpaceWithStreamsCannotBeClosedAndEndsWithItsLastStream) {
  const auto free = device->memory_statistics().free;
  auto other = device->create_address_space();
  const auto block = (*other)->allocate(2_MiB);
  const auto via = stream_of(**other);
  EXPECT_THAT((*other)->close(), FailsWith(ErrorCode::kBusy, "VMID 2 is used by 1 streams"));
  other->reset();
  EXPECT_EQ(read_word(via, block->address), 0);
  EXPECT_EQ(device->memory_statistics().free, free - 2_MiB);
  ASSERT_THAT(device->destroy_stream(via, in(1_s)), IsOk());
  EXPECT_EQ(device->memory_statistics().free, free);
}

TEST_F(SpaceTest, AClosedSpaceRefusesEverything) {
  auto other = device->create_address_space();
  ASSERT_THAT((*other)->close(), IsOk());
  EXPECT_THAT((*other)->allocate(1), FailsWith(ErrorCode::kInvalidArgument, "closed"));
  EXPECT_THAT((*other)->close(), FailsWith(ErrorCode::kInvalidArgument, "closed"));
  StreamOptions options;
  options.space = other->get();
  EXPECT_THAT(device->create_stream(options), FailsWith(ErrorCode::kInvalidArgument));
}

TEST_F(SpaceTest, AStreamOfAnotherCardsSpaceIsRefused) {
  test::FakeCardConfig config;
  config.bdf = {2, 0, 0};
  config.index = 1;
  fake.add_card(config);
  const auto second = Device::open(fake, config.bdf);
  StreamOptions options;
  options.space = &(*second)->address_space();
  EXPECT_THAT(device->create_stream(options), FailsWith(ErrorCode::kInvalidArgument, "another"));
  const auto physical = (*second)->address_space().create_memory(2_MiB);
  EXPECT_THAT(space().import_memory((*second)->address_space(), *physical),
              FailsWith(ErrorCode::kUnsupported, "card 0 has no HCCS link to card 1"));
}

// --- queries

TEST_F(SpaceTest, RangeOfTellsReservationMappingAndMemory) {
  const auto physical = space().create_memory(8_MiB);
  const auto at = space().reserve(16_MiB);
  ASSERT_THAT(space().map(*at + 4_MiB, 4_MiB, *physical, 2_MiB), IsOk());
  const auto inside = must(space().range_of(*at + 6_MiB + 5));
  EXPECT_EQ(inside.reservation, *at);
  EXPECT_EQ(inside.reserved, 16_MiB);
  ASSERT_TRUE(inside.mapped);
  EXPECT_EQ(inside.begin, *at + 4_MiB);
  EXPECT_EQ(inside.size, 4_MiB);
  EXPECT_EQ(inside.memory, *physical);
  EXPECT_EQ(inside.offset, 2_MiB);
  EXPECT_FALSE(space().range_of(*at + 8_MiB)->mapped);
  EXPECT_FALSE(space().range_of(*at + 16_MiB).has_value());
}

TEST_F(SpaceTest, StatisticsCountHugeAndGiantPages) {
  ASSERT_THAT(device->free(memory), IsOk());
  auto statistics = device->memory_statistics();
  EXPECT_EQ(statistics.huge_pages_free, 56U * 512);
  EXPECT_EQ(statistics.giant_pages_free, 56U);
  ASSERT_THAT(device->allocate(2_MiB), IsOk());
  statistics = device->memory_statistics();
  EXPECT_EQ(statistics.huge_pages_free, 56U * 512 - 1);
  EXPECT_EQ(statistics.giant_pages_free, 55U);
}

}  // namespace
}  // namespace npu::driver
