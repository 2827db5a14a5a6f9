// SPDX-License-Identifier: Apache-2.0
// Pages of tables that are the host's (abi/page_table.hpp: Host): requests at bus addresses, which
// the IOMMU translates, from any space.
#include <array>
#include <numeric>

#include "tests/bench/ats/ats_bench.hpp"

namespace npu::test {
namespace {

constexpr std::uint64_t kBus = 0x7F'FFE0'0000;

struct Mapped : AtsBench {
  Mapped() {
    auto& page = host.pages[kBus];
    page.write = true;
    for (std::size_t i = 0; i < page.bytes.size(); ++i) page.bytes[i] = std::byte(i * 7 >> 3);
    map(true);
  }
  void map(bool may_write) {
    tables.map(kShared, kVirtual, abi::PageTableEntry::host_target(kBus), true, may_write);
  }
  // Bytes of the page.
  bool has(const void* data, std::size_t offset, std::size_t size) {
    return std::memcmp(data, host.pages[kBus].bytes.data() + offset, size) == 0;
  }
  Completion read_now(std::uint64_t address, void* data, Bytes size) {
    return mmu.memory().read(kShared, address, data, size);
  }
};

using BusPage = OnBench<Mapped>;

TEST_F(BusPage, IsReadAtItsBusAddressWithoutATranslationOfAts) {
  std::array<unsigned char, 6000> data{};
  const auto id = bench.issue_rows(false, kVirtual + 1000, 1, data.size(), 0, data.data());
  bench.run(10_us);
  EXPECT_EQ(bench.response(id).completion, Completion::kSuccess);
  EXPECT_EQ(bench.response(id).address, kVirtual + 1000);
  EXPECT_TRUE(bench.has(data.data(), 1000, data.size()));
  ASSERT_EQ(bench.host.pieces.size(), 2U);
  for (const auto& piece : bench.host.pieces) {
    EXPECT_FALSE(piece.translated);
    EXPECT_EQ(piece.pasid, 0U);
  }
  EXPECT_EQ(bench.host.pieces[0].address, kBus + 1000);
  EXPECT_EQ(bench.host.pieces[1].address, kBus + 4096);
  EXPECT_TRUE(bench.host.translations.empty());
}

TEST_F(BusPage, IsForSpacesWithoutAProcessToo) {
  bench.share(false);
  EXPECT_EQ(bench.read(kVirtual + 5).completion, Completion::kSuccess);
  EXPECT_EQ(bench.host.pieces.size(), 1U);
  EXPECT_EQ(bench.read(kVirtual + kPage).completion, Completion::kNotMapped);
}

TEST_F(BusPage, IsWrittenByPostedWrites) {
  std::vector<unsigned char> data(3 * 4096);
  std::iota(data.begin(), data.end(), static_cast<unsigned char>(3));
  const auto id = bench.issue_rows(true, kVirtual + 8192, 3, 4096, 4096, data.data());
  bench.run(10_us);
  EXPECT_EQ(bench.response(id).completion, Completion::kSuccess);
  EXPECT_EQ(bench.host.pieces.size(), 3U);
  EXPECT_TRUE(bench.has(data.data(), 8192, data.size()));
}

TEST_F(BusPage, HasTheRightsOfItsEntry) {
  bench.map(false);
  EXPECT_EQ(bench.read(kVirtual).completion, Completion::kSuccess);
  EXPECT_EQ(bench.store(kVirtual).completion, Completion::kForbidden);
  const unsigned char byte = 1;
  EXPECT_EQ(bench.mmu.memory().write(model::Writer::kAiCore, kShared, kVirtual, &byte, 1),
            Completion::kForbidden);
}

// PCI Express has no such writes.
TEST_F(BusPage, ReducesNothing) {
  std::array<unsigned char, 64> data{};
  const auto id =
      bench.issue_rows(true, kVirtual, 1, data.size(), 0, data.data(), abi::ReduceOperation::kSum);
  bench.run(10_us);
  EXPECT_EQ(bench.response(id).completion, Completion::kUnsupportedRequest);
  EXPECT_TRUE(bench.host.pieces.empty());
}

TEST_F(BusPage, TellsOfReadsThatFailed) {
  bench.host.reads_end_with = Completion::kUnsupportedRequest;
  EXPECT_EQ(bench.read(kVirtual).completion, Completion::kUnsupportedRequest);
}

TEST_F(BusPage, IsKeptInTheTlbUntilItIsInvalidated) {
  bench.read(kVirtual);
  const auto walked = bench.entries_read();
  bench.tables.map(kShared, kVirtual, 6 * kPage);
  bench.read(kVirtual);
  EXPECT_EQ(bench.entries_read(), walked);
  EXPECT_EQ(bench.host.pieces.size(), 2U);
  // A read is in flight: the invalidation ends behind it.
  const auto id = bench.issue(false, kShared, kVirtual);
  const auto begin = model::sim_now();
  bench.invalidate(abi::MmuInvalidate::kRange, kShared, kVirtual, kPage);
  while (bench.invalidating()) bench.run(1_ns);
  EXPECT_GE(model::sim_now() - begin, HostSide::kRead);
  EXPECT_TRUE(bench.answered(id));
  bench.read(kVirtual);
  EXPECT_EQ(bench.host.pieces.size(), 3U);
}

TEST_F(BusPage, IsThereWithoutTime) {
  std::array<unsigned char, 300> data{};
  EXPECT_EQ(bench.read_now(kVirtual + 77, data.data(), data.size()), Completion::kSuccess);
  EXPECT_TRUE(bench.has(data.data(), 77, data.size()));
  std::array<unsigned char, 4 * 20> rows{};
  EXPECT_EQ(bench.mmu.memory().read_rows(kShared, kVirtual + 100, 4, 20, 5000, rows.data()),
            Completion::kSuccess);
  for (unsigned row = 0; row < 4; ++row) {
    EXPECT_TRUE(bench.has(rows.data() + row * 20, 100 + row * 5000, 20)) << row;
  }
  EXPECT_TRUE(bench.mmu.memory().reaches(kShared, kVirtual, kPage, true));
  EXPECT_FALSE(bench.mmu.memory().reaches(kShared, kVirtual + kPage, 1, false));
  EXPECT_EQ(bench.mmu.memory().local(kShared, kVirtual), std::nullopt);
  EXPECT_EQ(bench.mmu.memory().bus(kShared, kVirtual + 9), kBus + 9);
  EXPECT_EQ(bench.mmu.memory().bus(kShared, kVirtual + kPage), std::nullopt);
  data.fill(9);
  EXPECT_EQ(bench.mmu.memory().write(model::Writer::kAiCore, kShared, kVirtual + 4000, data.data(),
                                     data.size()),
            Completion::kSuccess);
  EXPECT_TRUE(bench.has(data.data(), 4000, data.size()));
  EXPECT_EQ(bench.host.told, data.size());
  bench.host.pages.clear();  // the IOMMU maps it no more
  EXPECT_EQ(bench.read_now(kVirtual, data.data(), 1), Completion::kNotMapped);
}

TEST_F(BusPage, OfAFunctionThatIsResetAnswersNothing) {
  const auto id = bench.issue(false, kShared, kVirtual);
  bench.run(100_ns);
  bench.pages.function_reset(0);
  bench.mmu.function_reset(0);
  bench.run(10_us);
  EXPECT_EQ(bench.response(id).completion, Completion::kCompleterAbort);
}

}  // namespace
}  // namespace npu::test
