// SPDX-License-Identifier: Apache-2.0
// Which memory an access reaches, and when.
#include "mmu_bench.hpp"

namespace npu::test {
namespace {

TEST(MmuTranslation, VmidZeroIsPassedOnUnchangedAtNoCost) {
  MmuBench bench;
  bench.enable();
  const auto begin = model::sim_now();
  const auto response = bench.access(true, 0, 0x123457);
  EXPECT_EQ(response.when - begin, kMemoryLatency);
  EXPECT_EQ(response.address, 0x123457u);
  EXPECT_EQ(bench.memory0.bytes[0x123457], 0x5A);
  EXPECT_EQ(bench.entries_read(), 0u);
}

TEST(MmuTranslation, SmallPageCostsFourReadsThenNone) {
  MmuBench bench;
  bench.tables.map(3, kVirtual, 6 * kPage);
  bench.enable();
  const auto begin = model::sim_now();
  const auto first = bench.read(3, kVirtual + 0x123457);
  EXPECT_EQ(first.when - begin, 4 * kPerEntry + kMemoryLatency);
  EXPECT_EQ(bench.last_address(), 6 * kPage + 0x123457);
  EXPECT_EQ(first.address, kVirtual + 0x123457) << "the client sees its own address";
  const auto again = model::sim_now();
  const auto second = bench.access(true, 3, kVirtual + kPage - 1);
  EXPECT_EQ(second.when - again, kMemoryLatency);
  EXPECT_EQ(bench.memory0.bytes[7 * kPage - 1], 0x5A);
  EXPECT_EQ(bench.entries_read(), 4u);
}

TEST(MmuTranslation, GiantPageCostsThreeReadsForAllOfIt) {
  MmuBench bench;
  bench.tables.map_giant(3, kVirtual, kGiant);
  bench.enable();
  const auto begin = model::sim_now();
  EXPECT_EQ(bench.read(3, kVirtual + 5).when - begin, 3 * kPerEntry + kMemoryLatency);
  bench.read(3, kVirtual + kGiant - 1);
  EXPECT_EQ(bench.last_address(), 2 * kGiant - 1);
  EXPECT_EQ(bench.entries_read(), 3u);
}

TEST(MmuTranslation, WalkReadsTheEntriesOfItsOwnIndices) {
  MmuBench bench;
  bench.tables.map(15, 0xFFFF'FFE0'0000, 2 * kPage);  // the last page of all
  bench.enable();
  EXPECT_EQ(bench.read(15, 0xFFFF'FFFF'FFFF).completion, Completion::kSuccess);
  ASSERT_EQ(bench.entries_read(), 4u);
  EXPECT_EQ(bench.walked.seen[0].address, kContext + 15 * 8);
  for (unsigned i = 1; i < 4; ++i) EXPECT_EQ(bench.walked.seen[i].address % 4096, 511u * 8);
  EXPECT_EQ(bench.last_address(), 3 * kPage - 1);
}

TEST(MmuTranslation, AddressSpacesDoNotSeeEachOthersPages) {
  MmuBench bench;
  bench.tables.map(1, kVirtual, 1 * kPage);
  bench.tables.map(2, kVirtual, 2 * kPage);
  bench.tables.map(3, kVirtual + kPage, 3 * kPage);
  bench.enable();
  for (unsigned round = 0; round < 2; ++round) {
    for (unsigned vmid = 1; vmid <= 2; ++vmid) {
      bench.read(vmid, kVirtual);
      EXPECT_EQ(bench.last_address(), vmid * kPage);
    }
    EXPECT_EQ(bench.read(3, kVirtual).completion, Completion::kNotMapped);
  }
}

TEST(MmuTranslation, ClientsShareTheTlbAndKeepTheirPorts) {
  MmuBench bench;
  bench.tables.map(1, kVirtual, 5 * kPage);
  bench.enable();
  bench.access(false, 1, kVirtual, 0);
  bench.access(false, 1, kVirtual + 1, 1);
  EXPECT_EQ(bench.entries_read(), 4u);
  EXPECT_EQ(bench.memory0.seen.size(), 1u);
  EXPECT_EQ(bench.last_address(1), 5 * kPage + 1);
}

TEST(MmuTranslation, WalkEmitsItsTimeReadsAndCause) {
  struct Sink : platform::TraceSink {
    std::vector<platform::TraceEvent> walks;
    void on_event(const platform::TraceEvent& event) override {
      if (event.activity == platform::Activity::kPageWalk) walks.push_back(event);
    }
  } sink;
  MmuBench bench;
  bench.tables.map(1, kVirtual, 0);
  bench.enable();
  bench.sim.recorder.add(sink);
  bench.cause = 77;
  const auto begin = model::sim_now();
  bench.read(1, kVirtual);
  ASSERT_EQ(sink.walks.size(), 1u);
  EXPECT_EQ(model::ticks(sink.walks[0].begin), begin);
  EXPECT_EQ(model::ticks(sink.walks[0].end), begin + 4 * kPerEntry);
  EXPECT_EQ(sink.walks[0].detail, 4u);
  EXPECT_EQ(sink.walks[0].cause, 77u);
}

// A request for the translation alone of page 1 of VMID 1, which may be read only.
class AskedBench : public MmuBench {
 public:
  AskedBench() {
    tables.map(1, kPage, 2 * kPage, true, false);
    enable();
  }
  void ask(bool is_write) {
    const auto command = is_write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND;
    auto& trans = sim.pool.allocate(command, kPage, nullptr, 1);
    auto& info = model::Transaction::of(trans);
    info.kind = model::TransactionKind::kTranslation;
    info.vmid = 1;
    send_request(clients[0], trans);
  }
};

TEST(MmuAsked, ATranslationAloneTakesTheWalkAndNothingElse) {
  AskedBench bench;
  EXPECT_FALSE(bench.mmu.memory().knows(1, kPage, false));
  bench.ask(false);
  bench.run(Picoseconds(4 * kPerEntry));
  EXPECT_TRUE(bench.responses.empty());
  bench.run(1_ps);
  ASSERT_EQ(bench.responses.size(), 1U);
  EXPECT_EQ(bench.responses[0].completion, Completion::kSuccess);
  EXPECT_EQ(bench.responses[0].address, kPage);
  EXPECT_TRUE(bench.memory0.seen.empty());
  EXPECT_TRUE(bench.mmu.memory().knows(1, kPage, false));
  EXPECT_FALSE(bench.mmu.memory().knows(2, kPage, false));
  EXPECT_FALSE(bench.mmu.memory().knows(1, kPage, true)) << "it may not be written";
}

TEST(MmuAsked, AnAccessThatIsNotPermittedIsRefusedAndHoldsUpNothing) {
  AskedBench bench;
  bench.ask(true);
  bench.run(10_us);
  ASSERT_EQ(bench.responses.size(), 1U);
  EXPECT_EQ(bench.responses[0].completion, Completion::kForbidden);
  bench.ask(false);
  bench.run(10_us);
  bench.invalidate(abi::MmuInvalidate::kAll);
  bench.run(Picoseconds(kInvalidate + 1));
  EXPECT_FALSE(bench.invalidating());
}

}  // namespace
}  // namespace npu::test
