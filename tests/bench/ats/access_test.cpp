// SPDX-License-Identifier: Apache-2.0
// Reads and writes of the host's pages: the pieces in which they go over the link.
#include <array>
#include <numeric>

#include "tests/bench/ats/ats_bench.hpp"

namespace npu::test {
namespace {

struct Access : AtsBench {
  Access() {
    auto& page = host.pages[kVirtual];
    page.write = true;
    for (std::size_t i = 0; i < page.bytes.size(); ++i) page.bytes[i] = std::byte(i * 7 >> 3);
    store(kVirtual + kPage - 1);  // translated for writes from now on
    host.pieces.clear();
  }
};

using HostAccess = OnBench<Access>;

TEST_F(HostAccess, GoesInPiecesThatStayInAPageOf4KiB) {
  std::array<unsigned char, 10'000> data{};
  const auto id = bench.issue_rows(false, kVirtual + 1000, 1, data.size(), 0, data.data());
  bench.run(10_us);
  EXPECT_EQ(bench.response(id).completion, Completion::kSuccess);
  ASSERT_EQ(bench.host.pieces.size(), 3U);
  EXPECT_EQ(bench.host.pieces[0].length, 3096U);
  EXPECT_EQ(bench.host.pieces[1].length, 4096U);
  EXPECT_EQ(bench.host.pieces[2].length, 2808U);
  EXPECT_EQ(std::memcmp(data.data(), bench.host.pages[kVirtual].bytes.data() + 1000, data.size()),
            0);
}

TEST_F(HostAccess, OfRowsIsAPieceForEach) {
  std::array<unsigned char, 4 * 300> data{};
  bench.issue_rows(false, kVirtual + 4000, 4, 300, 5000, data.data());
  bench.run(10_us);
  std::vector<std::uint64_t> offsets;
  for (const auto& piece : bench.host.pieces) offsets.push_back(piece.address - kVirtual);
  EXPECT_EQ(offsets, (std::vector<std::uint64_t>{4000, 4096, 9000, 14000, 19000}));
  for (unsigned row = 0; row < 4; ++row) {
    const auto* const there = bench.host.pages[kVirtual].bytes.data() + 4000 + row * 5000;
    EXPECT_EQ(std::memcmp(data.data() + row * 300, there, 300), 0) << row;
  }
}

TEST_F(HostAccess, ReadsOfAllTogetherAreBounded) {
  std::vector<unsigned char> data(81'920);
  const auto first = bench.issue_rows(false, kVirtual, 1, 40'960, 0, data.data());
  const auto second =
      bench.issue_rows(false, kVirtual + 65'536, 1, 40'960, 0, data.data() + 40'960);
  bench.run(30_us);
  EXPECT_EQ(bench.host.pieces.size(), 20U);
  EXPECT_EQ(bench.host.most_reads, 3U);
  // Seven turns of three pieces, the last of two.
  EXPECT_EQ(bench.response(second).when - bench.response(first).when, 3 * HostSide::kRead);
}

TEST_F(HostAccess, WritesFollowEachOtherAsTheLinkTakesThem) {
  std::vector<unsigned char> data(3 * 4096);
  std::iota(data.begin(), data.end(), static_cast<unsigned char>(3));
  const auto begin = model::sim_now();
  const auto id = bench.issue_rows(true, kVirtual + 8192, 3, 4096, 4096, data.data());
  bench.run(10_us);
  ASSERT_EQ(bench.host.pieces.size(), 3U);
  EXPECT_EQ(bench.host.pieces[2].when - begin, 2 * HostSide::kWrite);
  EXPECT_EQ(bench.response(id).when - begin, 3 * HostSide::kWrite) << "the last byte has left";
  EXPECT_EQ(std::memcmp(data.data(), bench.host.pages[kVirtual].bytes.data() + 8192, data.size()),
            0);
}

TEST_F(HostAccess, ThatFailsAsksForNothingMore) {
  bench.host.reads_end_with = Completion::kTimeout;
  std::vector<unsigned char> data(40'960);
  const auto id = bench.issue_rows(false, kVirtual, 1, 40'960, 0, data.data());
  bench.run(30_us);
  EXPECT_EQ(bench.response(id).completion, Completion::kTimeout);
  EXPECT_EQ(bench.host.pieces.size(), 3U);
  bench.host.reads_end_with = Completion::kSuccess;
  EXPECT_EQ(bench.read(kVirtual).completion, Completion::kSuccess);
}

TEST_F(HostAccess, OfAFunctionThatMayNotWriteEndsWithAnError) {
  bench.host.bus_master = false;
  EXPECT_EQ(bench.store(kVirtual).completion, Completion::kCompleterAbort);
  bench.host.bus_master = true;
  EXPECT_EQ(bench.store(kVirtual).completion, Completion::kSuccess);
}

TEST_F(HostAccess, WithoutTimeMovesTheHostsBytes) {
  std::array<unsigned char, 64> data{};
  EXPECT_EQ(bench.mmu.memory().read(kShared, kVirtual + 100, data.data(), data.size()),
            Completion::kSuccess);
  EXPECT_EQ(std::memcmp(data.data(), bench.host.pages[kVirtual].bytes.data() + 100, 64), 0);
  data.fill(0xEE);
  EXPECT_EQ(
      bench.mmu.memory().write(model::Writer::kAiCore, kShared, kVirtual + 200, data.data(), 64),
      Completion::kSuccess);
  EXPECT_EQ(bench.host.pages[kVirtual].bytes[263], std::byte{0xEE});
  EXPECT_EQ(bench.host.told, 64U) << "who waits on the host learns of it";
  EXPECT_EQ(bench.mmu.memory().read(kShared, kVirtual + kPage, data.data(), 8),
            Completion::kNotMapped);
  EXPECT_FALSE(bench.mmu.memory().local(kShared, kVirtual).has_value());
  EXPECT_TRUE(bench.mmu.memory().reaches(kShared, kVirtual, kPage, true));
  EXPECT_FALSE(bench.mmu.memory().reaches(kShared, kVirtual, kPage + 1, false));
}

}  // namespace
}  // namespace npu::test
