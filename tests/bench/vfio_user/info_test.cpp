// SPDX-License-Identifier: Apache-2.0
// What a client can ask about the function.

#include "tests/bench/vfio_user/server_fixture.hpp"

namespace npu::test::vfio_user {
namespace {

Blob info_request(std::uint32_t argsz) {
  return Fields().u32(argsz).u32(0).u32(0).u32(0);
}

Blob region_request(std::uint32_t argsz, std::uint32_t index) {
  return Fields().u32(argsz).u32(0).u32(index).u32(0).u64(0).u64(0);
}

Blob io_fds_request(std::uint32_t argsz, std::uint32_t flags, std::uint32_t index,
                    std::uint32_t count) {
  return Fields().u32(argsz).u32(flags).u32(index).u32(count);
}

Blob irq_request(std::uint32_t argsz, std::uint32_t index) {
  return Fields().u32(argsz).u32(0).u32(index).u32(0);
}

Blob cut(Blob payload, std::size_t size) {
  payload.resize(size);
  return payload;
}

TEST_F(SessionTest, IsAPciDeviceThatCanBeReset) {
  const Reply reply = client.call(kGetInfo, info_request(16));
  EXPECT_THAT(reply, Succeeds());
  EXPECT_EQ(reply.payload, Fields().u32(16).u32(3).u32(9).u32(5).bytes());
}

struct ExpectedRegion {
  std::uint32_t index;
  std::uint32_t flags;  // 1 readable, 2 writable
  std::uint64_t size;
};
class RegionInformation : public SessionTest, public testing::WithParamInterface<ExpectedRegion> {};

TEST_P(RegionInformation, TellsSizeAndRights) {
  const auto& expected = GetParam();
  const Reply reply = client.region_info(expected.index);
  EXPECT_THAT(reply, Succeeds());
  EXPECT_EQ(reply.payload, Fields()
                               .u32(32)
                               .u32(expected.flags)
                               .u32(expected.index)
                               .u32(0)
                               .u64(expected.size)
                               .u64(0)
                               .bytes());
}
INSTANTIATE_TEST_SUITE_P(Info, RegionInformation,
                         testing::Values(ExpectedRegion{0, 3, 4096}, ExpectedRegion{1, 0, 0},
                                         ExpectedRegion{2, 3, 2 << 20}, ExpectedRegion{3, 0, 0},
                                         ExpectedRegion{5, 0, 0}, ExpectedRegion{6, 1, 2048},
                                         ExpectedRegion{7, 3, 4096}, ExpectedRegion{8, 0, 0}),
                         [](const auto& test) { return std::to_string(test.param.index); });

struct ExpectedIrq {
  std::uint32_t index;
  std::uint32_t flags;  // 1 eventfd, 2 maskable, 4 automasked, 8 no resize
  std::uint32_t count;
};
class IrqInformation : public SessionTest, public testing::WithParamInterface<ExpectedIrq> {};

TEST_P(IrqInformation, TellsNumberAndWhatCanBeDone) {
  const auto& expected = GetParam();
  const Reply reply = client.irq_info(expected.index);
  EXPECT_THAT(reply, Succeeds());
  EXPECT_EQ(reply.payload,
            Fields().u32(16).u32(expected.flags).u32(expected.index).u32(expected.count).bytes());
}
INSTANTIATE_TEST_SUITE_P(Info, IrqInformation,
                         testing::Values(ExpectedIrq{0, 7, 1}, ExpectedIrq{1, 3, 0},
                                         ExpectedIrq{2, 3, 32}, ExpectedIrq{3, 1, 1},
                                         ExpectedIrq{4, 1, 0}),
                         [](const auto& test) { return std::to_string(test.param.index); });

TEST_F(SessionTest, HasNoPartsOfRegionsBehindDescriptors) {
  const Reply reply = client.call(kGetRegionIoFds, io_fds_request(16, 0, kBar0, 0));
  EXPECT_THAT(reply, Succeeds());
  EXPECT_EQ(reply.payload, io_fds_request(16, 0, kBar0, 0));
}

class BadInfoRequest : public SessionTest, public testing::WithParamInterface<BadRequest> {};

TEST_P(BadInfoRequest, IsRefusedAndTheSessionGoesOn) {
  const auto& request = GetParam();
  EXPECT_THAT(client.call(request.command, request.payload), FailsWithErrno(request.error));
  EXPECT_THAT(client.call(kGetInfo, info_request(16)), Succeeds());
}
INSTANTIATE_TEST_SUITE_P(
    Info, BadInfoRequest,
    testing::Values(BadRequest{"info_empty", kGetInfo, {}},
                    BadRequest{"info_short", kGetInfo, cut(info_request(16), 15)},
                    BadRequest{"info_small_argsz", kGetInfo, info_request(15)},
                    BadRequest{"region_empty", kGetRegionInfo, {}},
                    BadRequest{"region_short", kGetRegionInfo, cut(region_request(32, 0), 31)},
                    BadRequest{"region_small_argsz", kGetRegionInfo, region_request(31, 0)},
                    BadRequest{"region_zero_argsz", kGetRegionInfo, region_request(0, 0)},
                    BadRequest{"region_9", kGetRegionInfo, region_request(32, 9)},
                    BadRequest{"region_last", kGetRegionInfo, region_request(32, UINT32_MAX)},
                    BadRequest{"io_fds_short", kGetRegionIoFds,
                               cut(io_fds_request(16, 0, 0, 0), 12)},
                    BadRequest{"io_fds_small_argsz", kGetRegionIoFds, io_fds_request(8, 0, 0, 0)},
                    BadRequest{"io_fds_region_9", kGetRegionIoFds, io_fds_request(16, 0, 9, 0)},
                    BadRequest{"io_fds_flags", kGetRegionIoFds, io_fds_request(16, 1, 0, 0)},
                    BadRequest{"io_fds_count", kGetRegionIoFds, io_fds_request(16, 0, 0, 1)},
                    BadRequest{"irq_empty", kGetIrqInfo, {}},
                    BadRequest{"irq_short", kGetIrqInfo, cut(irq_request(16, 2), 12)},
                    BadRequest{"irq_small_argsz", kGetIrqInfo, irq_request(12, 2)},
                    BadRequest{"irq_5", kGetIrqInfo, irq_request(16, 5)},
                    BadRequest{"irq_last", kGetIrqInfo, irq_request(16, UINT32_MAX)}),
    name_of);

using Request = std::pair<std::uint16_t, Blob>;
class LongInfoRequest : public SessionTest, public testing::WithParamInterface<Request> {};

// Structures with an argsz may grow; what is not known yet is passed over, as with ioctl().
TEST_P(LongInfoRequest, IsAnsweredWithTheKnownPart) {
  const auto& [command, payload] = GetParam();
  const Reply shorter = client.call(command, payload);
  Blob longer = payload;
  longer.resize(payload.size() + 24, std::byte{0xff});
  const Reply reply = client.call(command, longer);
  EXPECT_THAT(reply, Succeeds());
  EXPECT_EQ(reply.payload, shorter.payload);
}
INSTANTIATE_TEST_SUITE_P(Info, LongInfoRequest,
                         testing::Values(Request{kGetInfo, info_request(40)},
                                         Request{kGetRegionInfo, region_request(56, 0)},
                                         Request{kGetRegionIoFds, io_fds_request(40, 0, 0, 0)},
                                         Request{kGetIrqInfo, irq_request(40, 2)}));

}  // namespace
}  // namespace npu::test::vfio_user
