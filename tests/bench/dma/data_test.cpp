// SPDX-License-Identifier: Apache-2.0
// Bytes: all directions, odd sizes and offsets, page borders; and what is asked of the memories.
#include "dma_bench.hpp"

namespace npu::test {
namespace {

using testing::Test;

struct Shape {
  std::uint64_t source, destination, size;
};
// Odd offsets, less than a chunk, over page borders, over the wrap of a 64 KiB buffer.
const Shape kShapes[] = {{0x10000, 0x20000, 64},      {0x10001, 0x20003, 1},
                         {0x10fff, 0x20ffe, 3},       {0x10004, 0x21ff8, 4096},
                         {0x12345, 0x23456, 10'007},  {0x10000, 0x80000, 65'536},
                         {0x10203, 0x80405, 200'003}, {0x10200, 0x80000, 131'073}};

void copies_exactly(DmaOpcode opcode) {
  DmaBench bench;
  bench.enable();
  auto& source = opcode == kH2d ? bench.host.bytes : bench.hbm.bytes;
  auto& target = opcode == kD2h ? bench.host.bytes : bench.hbm.bytes;
  std::uint32_t count = 0;
  for (const auto& shape : kShapes) {
    const std::uint64_t destination = shape.destination + 0x100'0000;
    bench.fill_random(source, shape.source, shape.size);
    target[destination - 1] = 0xA5;
    target[destination + shape.size] = 0x5A;
    bench.submit(make_entry(opcode, shape.source, destination, shape.size, 1, 7));
    bench.run(1_ms);
    EXPECT_EQ(bench.event(7).raw, ++count) << "no fault, one completion each";
    EXPECT_EQ(0, std::memcmp(&source[shape.source], &target[destination], shape.size))
        << shape.size;
    EXPECT_EQ(target[destination - 1], 0xA5);
    EXPECT_EQ(target[destination + shape.size], 0x5A);
  }
  EXPECT_EQ(bench.sim.pool.in_use(), 0u);
}

TEST(DmaData, HostToDeviceCopiesEveryByteAndNoOther) {
  copies_exactly(kH2d);
}
TEST(DmaData, DeviceToHostCopiesEveryByteAndNoOther) {
  copies_exactly(kD2h);
}
TEST(DmaData, DeviceToDeviceCopiesEveryByteAndNoOther) {
  copies_exactly(kD2d);
}

TEST(DmaData, ReadsOverTheLinkAreAlignedToTheRequestSizeAndBounded) {
  DmaBench bench;
  bench.enable();
  bench.submit(make_entry(kH2d, 0x10F40, 0x1000, 1_MiB));
  bench.run(5_ms);
  Bytes total = 0;
  for (const auto& read : bench.host.requests(tlm::TLM_READ_COMMAND)) {
    EXPECT_EQ(read.address / 512, (read.address + read.length - 1) / 512);
    total += read.length;
  }
  EXPECT_EQ(total, 1_MiB);
  EXPECT_EQ(bench.host.most_outstanding, 8u) << "as many as configured, not one more";
}

TEST(DmaData, EachEngineHasItsOwnBoundOfOutstandingReads) {
  DmaBench bench;
  bench.enable();
  for (unsigned stream = 0; stream < 4; ++stream) {
    bench.push(make_entry(kH2d, 0x10000, stream * 1_MiB, 1_MiB, stream));
  }
  bench.ring_doorbell();
  bench.run(5_ms);
  EXPECT_EQ(bench.host.most_outstanding, 32u);
}

TEST(DmaData, ReadsIntoDeviceMemoryAreMergedIntoAlignedChunks) {
  DmaBench bench;
  bench.enable();
  bench.submit(make_entry(kH2d, 0x10000, 0x1000, 64_KiB));
  bench.run(1_ms);
  const auto writes = bench.hbm.requests(tlm::TLM_WRITE_COMMAND);
  ASSERT_EQ(writes.size(), 64u) << "two reads of 512 B in each chunk of 1 KiB";
  for (const auto& write : writes) EXPECT_EQ(write.address % 1_KiB, 0u);
}

TEST(DmaData, PostedWritesStayInTheirPage) {
  DmaBench bench;
  bench.enable();
  bench.submit(make_entry(kD2h, 0x1000, 0x10F40, 20'000));
  bench.run(1_ms);
  const auto writes = bench.host.requests(tlm::TLM_WRITE_COMMAND);
  ASSERT_EQ(writes.size(), 6u) << "0xC0 bytes, four pages, 3424 bytes";
  for (const auto& write : writes) {
    EXPECT_TRUE(write.posted);
    EXPECT_EQ(write.address / 4096, (write.address + write.length - 1) / 4096);
  }
}

TEST(DmaData, DeviceToHostRunsAtTheRateOfTheTransmitter) {
  DmaBench bench;
  bench.host.taken_after = 150'000;  // per page
  bench.enable();
  bench.submit(make_entry(kD2h, 0, 0x100000, 1_MiB, 0, 1));
  bench.run(1_ms);
  ASSERT_EQ(bench.event(1).count(), 1u);
  const auto writes = bench.host.requests(tlm::TLM_WRITE_COMMAND);
  ASSERT_EQ(writes.size(), 257u) << "256 pages and the event record";
  const SimTime record = writes.back().when;
  const SimTime first = writes.front().when;
  EXPECT_EQ(record - first, 256 * 150'000u + 25'000u) << "all taken, then completion processing";
  for (std::size_t i = 1; i < 256; ++i) {
    const SimTime start = first + (i + 1 - std::min<std::size_t>(i + 1, 1)) * 150'000;
    EXPECT_LE(writes[i].when, start) << "the transmitter never waits";
  }
}

TEST(DmaData, PostedBytesNotYetTakenAreBounded) {
  DmaBench bench;
  bench.host.taken_after = 1'000'000;
  bench.enable();
  bench.submit(make_entry(kD2h, 0, 0x100000, 1_MiB));
  bench.run(20_us);
  // 8 reads of 512 B may be outstanding, hence as many bytes posted: one page. 20 pages are taken.
  const auto writes = bench.host.requests(tlm::TLM_WRITE_COMMAND);
  EXPECT_GE(writes.size(), 19u);
  EXPECT_LE(writes.size(), 21u);
}

TEST(DmaData, DeviceToDeviceTakesTurnsOfABufferEach) {
  DmaBench bench;
  bench.enable();
  bench.submit(make_entry(kD2d, 0, 16_MiB, 1_MiB));
  bench.run(1_ms);
  unsigned turns = 0;
  auto last = tlm::TLM_WRITE_COMMAND;
  for (const auto& request : bench.hbm.seen) {
    if (request.address >= kRing) continue;
    if (request.command != last) ++turns;
    last = request.command;
  }
  EXPECT_EQ(turns, 32u) << "16 buffers of 64 KiB, each read and written";
  EXPECT_LE(bench.hbm.most_outstanding, 64u + 4u);
}

}  // namespace
}  // namespace npu::test
