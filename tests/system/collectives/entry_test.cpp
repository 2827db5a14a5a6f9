// SPDX-License-Identifier: Apache-2.0
// Copies that reduce, and signals in device memory, one entry at a time.
#include <cmath>
#include <limits>

#include "npu/driver/queue_entries.hpp"
#include "tests/system/collectives/collective_bench.hpp"

namespace npu::test {
namespace {

using abi::ElementType;
using abi::ReduceOperation;

// The second half of rank 0's memory after a reduction with the first half.
template <class T>
std::vector<T> reduced(CollectiveBench& bench, ElementType type, ReduceOperation operation,
                       const std::vector<T>& into, const std::vector<T>& with) {
  auto& rank = bench.ranks[0];
  bench.write(rank.from, 0, with);
  bench.write(rank.to, 0, into);
  const auto entry =
      driver::entries::reduce(false, rank.from, rank.to, with.size() * sizeof(T), type, operation);
  EXPECT_TRUE(rank.copies->run(&entry, 1));
  return bench.read<T>(rank.to, 0, into.size());
}

TEST(CollectiveEntry, IntegersWrapAndAreCompared) {
  Machine({}, kPair).on<CollectiveBench>(1U, [](CollectiveBench& bench) {
    const std::vector<std::int8_t> a{100, -100, 7, -128}, b{100, -100, -7, 127};
    using Bytes8 = std::vector<std::int8_t>;
    EXPECT_EQ(reduced(bench, ElementType::kInt8, ReduceOperation::kSum, a, b),
              (Bytes8{-56, 56, 0, -1}));
    EXPECT_EQ(reduced(bench, ElementType::kInt8, ReduceOperation::kMax, a, b),
              (Bytes8{100, -100, 7, 127}));
    EXPECT_EQ(reduced(bench, ElementType::kInt8, ReduceOperation::kMin, a, b),
              (Bytes8{100, -100, -7, -128}));
    const std::vector<std::int32_t> large{2'000'000'000, -5}, more{2'000'000'000, 6};
    EXPECT_EQ(reduced(bench, ElementType::kInt32, ReduceOperation::kSum, large, more),
              (std::vector<std::int32_t>{-294'967'296, 1}));
  });
}

// fp16: 0x3C00 is 1, 0x1000 is 2^-11: half of the distance of neighbours there, which is to even.
// bf16: 0x3F80 is 1, 0x3B80 is 2^-8: the same.
TEST(CollectiveEntry, HalvesAreRoundedToNearestEven) {
  Machine({}, kPair).on<CollectiveBench>(1U, [](CollectiveBench& bench) {
    using Halves = std::vector<std::uint16_t>;
    EXPECT_EQ(reduced(bench, ElementType::kFp16, ReduceOperation::kSum, Halves{0x3C00, 0x3C01},
                      Halves{0x1000, 0x1000}),
              (Halves{0x3C00, 0x3C02}));
    EXPECT_EQ(reduced(bench, ElementType::kBf16, ReduceOperation::kSum, Halves{0x3F80, 0x3F81},
                      Halves{0x3B80, 0x3B80}),
              (Halves{0x3F80, 0x3F82}));
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const auto kept = reduced(bench, ElementType::kFp32, ReduceOperation::kMax,
                              std::vector<float>{nan, 1, -2}, std::vector<float>{3, nan, -1});
    EXPECT_TRUE(std::isnan(kept[0]) && std::isnan(kept[1]));
    EXPECT_EQ(kept[2], -1);
  });
}

// Many engines reduce into the same bytes at the same time: none of the sums is lost.
TEST(CollectiveEntry, ReductionsAtTheSameTimeAllCount) {
  Machine({}, kPair).on<CollectiveBench>(1U, [](CollectiveBench& bench) {
    auto& rank = bench.ranks[0];
    constexpr std::size_t kCount = 16'384;
    bench.write(rank.from, 0, std::vector<std::int32_t>(kCount, 1));
    bench.write(rank.to, 0, std::vector<std::int32_t>(kCount, 0));
    const auto entry = driver::entries::reduce(false, rank.from, rank.to, 4 * kCount,
                                               ElementType::kInt32, ReduceOperation::kSum);
    std::vector<std::unique_ptr<driver::ExecutionStream>> streams(6);
    for (auto& stream : streams) {
      stream = must(driver::ExecutionStream::open(*rank.process, *rank.arguments));
    }
    for (auto& stream : streams) must(stream->submit(&entry, 1));
    for (auto& stream : streams) EXPECT_TRUE(stream->wait(bench.host.clock().now() + 1_s));
    EXPECT_EQ(bench.read<std::int32_t>(rank.to, 0, kCount), std::vector<std::int32_t>(kCount, 6));
  });
}

TEST(CollectiveEntry, ASignalInMemoryHoldsAQueueUpUntilItIsWritten) {
  Machine({}, kPair).on<CollectiveBench>(1U, [](CollectiveBench& bench) {
    auto& rank = bench.ranks[0];
    bench.write(rank.from, 0, std::vector<std::uint64_t>{0, 5});
    const auto other = must(driver::ExecutionStream::open(*rank.process, *rank.arguments));
    const auto wait = driver::entries::wait_memory(rank.from, 5, 1'000_ms);
    must(rank.stream->submit(&wait, 1));
    bench.host.clock().sleep_until(bench.host.clock().now() + 50_us);
    EXPECT_FALSE(must(rank.stream->query()).done);
    // A copy writes it as well as a record.
    const auto copy = driver::entries::copy_on_device(rank.from + 8, rank.from, 8);
    must(other->submit(&copy, 1));
    EXPECT_TRUE(rank.stream->wait(bench.host.clock().now() + 100_us));
    const auto again = driver::entries::wait_memory(rank.from, 9, 1'000_ms);
    must(rank.stream->submit(&again, 1));
    const auto record = driver::entries::record_memory(rank.from, 10);
    must(other->submit(&record, 1));
    EXPECT_TRUE(rank.stream->wait(bench.host.clock().now() + 100_us));
  });
}

TEST(CollectiveEntry, AWaitThatTakesTooLongIsAFault) {
  Machine({}, kPair).on<CollectiveBench>(1U, [](CollectiveBench& bench) {
    auto& rank = bench.ranks[0];
    bench.write(rank.from, 0, std::vector<std::uint64_t>{0});
    const auto begin = bench.host.clock().now();
    const auto wait = driver::entries::wait_memory(rank.from, 1, 300_us);
    must(rank.stream->submit(&wait, 1));
    const auto ended = rank.stream->wait(begin + 1_s);
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().code, ErrorCode::kDeviceFault);
    EXPECT_NE(ended.error().context.find("no signal from a peer in time"), std::string::npos)
        << ended.error().context;
    EXPECT_LT(bench.host.clock().now() - begin, Picoseconds(400_us));
  });
}

}  // namespace
}  // namespace npu::test
