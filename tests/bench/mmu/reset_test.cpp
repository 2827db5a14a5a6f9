// SPDX-License-Identifier: Apache-2.0
// Function level reset with walks, invalidations and accesses in flight.
#include "mmu_bench.hpp"

namespace npu::test {
namespace {

class ResetBench : public MmuBench {
 public:
  ResetBench() {
    for (unsigned page = 0; page < 8; ++page) tables.map(1, page * kPage, page * kPage);
    enable();
  }
  void reset() {
    registers.function_reset(0);
    mmu.function_reset(0);
  }
};

using MmuReset = OnBench<ResetBench>;

TEST_F(MmuReset, ForgetsTranslationsAndTheContextTable) {
  bench.read(1, 0);
  bench.reset();
  EXPECT_EQ(bench.read(1, 0).completion, Completion::kNotMapped);
  bench.enable();
  const auto before = bench.entries_read();
  EXPECT_EQ(bench.read(1, 0).completion, Completion::kSuccess);
  EXPECT_EQ(bench.entries_read() - before, 4u);
}

TEST_F(MmuReset, WaitingRequestsAreAnsweredAndMoveNothing) {
  std::vector<std::uint64_t> ids;
  for (unsigned page = 0; page < 6; ++page) ids.push_back(bench.issue(true, 1, page * kPage));
  bench.run(100_ns);
  bench.reset();
  bench.run(1_ps);
  for (const auto id : ids) {
    EXPECT_EQ(bench.response(id).completion, Completion::kCompleterAbort);
    EXPECT_EQ(bench.response(id).status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }
  bench.run(10_us);
  EXPECT_EQ(bench.responses.size(), ids.size()) << "late table reads wake nobody";
  EXPECT_TRUE(bench.memory0.seen.empty());
  EXPECT_EQ(bench.sim.pool.in_use(), 0u);
}

TEST_F(MmuReset, WalksBeginAnewWhileOldReadsAreStillComing) {
  for (unsigned page = 0; page < 6; ++page) bench.issue(false, 1, page * kPage);
  bench.run(100_ns);
  bench.reset();
  bench.enable();
  for (unsigned page = 0; page < 8; ++page) {
    const auto begin = model::sim_now();
    const auto response = bench.read(1, page * kPage);
    EXPECT_EQ(response.when - begin, 4 * kPerEntry + kMemoryLatency);
    EXPECT_EQ(bench.last_address(), page * kPage);
  }
}

TEST_F(MmuReset, EndsAnInvalidationAndTheNextOneWorks) {
  bench.read(1, 0);
  bench.memory0.answer = false;
  bench.issue(false, 1, 0);
  bench.invalidate(abi::MmuInvalidate::kAll);
  bench.run(1_us);
  EXPECT_TRUE(bench.invalidating());
  bench.reset();
  EXPECT_FALSE(bench.invalidating());
  bench.invalidate(abi::MmuInvalidate::kAll);
  bench.run(1_us);
  EXPECT_TRUE(bench.invalidating()) << "the access still goes on";
  bench.memory0.answer_kept();
  EXPECT_FALSE(bench.invalidating());
}

TEST_F(MmuReset, InvalidationThatWasDueIsForgotten) {
  bench.invalidate(abi::MmuInvalidate::kAll);
  bench.reset();
  bench.run(1_us);
  EXPECT_EQ(bench.mmu.statistics().invalidations, 0u);
}

}  // namespace
}  // namespace npu::test
