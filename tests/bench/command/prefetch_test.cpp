// SPDX-License-Identifier: Apache-2.0
// Prefetches: a DMA engine reads through the L2, and nothing comes of the data.
#include <algorithm>

#include "command_bench.hpp"

namespace npu::test {
namespace {

constexpr std::uint16_t kGoOn = abi::kEntryCompletion | abi::kEntryContinueOnError;

QueueEntry prefetch(std::uint32_t tag, std::uint64_t address, Bytes size,
                    std::uint64_t destination = 0) {
  return entry_of(QueueOpcode::kPrefetch, tag, abi::CopyPayload{address, destination, size}, kGoOn);
}

// What has been asked of the L2.
std::vector<PortRequest> asked(const CommandBench& bench) {
  std::vector<PortRequest> found;
  std::copy_if(bench.device.seen.begin(), bench.device.seen.end(), std::back_inserter(found),
               [](const PortRequest& request) { return request.port == kPrefetchPort; });
  return found;
}

TEST(CommandPrefetch, ReadsEachByteOnceThroughTheL2) {
  CommandBench bench;
  auto queue = bench.make({1, 6, false});
  const Bytes offset = kData + 100, size = 70'000;
  bench.device.keep_record = true;
  bench.push(queue, prefetch(1, kVirtual + offset, size));
  bench.ring(queue);
  bench.run(50_us);
  const auto entry = bench.completion(queue);
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->status, 0U);
  Bytes at = CommandBench::partition(1, offset);
  for (const auto& request : asked(bench)) {
    EXPECT_FALSE(request.write);
    EXPECT_EQ(request.address, at);
    at += request.length;
  }
  EXPECT_EQ(at, CommandBench::partition(1, offset + size));
  for (const auto& request : bench.device.seen) EXPECT_NE(request.port, kDmaPort);
}

TEST(CommandPrefetch, IsDoneWhenTheLastLineIsThere) {
  CommandBench bench;
  auto queue = bench.make();
  bench.push(queue, prefetch(1, kVirtual + kData, 64));  // the tables of pages
  bench.ring(queue);
  bench.run(50_us);
  EXPECT_TRUE(bench.completion(queue));
  bench.device.latency = 40'000'000;  // 40 us
  bench.push(queue, prefetch(2, kVirtual + kData, 4_KiB));
  bench.ring(queue);
  bench.run(39_us);
  EXPECT_FALSE(bench.completion(queue));
  bench.run(10_us);
  EXPECT_TRUE(bench.completion(queue));
}

TEST(CommandPrefetch, SaysWhichAddressIsNotThere) {
  CommandBench bench;
  auto queue = bench.make();
  bench.push(queue, prefetch(1, 0x7000'0000'0000, 4_KiB));
  bench.ring(queue);
  bench.run(50_us);
  const auto entry = bench.completion(queue);
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->status, static_cast<unsigned>(abi::FaultCode::kTranslation));
}

TEST(CommandPrefetch, HasNoDestinationAndASize) {
  CommandBench bench;
  for (const auto& wrong :
       {prefetch(1, kVirtual + kData, 64, kVirtual), prefetch(1, kVirtual, 0)}) {
    auto queue = bench.make();
    bench.push(queue, wrong);
    bench.ring(queue);
    bench.run(50_us);
    const auto entry = bench.completion(queue);
    ASSERT_TRUE(entry);
    EXPECT_EQ(entry->status, static_cast<unsigned>(abi::FaultCode::kMalformedEntry));
  }
}

}  // namespace
}  // namespace npu::test
