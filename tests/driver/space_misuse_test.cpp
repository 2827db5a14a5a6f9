// SPDX-License-Identifier: Apache-2.0
// Wrong use of address spaces: an error that names address and VMID, and nothing has changed.
#include "tests/driver/space_fixture.hpp"

namespace npu::driver {
namespace {

class MisuseTest : public SpaceTest {
 protected:
  void SetUp() override {
    SpaceTest::SetUp();
    at = *space().reserve(8_MiB);
    physical = *space().create_memory(4_MiB);
  }
  // After the wrong call the neighbours work as before.
  void TearDown() override {
    EXPECT_EQ(poke(space(), memory, 77), 0);
    EXPECT_EQ(peek(space(), memory), 77);
    SpaceTest::TearDown();
  }
  DeviceAddress at;       // 8 MiB, nothing mapped
  MemoryHandle physical;  // 4 MiB
};

TEST_F(MisuseTest, DoubleFree) {
  const auto block = space().allocate(2_MiB);
  ASSERT_THAT(space().free(block->address), IsOk());
  EXPECT_THAT(space().free(block->address),
              FailsWith(ErrorCode::kInvalidArgument,
                        "no allocation begins at device address 0x100004800000 of VMID 1"));
}

TEST_F(MisuseTest, FreeOfWhatNobodyAllocated) {
  EXPECT_THAT(device->free(DeviceAddress{0}), FailsWith(ErrorCode::kInvalidArgument, "0x0"));
  EXPECT_THAT(device->free(memory + 2_MiB), FailsWith(ErrorCode::kInvalidArgument, "VMID 1"));
  EXPECT_THAT(device->free(at), FailsWith(ErrorCode::kInvalidArgument, "no allocation"));
}

TEST_F(MisuseTest, FreeOfAnotherSpacesMemory) {
  const auto other = device->create_address_space();
  const auto theirs = (*other)->allocate(1_GiB);
  EXPECT_THAT(device->free(theirs->address), FailsWith(ErrorCode::kInvalidArgument, "of VMID 1"));
  EXPECT_EQ(poke(**other, theirs->address, 5), 0);
}

TEST_F(MisuseTest, SizesThatCannotBe) {
  EXPECT_THAT(space().allocate(0), FailsWith(ErrorCode::kInvalidArgument, "VMID 1"));
  EXPECT_THAT(space().allocate(~0ULL), FailsWith(ErrorCode::kOutOfMemory));
  EXPECT_THAT(space().create_memory(0), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(space().create_memory(1_MiB), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(space().reserve(0), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(space().reserve(3_MiB), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(space().reserve(2_MiB, 3_MiB), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(space().reserve(Bytes{1} << 62), FailsWith(ErrorCode::kOutOfResources, "VMID 1"));
}

TEST_F(MisuseTest, MapsThatDoNotFit) {
  const auto refused = FailsWith(ErrorCode::kInvalidArgument, "of VMID 1");
  EXPECT_THAT(space().map(at + 4096, 2_MiB, physical), refused);
  EXPECT_THAT(space().map(at, 1_MiB, physical), refused);
  EXPECT_THAT(space().map(at, 0, physical), refused);
  EXPECT_THAT(space().map(at + 6_MiB, 4_MiB, physical), refused);  // over the reservation's end
  EXPECT_THAT(space().map(at, 6_MiB, physical), refused);          // over the memory's end
  EXPECT_THAT(space().map(at, 4_MiB, physical, 2_MiB), refused);
  EXPECT_THAT(space().map(at, 2_MiB, physical, ~Bytes{0} - 2_MiB + 1), refused);
  EXPECT_THAT(space().map(at, ~Bytes{0} - 2_MiB + 1, physical), refused);
  EXPECT_THAT(space().map(DeviceAddress{4_GiB}, 2_MiB, physical), refused);
  EXPECT_FALSE(space().range_of(at)->mapped);
}

TEST_F(MisuseTest, MapsOverWhatIsMapped) {
  ASSERT_THAT(space().map(at + 2_MiB, 2_MiB, physical), IsOk());
  EXPECT_THAT(space().map(at, 4_MiB, physical), FailsWith(ErrorCode::kBusy, "VMID 1"));
  EXPECT_THAT(space().map(at + 2_MiB, 2_MiB, physical), FailsWith(ErrorCode::kBusy));
  EXPECT_THAT(space().map(memory, 2_MiB, physical), FailsWith(ErrorCode::kBusy, "allocate()"));
  EXPECT_THAT(space().map(at, 2_MiB, physical), IsOk());
}

TEST_F(MisuseTest, UnmapsAndAccessOfWhatIsNotMapped) {
  ASSERT_THAT(space().map(at, 2_MiB, physical), IsOk());
  const auto refused = FailsWith(ErrorCode::kInvalidArgument, "nothing is mapped at");
  EXPECT_THAT(space().unmap(at, 4_MiB), refused);
  EXPECT_THAT(space().unmap(at + 2_MiB, 2_MiB), refused);
  EXPECT_THAT(space().set_access(at, 4_MiB, Access::kRead), refused);
  EXPECT_TRUE(space().range_of(at)->mapped);
  EXPECT_EQ(space().range_of(at)->access, Access::kNone);
}

TEST_F(MisuseTest, ReleasesOfWhatIsInUseOrForeign) {
  ASSERT_THAT(space().map(at + 2_MiB, 2_MiB, physical), IsOk());
  EXPECT_THAT(space().release(at), FailsWith(ErrorCode::kBusy, "has a mapping"));
  EXPECT_THAT(space().release(at + 2_MiB), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(space().release(memory), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(space().unmap(memory, 2_MiB), FailsWith(ErrorCode::kInvalidArgument, "free()"));
  ASSERT_THAT(space().unmap(at + 2_MiB, 2_MiB), IsOk());
  ASSERT_THAT(space().release(at), IsOk());
  EXPECT_THAT(space().release(at), FailsWith(ErrorCode::kInvalidArgument, "VMID 1"));
}

TEST_F(MisuseTest, HandlesThatAreStaleOrForeign) {
  const auto other = device->create_address_space();
  EXPECT_THAT((*other)->release_memory(physical),
              FailsWith(ErrorCode::kInvalidArgument, "VMID 2 holds no memory"));
  EXPECT_THAT((*other)->map(*(*other)->reserve(2_MiB), 2_MiB, physical),
              FailsWith(ErrorCode::kInvalidArgument, "belongs to another"));
  EXPECT_THAT(space().import_memory(space(), physical), FailsWith(ErrorCode::kAlreadyExists));
  ASSERT_THAT(space().release_memory(physical), IsOk());
  EXPECT_THAT(space().release_memory(physical), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(space().create_memory(4_MiB), IsOk());  // takes the same slot
  EXPECT_THAT(space().release_memory(physical), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(space().release_memory(MemoryHandle{}), FailsWith(ErrorCode::kInvalidArgument));
}

TEST_F(MisuseTest, AnOutOfMemoryErrorSaysWhatIsFree) {
  EXPECT_THAT(space().allocate(56_GiB), FailsWith(ErrorCode::kOutOfMemory,
                                                  "60129542144 bytes of device memory requested, "
                                                  "60058238976 free"));
}

// The card does not answer the invalidation: the mapping stays on the books, and the call may be
// repeated when the card works again.
TEST_F(MisuseTest, AFreeThatTheCardDoesNotConfirmKeepsTheMemory) {
  const auto block = space().allocate(2_MiB);
  const auto free = device->memory_statistics().free;
  card.behaviour.invalidate_stuck = true;
  EXPECT_THAT(space().free(block->address), FailsWith(ErrorCode::kTimeout, "VMID 1"));
  EXPECT_EQ(device->memory_statistics().free, free);
  card.behaviour.invalidate_stuck = false;
  card.set_register(0x218, 4, 0);
  EXPECT_THAT(space().free(block->address), IsOk());
  EXPECT_EQ(device->memory_statistics().free, free + 2_MiB);
}

}  // namespace
}  // namespace npu::driver
