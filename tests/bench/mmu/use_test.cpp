// SPDX-License-Identifier: Apache-2.0
// Tables that tell of use: Young and Dirty of a leaf, where page faults of the space are served.
#include <random>

#include "fault_bench.hpp"

namespace npu::test {
namespace {

using abi::PageTableEntry;

class UseBench : public PageFaultBench {
 public:
  UseBench() { tables.map(kVmid, kVirtual, kPage); }
  PageTableEntry leaf() {
    PageTableEntry entry;
    std::memcpy(&entry.raw, walked.bytes.data() + tables.entry(kVmid, kVirtual, 0),
                sizeof entry.raw);
    return entry;
  }
  void clear() { tables.map(kVmid, kVirtual, kPage); }
  void drop() {
    invalidate(abi::MmuInvalidate::kRange, kVmid, kVirtual, kPage);
    run(10_us);
  }
  // Entries that were read and written for a request, and its time beyond the memory's.
  void expect(bool is_write, unsigned reads, unsigned writes) {
    const auto before = walked.seen.size();
    const auto begin = model::sim_now();
    const auto answer = access(is_write, kVmid, kVirtual + 8);
    EXPECT_EQ(answer.completion, Completion::kSuccess);
    unsigned written = 0;
    for (auto i = before; i < walked.seen.size(); ++i) {
      if (walked.seen[i].command == tlm::TLM_WRITE_COMMAND) ++written;
    }
    EXPECT_EQ(written, writes);
    EXPECT_EQ(walked.seen.size() - before, reads + writes);
    EXPECT_EQ(answer.when - begin, reads * kPerEntry + writes * kWalkLatency + kMemoryLatency);
  }
};

TEST(MmuUse, AReadMakesAPageYoungAndAWriteDirty) {
  UseBench bench;
  bench.expect(false, 4, 1);
  EXPECT_TRUE(bench.leaf().young());
  EXPECT_FALSE(bench.leaf().dirty());
  bench.expect(false, 0, 0);
  bench.expect(true, 4, 1);
  EXPECT_TRUE(bench.leaf().dirty());
  bench.expect(true, 0, 0);
  bench.expect(false, 0, 0);
}

TEST(MmuUse, AWriteFirstSaysBothAtOnce) {
  UseBench bench;
  bench.expect(true, 4, 1);
  EXPECT_TRUE(bench.leaf().young());
  EXPECT_TRUE(bench.leaf().dirty());
  bench.expect(false, 0, 0);
}

TEST(MmuUse, WhatIsClearedShowsAgainWhenTheTranslationIsDropped) {
  UseBench bench;
  bench.expect(true, 4, 1);
  bench.clear();
  bench.expect(false, 0, 0);
  EXPECT_FALSE(bench.leaf().young());
  bench.drop();
  bench.expect(false, 4, 1);
  EXPECT_TRUE(bench.leaf().young());
  EXPECT_FALSE(bench.leaf().dirty());
}

TEST(MmuUse, SpacesThatAreNotServedAreLeftAlone) {
  UseBench bench;
  bench.write(abi::PageFaultSpaces{});
  bench.expect(true, 4, 0);
  EXPECT_FALSE(bench.leaf().young());
  EXPECT_FALSE(bench.leaf().dirty());
}

// The pager, in short: what it has read is not what it takes away.
TEST(MmuUse, AnEntryThatChangesWhileItIsWrittenIsReadAgain) {
  std::mt19937 random(5);
  UseBench bench;
  unsigned kept = 0;
  for (unsigned i = 0; i < 40; ++i) {
    bench.clear();
    bench.drop();
    const auto id = bench.issue(i % 2 != 0, kVmid, kVirtual + 8);
    bench.run(Picoseconds(random() % (5 * kPerEntry + kWalkLatency)));
    bench.tables.set(kVmid, kVirtual, 0, 0);
    bench.drop();
    bench.run(10_us);
    EXPECT_EQ(bench.leaf().raw, 0U) << "the walker has brought back what was taken away";
    if (bench.answered(id)) continue;  // translated before
    ++kept;
    EXPECT_EQ(bench.faults.waiting(), 1U);
    bench.clear();
    bench.reply(kVirtual);
    bench.run(10_us);
    EXPECT_EQ(bench.response(id).completion, Completion::kSuccess);
    EXPECT_TRUE(bench.leaf().young());
    EXPECT_EQ(bench.leaf().dirty(), i % 2 != 0);
  }
  EXPECT_GT(kept, 10U);
}

}  // namespace
}  // namespace npu::test
