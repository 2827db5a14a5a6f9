// SPDX-License-Identifier: Apache-2.0
// REGION_READ, REGION_WRITE, REGION_WRITE_MULTI, DEVICE_RESET.
#include <cerrno>

#include "tests/bench/vfio_user/server_fixture.hpp"

namespace npu::test::vfio_user {
namespace {

constexpr std::uint32_t kMebibyte = 1 << 20;

Blob pattern(std::size_t size) {
  Blob bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + (i >> 8));
  return bytes;
}

Blob tail(const Blob& payload, std::size_t from) {
  return payload.size() < from
             ? Blob()
             : Blob(payload.begin() + static_cast<std::ptrdiff_t>(from), payload.end());
}

class AccessSize : public SessionTest, public testing::WithParamInterface<std::uint32_t> {};

TEST_P(AccessSize, ReadsWhatIsThere) {
  const Blob data = pattern(GetParam());
  std::copy(data.begin(), data.end(), device.regions[kBar2].begin() + 13);
  const Reply reply = client.read(kBar2, 13, GetParam());
  EXPECT_THAT(reply, Succeeds());
  EXPECT_EQ(reply.u64(0), 13U);
  EXPECT_EQ(reply.u32(8), kBar2);
  EXPECT_EQ(reply.u32(12), GetParam());
  EXPECT_EQ(tail(reply.payload, 16), data);
}

TEST_P(AccessSize, WritesWhatWasSent) {
  const Blob data = pattern(GetParam());
  const Reply reply = client.write(kBar2, 13, data);
  EXPECT_THAT(reply, Succeeds());
  EXPECT_EQ(reply.payload, access_payload(kBar2, 13, GetParam()));
  const auto& stored = device.regions[kBar2];
  EXPECT_TRUE(std::equal(data.begin(), data.end(), stored.begin() + 13));
  EXPECT_EQ(stored[13 + data.size()], std::byte{0});
}

TEST_P(AccessSize, IsOneCallOfTheDevice) {
  client.read(kBar2, 0, GetParam());
  EXPECT_EQ(device.take_calls().size(), 1U);
  client.write(kBar2, 0, pattern(GetParam()));
  EXPECT_EQ(device.take_calls().size(), 1U);
}
INSTANTIATE_TEST_SUITE_P(Region, AccessSize,
                         testing::Values(1, 2, 3, 4, 8, 64, 4096, kMebibyte - 1, kMebibyte));

TEST_F(SessionTest, ReachesTheLastByteOfARegion) {
  EXPECT_THAT(client.write(kBar0, 4095, pattern(1)), Succeeds());
  EXPECT_THAT(client.read(kBar0, 0, 4096), Succeeds());
  EXPECT_THAT(client.read(kRom, 2044, 4), Succeeds());
}

class BadAccess : public SessionTest, public testing::WithParamInterface<BadRequest> {};

TEST_P(BadAccess, IsRefusedWithoutTouchingTheDevice) {
  const auto& request = GetParam();
  EXPECT_THAT(client.call(request.command, request.payload), FailsWithErrno(request.error));
  EXPECT_THAT(device.take_calls(), IsEmpty());
  EXPECT_THAT(client.read(kBar0, 0, 4), Succeeds());
}

BadRequest bad_read(const char* name, std::uint32_t region, std::uint64_t offset,
                    std::uint32_t count) {
  return {name, kRegionRead, access_payload(region, offset, count)};
}

BadRequest bad_write(const char* name, std::uint32_t region, std::uint64_t offset,
                     std::uint32_t count, std::size_t bytes) {
  return {name, kRegionWrite, access_payload(region, offset, count, Blob(bytes))};
}

INSTANTIATE_TEST_SUITE_P(
    Region, BadAccess,
    testing::Values(
        BadRequest{"read_empty", kRegionRead, {}}, BadRequest{"read_short", kRegionRead, Blob(15)},
        BadRequest{"read_with_data", kRegionRead, access_payload(0, 0, 4, Blob(4))},
        bad_read("read_nothing", 0, 0, 0), bad_read("read_past_the_end", 0, 4093, 4),
        bad_read("read_behind_the_end", 0, 4096, 1),
        bad_read("read_overflow", 0, UINT64_MAX - 3, 8),
        bad_read("read_last_offset", 0, UINT64_MAX, 1), bad_read("read_absent", 1, 0, 4),
        bad_read("read_region_9", 9, 0, 4), bad_read("read_last_region", UINT32_MAX, 0, 4),
        bad_read("read_too_much", 2, 0, kMebibyte + 1), bad_read("read_most", 2, 0, UINT32_MAX),
        BadRequest{"write_empty", kRegionWrite, {}},
        BadRequest{"write_short", kRegionWrite, Blob(15)}, bad_write("write_nothing", 0, 0, 0, 0),
        bad_write("write_without_data", 0, 0, 4, 0), bad_write("write_less_data", 0, 0, 4, 3),
        bad_write("write_more_data", 0, 0, 4, 5), bad_write("write_past_the_end", 0, 4093, 4, 4),
        bad_write("write_overflow", 0, UINT64_MAX - 3, 8, 8), bad_write("write_absent", 1, 0, 4, 4),
        bad_write("write_region_9", 9, 0, 4, 4), bad_write("write_rom", 6, 0, 4, 4),
        bad_write("write_count_lies", 2, 0, UINT32_MAX, 64),
        BadRequest{"multi_empty", kWriteMulti, {}}, BadRequest{"multi_short", kWriteMulti, Blob(7)},
        BadRequest{"multi_fewer_than_said", kWriteMulti, Fields().u64(2).blob(Blob(24))},
        BadRequest{"multi_more_than_said", kWriteMulti, Fields().u64(1).blob(Blob(48))},
        BadRequest{"multi_cut", kWriteMulti, Fields().u64(1).blob(Blob(23))},
        BadRequest{"multi_count_overflow", kWriteMulti,
                   Fields().u64(0x5555555555555556).blob(Blob(16))},
        BadRequest{"multi_nothing_in_it", kWriteMulti, write_multi_payload({{0, 0, 0, 0}})},
        BadRequest{"multi_nine_bytes", kWriteMulti, write_multi_payload({{0, 0, 9, 0}})},
        BadRequest{"multi_past_the_end", kWriteMulti, write_multi_payload({{4093, 0, 4, 0}})},
        BadRequest{"multi_rom", kWriteMulti, write_multi_payload({{0, 6, 4, 0}})},
        BadRequest{"reset_with_payload", kReset, Blob(1)}),
    name_of);

TEST_F(SessionTest, PassesTheErrorsOfTheDeviceOn) {
  device.next_error = EIO;
  EXPECT_THAT(client.read(kBar0, 0, 4), FailsWithErrno(EIO));
  device.next_error = EPERM;
  EXPECT_THAT(client.write(kBar0, 0, pattern(4)), FailsWithErrno(EPERM));
  EXPECT_THAT(client.read(kBar0, 0, 4), Succeeds());
}

TEST_F(SessionTest, DoesMultipleWritesInOrder) {
  const Reply reply = client.call(
      kWriteMulti,
      write_multi_payload(
          {{0, kBar0, 4, 0x11223344}, {2, kBar0, 1, 0xff}, {8, kBar0, 8, 0x0102030405060708}}));
  EXPECT_EQ(reply.payload, Fields().u64(3).bytes());
  EXPECT_THAT(device.take_calls(), ElementsAre("write 0 0 4", "write 0 2 1", "write 0 8 8"));
  EXPECT_EQ(client.read32(kBar0, 0), 0x11ff3344U);
  EXPECT_EQ(client.read64(kBar0, 8), 0x0102030405060708U);
}

TEST_F(SessionTest, TellsHowManyOfMultipleWritesWereDone) {
  const Reply reply =
      client.call(kWriteMulti,
                  write_multi_payload(
                      {{0, kBar0, 4, 1}, {4, kBar0, 4, 2}, {4094, kBar0, 4, 3}, {8, kBar0, 4, 4}}));
  EXPECT_THAT(reply, Succeeds());
  EXPECT_EQ(reply.payload, Fields().u64(2).bytes());
  EXPECT_EQ(client.read32(kBar0, 8), 0U);
}

TEST_F(SessionTest, DoesNoWriteOfAnEmptyList) {
  const Reply reply = client.call(kWriteMulti, write_multi_payload({}));
  EXPECT_THAT(reply, Succeeds());
  EXPECT_EQ(reply.payload, Fields().u64(0).bytes());
}

TEST_F(SessionTest, CarriesAsManyWritesAsFitAMessage) {
  const std::size_t count = ((1 << 20) + 16 - 8) / 24;
  const std::vector<SmallWrite> writes(count, SmallWrite{0, kBar0, 4, 7});
  const Reply reply = client.call(kWriteMulti, write_multi_payload(writes));
  EXPECT_EQ(reply.payload, Fields().u64(count).bytes());
}

TEST_F(SessionTest, ResetsAndKeepsMappingsAndTriggers) {
  const SharedMemory memory(0x1000);
  const EventFd event;
  client.map(0, 0x1000, memory.fd());
  client.set_irqs(kEventfd | kTrigger, kMsix, 0, 1, {event.fd()});
  device.take_calls();
  const Reply reply = client.reset();
  EXPECT_THAT(reply, Succeeds());
  EXPECT_THAT(reply.payload, IsEmpty());
  EXPECT_THAT(device.take_calls(), ElementsAre("reset"));
}

}  // namespace
}  // namespace npu::test::vfio_user
