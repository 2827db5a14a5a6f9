// SPDX-License-Identifier: Apache-2.0
// Accesses that have no translation, and tables that make no sense.
#include "mmu_bench.hpp"

namespace npu::test {
namespace {

using abi::PageTableEntry;

// A byte of `kVirtual` is accessed and fails: no memory is asked, the address is the client's.
void expect_fault(MmuBench& bench, bool is_write, Completion completion, unsigned reads) {
  const auto begin = model::sim_now();
  const auto before = bench.entries_read();
  const auto response = bench.access(is_write, 1, kVirtual + 9);
  EXPECT_EQ(response.completion, completion);
  EXPECT_EQ(response.status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(response.address, kVirtual + 9);
  EXPECT_EQ(bench.entries_read() - before, reads);
  EXPECT_EQ(response.when - begin, reads * kPerEntry);
  EXPECT_TRUE(bench.memory0.seen.empty());
  EXPECT_EQ(bench.sim.pool.in_use(), 0u);
}

// The entry of `level` is `raw` instead of one of a good table.
void expect_entry_fault(unsigned level, std::uint64_t raw, Completion completion) {
  MmuBench bench;
  bench.tables.map(1, kVirtual, kPage);
  bench.tables.set(1, kVirtual, level, raw);
  bench.enable();
  expect_fault(bench, false, completion, 4 - level);
  expect_fault(bench, false, completion, 4 - level);  // nothing of it is kept
  bench.tables.map_giant(1, kVirtual, 0);
  if (level <= 1) {
    EXPECT_EQ(bench.read(1, kVirtual).completion, Completion::kSuccess);
  }
}

TEST(MmuFault, NoContextTable) {
  MmuBench bench;
  bench.tables.map(1, kVirtual, kPage);
  bench.run(1_ps);
  expect_fault(bench, false, Completion::kNotMapped, 0);
  EXPECT_EQ(bench.mmu.statistics().not_mapped, 1u);
}
TEST(MmuFault, ContextTableBeyondMemory) {
  MmuBench bench;
  bench.enable();
  bench.write(abi::MmuContextBase::from_raw(kInstalled));
  expect_fault(bench, false, Completion::kBadTable, 0);
}
TEST(MmuFault, ContextEntryInvalid) {
  MmuBench bench;
  bench.enable();
  expect_fault(bench, true, Completion::kNotMapped, 1);
}
TEST(MmuFault, RootTableBeyondMemory) {
  MmuBench bench;
  bench.tables.set_context(1, abi::ContextEntry::root(kInstalled).raw);
  bench.enable();
  expect_fault(bench, false, Completion::kBadTable, 1);
}
TEST(MmuFault, EntryInvalidAtEachLevel) {
  MmuBench bench;
  bench.enable();
  bench.tables.set(1, kVirtual, 2, 0);
  expect_fault(bench, false, Completion::kNotMapped, 2);
  bench.tables.set(1, kVirtual, 1, 0);
  expect_fault(bench, false, Completion::kNotMapped, 3);
  bench.tables.set(1, kVirtual, 0, ~PageTableEntry::Valid::kMask);
  expect_fault(bench, false, Completion::kNotMapped, 4);
  bench.tables.map(1, kVirtual, kPage);
  EXPECT_EQ(bench.read(1, kVirtual).completion, Completion::kSuccess);
}
TEST(MmuFault, LeafAtTheTopLevel) {
  expect_entry_fault(2, PageTableEntry::page(0, true, true).raw, Completion::kBadTable);
}
TEST(MmuFault, TableAtTheLowestLevel) {
  expect_entry_fault(0, PageTableEntry::table(kTables).raw, Completion::kBadTable);
}
TEST(MmuFault, TableBeyondMemory) {
  expect_entry_fault(1, PageTableEntry::table(kInstalled).raw, Completion::kBadTable);
}
TEST(MmuFault, PageBeyondMemory) {
  expect_entry_fault(0, PageTableEntry::page(kInstalled, true, true).raw, Completion::kBadTable);
}
TEST(MmuFault, PageNotAlignedToItsSize) {
  expect_entry_fault(0, PageTableEntry::page(kPage + 4096, true, true).raw, Completion::kBadTable);
}
TEST(MmuFault, GiantPageNotAlignedToItsSize) {
  expect_entry_fault(1, PageTableEntry::page(kGiant + kPage, true, true).raw,
                     Completion::kBadTable);
}
TEST(MmuFault, GiantPageHalfBeyondMemory) {
  expect_entry_fault(1, PageTableEntry::page(2 * kGiant, true, true).raw, Completion::kBadTable);
}

TEST(MmuFault, BitsForSoftwareAreIgnored) {
  MmuBench bench;
  bench.tables.map(1, kVirtual, kPage);
  const auto page = PageTableEntry::page(kPage, true, true).raw;
  bench.tables.set(1, kVirtual, 0, page | 0xDDFFULL << 48);  // all but Host and Peer
  bench.enable();
  ASSERT_EQ(bench.read(1, kVirtual + 1).completion, Completion::kSuccess);
  EXPECT_EQ(bench.last_address(), kPage + 1);
}

// The bench's card has no links. Its own memory at that address is not meant.
TEST(MmuFault, APeersPageWithoutLinks) {
  MmuBench bench;
  bench.tables.map(1, kVirtual, kPage);
  const auto target = PageTableEntry::peer_target(3, kPage);
  bench.tables.set(1, kVirtual, 0, PageTableEntry::page(target, true, true).raw);
  bench.enable();
  EXPECT_EQ(bench.access(true, 1, kVirtual).completion, Completion::kNoPeer);
  EXPECT_EQ(bench.read(1, kVirtual).completion, Completion::kNoPeer);
  EXPECT_TRUE(bench.memory(0).seen.empty());
}

// Only the peer knows how much memory it has; a giant page of it may reach beyond this card's.
TEST(MmuFault, APeersPageMayLieBeyondTheOwnMemory) {
  MmuBench bench;
  bench.tables.map(1, kVirtual, kPage);
  const auto target = PageTableEntry::peer_target(3, align_down(4 * kInstalled, kPage));
  bench.tables.set(1, kVirtual, 0, PageTableEntry::page(target, true, false).raw);
  bench.enable();
  EXPECT_EQ(bench.read(1, kVirtual).completion, Completion::kNoPeer);
  EXPECT_EQ(bench.access(true, 1, kVirtual).completion, Completion::kForbidden);
}

TEST(MmuFault, AccessWithoutTheRight) {
  MmuBench bench;
  bench.tables.map(1, kVirtual, kPage, true, false);
  bench.enable();
  expect_fault(bench, true, Completion::kForbidden, 4);
  expect_fault(bench, true, Completion::kForbidden, 0);  // the entry is valid and kept
  EXPECT_EQ(bench.read(1, kVirtual).completion, Completion::kSuccess);
  EXPECT_EQ(bench.access(true, 1, kVirtual).completion, Completion::kForbidden);
  EXPECT_EQ(bench.mmu.statistics().forbidden, 3u);
}
TEST(MmuFault, WriteOnlyPageCannotBeRead) {
  MmuBench bench;
  bench.tables.map_giant(1, kVirtual, kGiant, false, true);
  bench.enable();
  expect_fault(bench, false, Completion::kForbidden, 3);
  EXPECT_EQ(bench.access(true, 1, kVirtual).completion, Completion::kSuccess);
}
TEST(MmuFault, AddressBeyondFortyEightBits) {
  MmuBench bench;
  bench.tables.map(1, 0, kPage);
  bench.enable();
  const auto response = bench.read(1, 1ULL << 48);
  EXPECT_EQ(response.completion, Completion::kNotMapped);
  EXPECT_EQ(response.address, 1ULL << 48);
  EXPECT_EQ(bench.read(20, 0).completion, Completion::kNotMapped) << "no such address space";
  EXPECT_EQ(bench.entries_read(), 0u);
}
TEST(MmuFault, UnreadableTableIsABadOne) {
  MmuBench bench;
  bench.tables.map(1, kVirtual, kPage);
  bench.walked.verdict = [](tlm::tlm_generic_payload&) { return Completion::kUnsupportedRequest; };
  bench.enable();
  expect_fault(bench, false, Completion::kBadTable, 1);
  EXPECT_EQ(bench.mmu.statistics().faults(), 1u);
}

}  // namespace
}  // namespace npu::test
