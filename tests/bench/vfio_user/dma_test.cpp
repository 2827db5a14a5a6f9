// SPDX-License-Identifier: Apache-2.0
// DMA_MAP and DMA_UNMAP.
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

#include "tests/bench/vfio_user/server_fixture.hpp"

namespace npu::test::vfio_user {
namespace {

class DmaTest : public SessionTest {
 protected:
  SharedMemory memory{64 * kPage};
};

TEST_F(DmaTest, DeviceAndClientSeeTheSameBytes) {
  EXPECT_THAT(client.map(0x100000, 4 * kPage, memory.fd(), 8 * kPage), Succeeds());
  const auto& mapping = device.mappings.at(0x100000);
  memory.data()[8 * kPage + 5] = std::byte{0x5a};
  EXPECT_EQ(mapping.data[5], std::byte{0x5a});
  mapping.data[4 * kPage - 1] = std::byte{0xa5};
  EXPECT_EQ(memory.data()[12 * kPage - 1], std::byte{0xa5});
}

TEST_F(DmaTest, TellsTheDeviceTheRights) {
  client.map(0 * kPage, kPage, memory.fd(), 0, kRead);
  client.map(1 * kPage, kPage, memory.fd(), 0, kWrite);
  client.map(2 * kPage, kPage, memory.fd(), 0, kRead | kWrite);
  EXPECT_TRUE(device.mappings.at(0).readable);
  EXPECT_FALSE(device.mappings.at(0).writable);
  EXPECT_FALSE(device.mappings.at(kPage).readable);
  EXPECT_TRUE(device.mappings.at(kPage).writable);
  EXPECT_TRUE(device.mappings.at(2 * kPage).readable);
  EXPECT_TRUE(device.mappings.at(2 * kPage).writable);
}

TEST_F(DmaTest, RepliesToAnUnmapWithItsRequest) {
  client.map(0x100000, kPage, memory.fd());
  device.take_calls();
  const Reply reply = client.unmap(0x100000, kPage);
  EXPECT_EQ(reply.payload, unmap_payload(0x100000, kPage));
  EXPECT_THAT(device.take_calls(), ElementsAre("unmap 100000 1000"));
}

TEST_F(DmaTest, MappingAndUnmappingAgainWorks) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(client.map(0x100000, kPage, memory.fd()), Succeeds());
    EXPECT_THAT(client.map(0x100000, kPage, memory.fd()), FailsWithErrno(EEXIST));
    EXPECT_THAT(client.unmap(0x100000, kPage), Succeeds());
  }
}

TEST_F(DmaTest, TheSameMemoryCanBeMappedTwice) {
  EXPECT_THAT(client.map(0, kPage, memory.fd()), Succeeds());
  EXPECT_THAT(client.map(0x100000, kPage, memory.fd()), Succeeds());
  device.mappings.at(0).data[0] = std::byte{1};
  EXPECT_EQ(device.mappings.at(0x100000).data[0], std::byte{1});
  EXPECT_THAT(client.unmap(0, kPage), Succeeds());
  EXPECT_EQ(device.mappings.at(0x100000).data[0], std::byte{1});
}

TEST_F(DmaTest, TheAddressSpaceCanBeUsedToItsEnd) {
  EXPECT_THAT(client.map(UINT64_MAX - kPage + 1, kPage, memory.fd()), Succeeds());
  EXPECT_THAT(client.unmap(UINT64_MAX - kPage + 1, kPage), Succeeds());
}

TEST_F(DmaTest, ARangeWithoutAFileIsTakenButNotReachable) {
  EXPECT_THAT(client.map(0x100000, kPage, -1), Succeeds());
  EXPECT_THAT(client.map(0x100000, kPage, memory.fd()), FailsWithErrno(EEXIST));
  EXPECT_THAT(client.unmap(0x100000, kPage), Succeeds());
  EXPECT_THAT(device.take_calls(), IsEmpty());
  EXPECT_THAT(client.map(0x100000, kPage, memory.fd()), Succeeds());
}

TEST_F(DmaTest, WhatTheDeviceRefusesIsNotMapped) {
  device.next_error = ENOMEM;
  EXPECT_THAT(client.map(0, kPage, memory.fd()), FailsWithErrno(ENOMEM));
  EXPECT_THAT(client.map(0, kPage, memory.fd()), Succeeds());
}

TEST_F(DmaTest, AClientWithAnIommuUnmapsAllMappingsInsideARange) {
  for (const std::uint64_t page : {2, 3, 5}) client.map(page * kPage, kPage, memory.fd());
  device.take_calls();
  EXPECT_THAT(client.unmap(3 * kPage, 5 * kPage), Succeeds());
  EXPECT_THAT(device.take_calls(), ElementsAre("unmap 3000 1000", "unmap 5000 1000"));
  EXPECT_THAT(client.unmap(0, UINT64_MAX), Succeeds());
  EXPECT_THAT(device.take_calls(), ElementsAre("unmap 2000 1000"));
  EXPECT_THAT(client.unmap(0, UINT64_MAX), Succeeds());
  EXPECT_THAT(device.take_calls(), IsEmpty());
}

TEST_F(DmaTest, UnmappingAllTakesEveryMapping) {
  for (const std::uint64_t page : {2, 3, 5}) client.map(page * kPage, kPage, memory.fd());
  device.take_calls();
  EXPECT_THAT(client.unmap(0, 0, kAll), Succeeds());
  EXPECT_THAT(device.take_calls(),
              ElementsAre("unmap 2000 1000", "unmap 3000 1000", "unmap 5000 1000"));
  EXPECT_THAT(client.unmap(0, 0, kAll), Succeeds());
}

struct Range {
  const char* name;
  std::uint64_t iova;
  std::uint64_t size;
};
std::string range_name(const testing::TestParamInfo<Range>& info) {
  return info.param.name;
}

class Overlap : public DmaTest, public testing::WithParamInterface<Range> {};

TEST_P(Overlap, IsRefused) {
  client.map(8 * kPage, 4 * kPage, memory.fd());
  device.take_calls();
  EXPECT_THAT(client.map(GetParam().iova, GetParam().size, memory.fd()), FailsWithErrno(EEXIST));
  EXPECT_THAT(device.take_calls(), IsEmpty());
}
INSTANTIATE_TEST_SUITE_P(
    Dma, Overlap,
    testing::Values(Range{"same", 8 * kPage, 4 * kPage}, Range{"inside", 9 * kPage, kPage},
                    Range{"around", 7 * kPage, 6 * kPage}, Range{"begin", 7 * kPage, 2 * kPage},
                    Range{"end", 11 * kPage, 2 * kPage}, Range{"from_zero", 0, 9 * kPage}),
    range_name);

class PartOfAMapping : public DmaTest, public testing::WithParamInterface<Range> {};

TEST_P(PartOfAMapping, IsNotUnmapped) {
  client.map(8 * kPage, 4 * kPage, memory.fd());
  client.map(16 * kPage, 4 * kPage, memory.fd());
  device.take_calls();
  EXPECT_THAT(client.unmap(GetParam().iova, GetParam().size), FailsWithErrno(EINVAL));
  EXPECT_THAT(device.take_calls(), IsEmpty());
}
INSTANTIATE_TEST_SUITE_P(
    Dma, PartOfAMapping,
    testing::Values(Range{"inside", 9 * kPage, kPage}, Range{"begin", 8 * kPage, kPage},
                    Range{"end", 11 * kPage, kPage}, Range{"into_it", 0, 9 * kPage},
                    Range{"out_of_it", 10 * kPage, 4 * kPage},
                    Range{"one_and_a_half", 8 * kPage, 10 * kPage}, Range{"byte", 8 * kPage, 1},
                    Range{"one_byte_less", 8 * kPage, 4 * kPage - 1}),
    range_name);

TEST_F(DmaTest, NeighboursDoNotOverlap) {
  EXPECT_THAT(client.map(8 * kPage, 4 * kPage, memory.fd()), Succeeds());
  EXPECT_THAT(client.map(7 * kPage, kPage, memory.fd()), Succeeds());
  EXPECT_THAT(client.map(12 * kPage, kPage, memory.fd()), Succeeds());
}

class BadDma : public DmaTest, public testing::WithParamInterface<BadRequest> {};

TEST_P(BadDma, IsRefusedWithoutTellingTheDevice) {
  const auto& request = GetParam();
  EXPECT_THAT(client.call(request.command, request.payload, {memory.fd()}),
              FailsWithErrno(request.error));
  EXPECT_THAT(device.take_calls(), IsEmpty());
  EXPECT_THAT(client.map(0, kPage, memory.fd()), Succeeds());
}

BadRequest bad_map(const char* name, std::uint64_t iova, std::uint64_t size, std::uint64_t offset,
                   std::uint32_t flags = kRead | kWrite) {
  return {name, kDmaMap, map_payload(iova, size, offset, flags)};
}

BadRequest bad_unmap(const char* name, std::uint64_t iova, std::uint64_t size,
                     std::uint32_t flags = 0) {
  return {name, kDmaUnmap, unmap_payload(iova, size, flags)};
}

INSTANTIATE_TEST_SUITE_P(
    Dma, BadDma,
    testing::Values(
        BadRequest{"map_empty", kDmaMap, {}}, BadRequest{"map_short", kDmaMap, Blob(31)},
        BadRequest{"map_long", kDmaMap, Fields().blob(map_payload(0, kPage, 0)).u64(0)},
        BadRequest{"map_small_argsz", kDmaMap, Fields().u32(31).u32(3).u64(0).u64(0).u64(kPage)},
        bad_map("map_nothing", 0, 0, 0), bad_map("map_odd_size", 0, kPage + 1, 0),
        bad_map("map_odd_iova", 512, kPage, 0), bad_map("map_odd_offset", 0, kPage, 512),
        bad_map("map_no_right", 0, kPage, 0, 0), bad_map("map_unknown_flag", 0, kPage, 0, 7),
        bad_map("map_high_flag", 0, kPage, 0, 0x80000003),
        bad_map("map_past_the_address_space", UINT64_MAX - kPage + 1, 2 * kPage, 0),
        bad_map("map_everything", 0, UINT64_MAX - kPage + 1, 0),
        bad_map("map_past_the_file", 0, 2 * kPage, 63 * kPage),
        bad_map("map_behind_the_file", 0, kPage, 64 * kPage),
        bad_map("map_offset_overflow", 0, 2 * kPage, UINT64_MAX - kPage + 1),
        bad_map("map_negative_offset", 0, kPage, std::uint64_t{1} << 63),
        BadRequest{"unmap_empty", kDmaUnmap, {}}, BadRequest{"unmap_short", kDmaUnmap, Blob(23)},
        BadRequest{"unmap_long", kDmaUnmap, Fields().blob(unmap_payload(0, kPage)).u64(0)},
        BadRequest{"unmap_small_argsz", kDmaUnmap, Fields().u32(23).u32(0).u64(0).u64(kPage)},
        bad_unmap("unmap_nothing", 0, 0), bad_unmap("unmap_past_the_address_space", UINT64_MAX, 2),
        bad_unmap("unmap_dirty_bitmap", 0, kPage, 1), bad_unmap("unmap_unknown_flag", 0, kPage, 4),
        bad_unmap("unmap_all_of_a_range", 0, kPage, kAll),
        bad_unmap("unmap_all_from", kPage, 0, kAll)),
    name_of);

TEST_F(DmaTest, TakesOneFileForOneRange) {
  EXPECT_THAT(client.call(kDmaMap, map_payload(0, kPage, 0), {memory.fd(), memory.fd()}),
              FailsWithErrno(EINVAL));
}

TEST_F(DmaTest, AFileMustBeOpenForWhatIsAsked) {
  const std::string name = "/proc/self/fd/" + std::to_string(memory.fd());
  const int read_only = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
  const int write_only = ::open(name.c_str(), O_WRONLY | O_CLOEXEC);
  const int nothing = ::open(name.c_str(), O_PATH | O_CLOEXEC);
  EXPECT_THAT(client.map(0, kPage, read_only), FailsWithErrno(EACCES));
  EXPECT_THAT(client.map(0, kPage, read_only, 0, kRead), Succeeds());
  EXPECT_THAT(client.map(kPage, kPage, write_only), FailsWithErrno(EACCES));
  EXPECT_THAT(client.map(kPage, kPage, nothing), FailsWithErrno(EACCES));
  EXPECT_THAT(client.map(kPage, kPage, memory.fd()), Succeeds());
  for (const int fd : {read_only, write_only, nothing}) ::close(fd);
}

TEST_F(SessionTest, ASealedFileCanBeMappedForReading) {
  const SharedMemory memory(2 * kPage, MFD_ALLOW_SEALING);
  ASSERT_EQ(::fcntl(memory.fd(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE), 0);
  EXPECT_THAT(client.map(0, kPage, memory.fd()), FailsWithErrno(EACCES));
  EXPECT_THAT(client.map(0, kPage, memory.fd(), 0, kRead), Succeeds());
  EXPECT_EQ(device.mappings.at(0).data[0], std::byte{0});
}

TEST_F(SessionTest, OnlyFilesCanBeMapped) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const EventFd event;
  const int folder_fd = ::open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const int null_fd = ::open("/dev/zero", O_RDWR | O_CLOEXEC);
  for (const int fd : {ends[0], ends[1], event.fd(), client.socket(), folder_fd, null_fd}) {
    EXPECT_THAT(client.map(0, kPage, fd), FailsWithErrno(EINVAL));
  }
  for (const int fd : {ends[0], ends[1], folder_fd, null_fd}) ::close(fd);
  EXPECT_THAT(device.take_calls(), IsEmpty());
}

TEST_F(SessionTest, AnEmptyOrOddFileIsMappedAsFarAsItsWholePages) {
  const SharedMemory memory(kPage);
  ASSERT_EQ(::ftruncate(memory.fd(), 2 * kPage - 1), 0);
  EXPECT_THAT(client.map(0, kPage, memory.fd()), Succeeds());
  EXPECT_THAT(client.map(kPage, kPage, memory.fd(), kPage), FailsWithErrno(EINVAL));
  ASSERT_EQ(::ftruncate(memory.fd(), 0), 0);
  EXPECT_THAT(client.map(kPage, kPage, memory.fd()), FailsWithErrno(EINVAL));
}

TEST_F(SessionTest, AFileThatHasGrownIsMappedAnew) {
  const SharedMemory memory(kPage);
  EXPECT_THAT(client.map(0, kPage, memory.fd()), Succeeds());
  ASSERT_EQ(::ftruncate(memory.fd(), 4 * kPage), 0);
  EXPECT_THAT(client.map(0x100000, kPage, memory.fd(), 3 * kPage), Succeeds());
  device.mappings.at(0x100000).data[0] = std::byte{9};
  std::byte seen{};
  ASSERT_EQ(::pread(memory.fd(), &seen, 1, 3 * kPage), 1);
  EXPECT_EQ(seen, std::byte{9});
}

TEST_F(SessionTest, AFileLargerThanAnyMemoryIsRefused) {
  const SharedMemory memory(kPage);
  ASSERT_EQ(::ftruncate(memory.fd(), LLONG_MAX - kPage + 1), 0);
  EXPECT_THAT(client.map(0, kPage, memory.fd()), FailsWithErrno(ENOMEM));
}

TEST_F(SessionTest, ManyFilesAreMappedUpToALimit) {
  std::vector<std::unique_ptr<SharedMemory>> files;
  for (std::uint64_t i = 0; i < 128; ++i) {
    files.push_back(std::make_unique<SharedMemory>(kPage));
    ASSERT_THAT(client.map(i * kPage, kPage, files.back()->fd()), Succeeds());
  }
  const SharedMemory one_more(kPage);
  EXPECT_THAT(client.map(128 * kPage, kPage, one_more.fd()), FailsWithErrno(ENOMEM));
  EXPECT_THAT(client.unmap(0, kPage), Succeeds());
  EXPECT_THAT(client.map(128 * kPage, kPage, one_more.fd()), Succeeds());
}

TEST_F(DmaTest, TensOfThousandsOfPagesCanBeMappedOneByOne) {
  for (std::uint64_t i = 0; i < 65535; ++i) {
    client.send(kDmaMap, map_payload(i * kPage, kPage, (i % 64) * kPage), {memory.fd()},
                kWantsNoReply);
  }
  EXPECT_THAT(client.map(65535 * kPage, kPage, memory.fd()), FailsWithErrno(ENOSPC));
  EXPECT_EQ(device.mappings.size(), 65535U);
}

}  // namespace
}  // namespace npu::test::vfio_user
