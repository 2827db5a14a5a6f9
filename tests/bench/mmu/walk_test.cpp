// SPDX-License-Identifier: Apache-2.0
// Several requests and several walks at a time.
#include "mmu_bench.hpp"

namespace npu::test {
namespace {

constexpr SimTime kWalk = 4 * kPerEntry;

class WalkBench : public MmuBench {
 public:
  explicit WalkBench(const model::ChipConfig& chip = mmu_chip_config()) : MmuBench(chip) {
    for (unsigned page = 0; page < 16; ++page) {
      tables.map(1, kVirtual + page * kPage, page * kPage);
    }
    enable();
    begin = model::sim_now();
  }
  std::uint64_t issue_page(unsigned page, unsigned client = 0) {
    return issue(false, 1, kVirtual + page * kPage, 0, client);
  }
  // When its memory access began.
  SimTime passed_on(std::uint64_t id) { return response(id).when - kMemoryLatency - begin; }

  SimTime begin = 0;
};

using MmuWalk = OnBench<WalkBench>;

TEST_F(MmuWalk, RequestsForOnePageShareAWalkAndKeepTheirOrder) {
  std::vector<std::uint64_t> ids;
  for (unsigned i = 0; i < 5; ++i) ids.push_back(bench.issue(i % 2, 1, kVirtual + i, 0, 0));
  bench.run(100_ns);
  ids.push_back(bench.issue_page(0, 1));
  bench.run(10_us);
  EXPECT_EQ(bench.entries_read(), 4u);
  for (const auto id : ids) EXPECT_EQ(bench.passed_on(id), kWalk);
  for (unsigned i = 0; i < 5; ++i) EXPECT_EQ(bench.memory0.seen[i].address, i);
  EXPECT_EQ(bench.mmu.statistics().misses, 6u);
  EXPECT_EQ(bench.mmu.statistics().walks, 1u);
}

TEST_F(MmuWalk, HitsPassRequestsThatWait) {
  bench.issue_page(0);
  bench.run(10_us);
  const auto missed = bench.issue_page(1);
  const auto hit = bench.issue_page(0);
  const auto physical = bench.issue(false, 0, 123);
  bench.run(10_us);
  EXPECT_EQ(bench.response(missed).when - bench.response(hit).when, kWalk);
  EXPECT_EQ(bench.response(physical).when, bench.response(hit).when);
}

TEST_F(MmuWalk, AsManyWalksRunAsThereAreWalkers) {
  std::vector<std::uint64_t> ids;
  for (unsigned page = 0; page < 5; ++page) ids.push_back(bench.issue_page(page));
  bench.run(10_us);
  for (unsigned page = 0; page < 5; ++page) {
    EXPECT_EQ(bench.passed_on(ids[page]), (1 + page / 2) * kWalk) << page;  // two walkers
  }
  EXPECT_EQ(bench.walked.most_outstanding, 2u);
  EXPECT_EQ(model::ticks(bench.mmu.statistics().walking), 5 * kWalk) << "without the waiting";
}

TEST_F(MmuWalk, RequestsJoinAPageThatWaitsForAWalker) {
  for (unsigned page = 0; page < 3; ++page) bench.issue_page(page);
  const auto joined = bench.issue_page(2);
  bench.run(10_us);
  EXPECT_EQ(bench.passed_on(joined), 2 * kWalk);
  EXPECT_EQ(bench.entries_read(), 12u);
}

TEST_F(MmuWalk, PageThatWaitsFindsWhatANeighboursGiantPageBrought) {
  bench.tables.map_giant(2, 0, kGiant);
  bench.issue(false, 2, 0);
  bench.issue(false, 2, kPage);
  const auto waits = bench.issue(false, 2, 2 * kPage);
  bench.run(10_us);
  EXPECT_EQ(bench.passed_on(waits), 3 * kPerEntry);
  EXPECT_EQ(bench.memory0.seen[1].address, kGiant + 2 * kPage);
  EXPECT_EQ(bench.mmu.statistics().walks, 2u);
}

TEST_F(MmuWalk, RequestsThatShareAFailedWalkAllFail) {
  const std::uint64_t nowhere = kVirtual + kGiant;
  const auto first = bench.issue(false, 1, nowhere);
  const auto second = bench.issue(true, 1, nowhere + 1, 0, 1);
  const auto good = bench.issue_page(3);
  bench.run(10_us);
  EXPECT_EQ(bench.response(first).completion, Completion::kNotMapped);
  EXPECT_EQ(bench.response(second).completion, Completion::kNotMapped);
  EXPECT_EQ(bench.response(good).completion, Completion::kSuccess);
  EXPECT_EQ(bench.mmu.statistics().not_mapped, 2u);
}

TEST_F(MmuWalk, RightsAreJudgedForEachThatWaited) {
  bench.tables.map(1, kVirtual, 5 * kPage, true, false);
  const auto reads = bench.issue(false, 1, kVirtual);
  const auto writes = bench.issue(true, 1, kVirtual);
  bench.run(10_us);
  EXPECT_EQ(bench.response(reads).completion, Completion::kSuccess);
  EXPECT_EQ(bench.response(writes).completion, Completion::kForbidden);
  EXPECT_EQ(bench.memory0.seen.size(), 1u);
}

TEST_F(MmuWalk, EntriesAreReadWhenTheWalkGetsThere) {
  const auto id = bench.issue_page(0);
  bench.run(Picoseconds(3 * kPerEntry));  // the lowest entry is still to be read
  bench.tables.map(1, kVirtual, 9 * kPage);
  bench.run(10_us);
  EXPECT_EQ(bench.response(id).completion, Completion::kSuccess);
  EXPECT_EQ(bench.last_address(), 9 * kPage);
}

}  // namespace
}  // namespace npu::test
