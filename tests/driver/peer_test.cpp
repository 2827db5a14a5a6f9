// SPDX-License-Identifier: Apache-2.0
// Memory of another card in an address space (address_space.hpp, import_memory).
#include "tests/driver/peer_fixture.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

using abi::FaultCode;

TEST_F(PeerTest, ACopyReachesTheOtherCardsMemory) {
  const auto remote = *space(1).create_memory(4_MiB);
  const auto there = map(space(1), remote, 4_MiB);
  const auto borrowed = must(space(0).import_memory(space(1), remote));
  const auto here = map(space(0), borrowed, 4_MiB);
  const auto own = space(0).allocate(4_MiB)->address;
  put(0, own, 0x1111);
  put(1, there + 2_MiB, 0x2222);
  EXPECT_EQ(copy(own, here), FaultCode::kNone);
  EXPECT_EQ(copy(here + 2_MiB, own + 2_MiB), FaultCode::kNone);
  EXPECT_EQ(get(1, there), 0x1111U);
  EXPECT_EQ(get(0, own + 2_MiB), 0x2222U);
}

TEST_F(PeerTest, NothingIsAccessibleBeforeSetAccess) {
  const auto remote = *space(1).create_memory(2_MiB);
  const auto borrowed = *space(0).import_memory(space(1), remote);
  const auto own = space(0).allocate(2_MiB)->address;
  const auto here = *space(0).reserve(2_MiB);
  ASSERT_THAT(space(0).map(here, 2_MiB, borrowed), IsOk());
  EXPECT_EQ(copy(own, here), FaultCode::kDevicePermission);
  ASSERT_THAT(space(0).set_access(here, 2_MiB, Access::kRead), IsOk());
  EXPECT_EQ(copy(own, here), FaultCode::kDevicePermission);
  EXPECT_EQ(copy(here, own), FaultCode::kNone);
  ASSERT_THAT(space(0).set_access(here, 2_MiB, Access::kReadWrite), IsOk());
  EXPECT_EQ(copy(own, here), FaultCode::kNone);
}

TEST_F(PeerTest, UnmappedMeansUnreachable) {
  const auto remote = *space(1).create_memory(2_MiB);
  const auto borrowed = *space(0).import_memory(space(1), remote);
  const auto here = map(space(0), borrowed, 2_MiB);
  const auto own = space(0).allocate(2_MiB)->address;
  EXPECT_EQ(copy(own, here), FaultCode::kNone);  // now in the fake's TLB
  ASSERT_THAT(space(0).unmap(here, 2_MiB), IsOk());
  EXPECT_EQ(copy(own, here), FaultCode::kTranslation);
}

// 1 GiB aligned addresses of both would be mapped by a giant page, whose parts keep the card.
TEST_F(PeerTest, APartOfAMappingKeepsItsCardWhenAccessChanges) {
  const auto remote = *space(1).create_memory(6_MiB);
  const auto there = map(space(1), remote, 6_MiB);
  const auto here = map(space(0), *space(0).import_memory(space(1), remote), 6_MiB);
  const auto own = space(0).allocate(2_MiB)->address;
  ASSERT_THAT(space(0).set_access(here + 2_MiB, 2_MiB, Access::kRead), IsOk());
  put(0, own, 0x3333);
  EXPECT_EQ(copy(own, here + 2_MiB), FaultCode::kDevicePermission);
  EXPECT_EQ(copy(own, here + 4_MiB), FaultCode::kNone);
  EXPECT_EQ(get(1, there + 4_MiB), 0x3333U);
}

TEST_F(PeerTest, OnlyTheCardThatBorrowsIsLetIn) {
  const auto remote = *space(1).create_memory(2_MiB);
  EXPECT_EQ(fakes[1]->read(0, abi::HccsAccess::kOffset, 8), 0U);
  ASSERT_THAT(space(0).import_memory(space(1), remote), IsOk());
  EXPECT_EQ(fakes[1]->read(0, abi::HccsAccess::kOffset, 8), 0b001U);
  EXPECT_EQ(fakes[0]->read(0, abi::HccsAccess::kOffset, 8), 0U);
}

// It is let in for as long as it has anything of the owner's, by a handle or a mapping.
TEST_F(PeerTest, TheDoorClosesBehindTheLastLease) {
  const auto access = [&] { return fakes[1]->read(0, abi::HccsAccess::kOffset, 8); };
  const auto first = *space(1).create_memory(2_MiB), second = *space(1).create_memory(2_MiB);
  const auto borrowed = *space(0).import_memory(space(1), first);
  const auto other = *space(0).import_memory(space(1), second);
  EXPECT_THAT(space(0).import_memory(space(1), first), FailsWith(ErrorCode::kAlreadyExists));
  const auto here = map(space(0), borrowed, 2_MiB);
  ASSERT_THAT(space(0).release_memory(borrowed), IsOk());
  ASSERT_THAT(space(0).release_memory(other), IsOk());
  EXPECT_EQ(access(), 0b001U) << "the mapping is left";
  EXPECT_EQ(copy(space(0).allocate(2_MiB)->address, here), FaultCode::kNone);
  ASSERT_THAT(space(0).unmap(here, 2_MiB), IsOk());
  EXPECT_EQ(access(), 0U);
  const auto again = *space(0).import_memory(space(1), second);
  EXPECT_EQ(access(), 0b001U);
  devices[0].reset();
  EXPECT_EQ(access(), 0U) << "card 0 has gone with all it had: " << again.index;
}

TEST_F(PeerTest, AfterTheOwnersShutdownAccessesAreRefused) {
  const auto remote = *space(1).create_memory(2_MiB);
  const auto here = map(space(0), *space(0).import_memory(space(1), remote), 2_MiB);
  const auto own = space(0).allocate(2_MiB)->address;
  EXPECT_EQ(copy(own, here), FaultCode::kNone);
  ASSERT_THAT(devices[1]->shutdown(), IsOk());
  EXPECT_EQ(copy(own, here), FaultCode::kPeerRefused);
  devices[1].reset();
  EXPECT_THAT(space(0).unmap(here, 2_MiB), IsOk()) << "without its owner";
}

TEST_F(PeerTest, ErrorsSayWhatIsWrong) {
  const auto remote = *space(1).create_memory(2_MiB);
  EXPECT_THAT(space(2).import_memory(space(1), remote),
              FailsWith(ErrorCode::kUnsupported, "card 2 has no HCCS link to card 1"));
  EXPECT_THAT(space(0).import_memory(space(1), MemoryHandle{77, 1}),
              FailsWith(ErrorCode::kInvalidArgument, "holds no memory 77.1"));
  const auto borrowed = *space(0).import_memory(space(1), remote);
  EXPECT_THAT(space(0).import_memory(space(1), remote),
              FailsWith(ErrorCode::kAlreadyExists, "that memory of card 1"));
  EXPECT_THAT(space(1).import_memory(space(0), borrowed),
              FailsWith(ErrorCode::kInvalidArgument, "only its owner lends it"));
}

TEST_F(PeerTest, TwoSpacesOfACardBorrowTheSameMemory) {
  const auto remote = *space(1).create_memory(2_MiB);
  const auto other = *devices[0]->create_address_space();
  const auto first = *space(0).import_memory(space(1), remote);
  EXPECT_EQ(*other->import_memory(space(1), remote), first);
  ASSERT_THAT(space(0).release_memory(first), IsOk());
  ASSERT_THAT(space(1).release_memory(remote), IsOk());
  EXPECT_LT(devices[1]->memory_statistics().free, kPages * kPageSize) << "the other has it";
  ASSERT_THAT(other->release_memory(first), IsOk());
  EXPECT_EQ(devices[1]->memory_statistics().free, kPages * kPageSize);
}

TEST_F(PeerTest, LentMemoryLivesUntilItIsUnmapped) {
  const auto remote = *space(1).create_memory(2_MiB);
  const auto borrowed = *space(0).import_memory(space(1), remote);
  const auto here = map(space(0), borrowed, 2_MiB);
  ASSERT_THAT(space(0).release_memory(borrowed), IsOk());
  ASSERT_THAT(space(1).release_memory(remote), IsOk());
  EXPECT_EQ(devices[1]->memory_statistics().free, (kPages - 1) * kPageSize);
  EXPECT_THAT(space(1).allocate(kPages * kPageSize), FailsWith(ErrorCode::kOutOfMemory));
  ASSERT_THAT(space(0).unmap(here, 2_MiB), IsOk());
  EXPECT_THAT(space(1).allocate(kPages * kPageSize), IsOk()) << "all of it is free again";
}

TEST_F(PeerTest, BorrowingTakesNoMemoryOfItsOwn) {
  const auto before = devices[0]->memory_statistics();
  const auto remote = *space(1).create_memory(16_MiB);
  ASSERT_THAT(space(0).import_memory(space(1), remote), IsOk());
  EXPECT_EQ(devices[0]->memory_statistics().free, before.free);
  EXPECT_EQ(devices[0]->memory_statistics().allocations, before.allocations);
}

// Blocks of 2 MiB all over the card, every other one given back: 64 MiB are free, no two together.
std::vector<DeviceAddress> fill_every_other(AddressSpace& space, Bytes pages) {
  std::vector<DeviceAddress> all, kept;
  for (Bytes i = 0; i < pages; ++i) all.push_back(space.allocate(kPageSize)->address);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i % 2 == 0) {
      EXPECT_THAT(space.free(all[i]), IsOk());
    } else {
      kept.push_back(all[i]);
    }
  }
  return kept;
}

TEST_F(PeerTest, CompactionLeavesLentMemoryWhereItIs) {
  const auto remote = *space(1).create_memory(kPageSize);
  const auto there = map(space(1), remote, kPageSize);
  const auto here = map(space(0), *space(0).import_memory(space(1), remote), kPageSize);
  const auto kept = fill_every_other(space(1), kPages - 1);
  const auto place = physical(1, there);
  const auto report = must(devices[1]->compact(8 * kPageSize));
  EXPECT_GT(report.blocks, 0U);
  EXPECT_EQ(physical(1, there), place);
  const auto own = space(0).allocate(2_MiB)->address;
  put(0, own, 0x4444);
  EXPECT_EQ(copy(own, here), FaultCode::kNone);
  EXPECT_EQ(get(1, there), 0x4444U);
}

// With the lease gone the same block is in the way no more.
TEST_F(PeerTest, MemoryGivenBackMayMoveAgain) {
  std::vector<std::pair<MemoryHandle, MemoryHandle>> lent;
  std::vector<MemoryHandle> gaps;
  for (Bytes i = 0; i < kPages; ++i) {
    const auto memory = *space(1).create_memory(kPageSize);
    if (i % 2 == 0) {
      gaps.push_back(memory);
    } else {
      lent.emplace_back(memory, *space(0).import_memory(space(1), memory));
    }
  }
  for (const auto gap : gaps) ASSERT_THAT(space(1).release_memory(gap), IsOk());
  EXPECT_THAT(devices[1]->compact(4 * kPageSize), FailsWith(ErrorCode::kOutOfMemory));
  for (const auto& each : lent) ASSERT_THAT(space(0).release_memory(each.second), IsOk());
  EXPECT_THAT(devices[1]->compact(4 * kPageSize), IsOk());
}

// Borrowed memory is no part of the borrower's card: its compaction neither moves nor meets it.
TEST_F(PeerTest, TheBorrowersCompactionKeepsItsMappings) {
  const auto remote = *space(1).create_memory(kPageSize);
  const auto there = map(space(1), remote, kPageSize);
  const auto here = map(space(0), *space(0).import_memory(space(1), remote), kPageSize);
  const auto kept = fill_every_other(space(0), kPages);
  ASSERT_THAT(devices[0]->compact(8 * kPageSize), IsOk());
  put(0, kept[0], 0x5555);
  EXPECT_EQ(copy(kept[0], here), FaultCode::kNone);
  EXPECT_EQ(get(1, there), 0x5555U);
}

}  // namespace
}  // namespace npu::driver
