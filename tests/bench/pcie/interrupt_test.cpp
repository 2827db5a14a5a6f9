// SPDX-License-Identifier: Apache-2.0
// MSI-X: delivery, masks, pending bits; function level reset.
#include "tests/bench/pcie/pcie_bench.hpp"

namespace npu::test {
namespace {

constexpr std::uint64_t kMessage = 0xFEE0'0000;

struct MsixBench : PcieBench {
  std::uint32_t msix = find_capability(kCard, pci::kCapMsix);
  std::uint64_t entry(unsigned vector) const {
    return bar(0) + abi::kMsixTableOffset + vector * pci::kMsixEntrySize;
  }
  void control(std::uint16_t bits) { config_write(kCard, msix + pci::kMsixControl, bits, 2); }
  void enable() {
    enable_bus_master();
    control(pci::kMsixControlEnable);
  }
  void program(unsigned vector, std::uint32_t data) {
    write(entry(vector), kMessage, 8);
    write(entry(vector) + pci::kMsixEntryData, data);
    write(entry(vector) + pci::kMsixEntryControl, 0);
  }
  std::uint64_t pending(unsigned word = 0) {
    return read(bar(0) + abi::kMsixPbaOffset + 8 * word, 8);
  }
};

using Msix = OnBench<MsixBench>;

TEST_F(Msix, RaisedVectorArrivesWithItsData) {
  std::uint64_t raised = 0;
  bench.run([&] {
    bench.enable();
    bench.program(3, 0xABC);
    bench.wait(1_us);
    raised = model::sim_now();
    bench.endpoint().raise(0, 3, 0);
  });
  ASSERT_EQ(bench.interrupts.messages.size(), 1U);
  EXPECT_EQ(bench.interrupts.messages[0].address, kMessage);
  EXPECT_EQ(bench.interrupts.messages[0].value, 0xABCU);
  // Egress, 28 bytes on the wire, propagation, root complex.
  EXPECT_EQ(bench.interrupts.messages[0].when - raised,
            15'000 + (28 * 65'000 + 2047) / 2048 + 50'000 + 60'000);
}

TEST_F(Msix, EntriesAreMaskedAtResetAndReadBack) {
  bench.run([&] {
    EXPECT_EQ(bench.read(bench.entry(127) + pci::kMsixEntryControl), 1U);
    bench.write(bench.entry(127) + pci::kMsixEntryData, 0x55);
    EXPECT_EQ(bench.read(bench.entry(127) + pci::kMsixEntryData, 8), 0x1'0000'0055U);
  });
}

TEST_F(Msix, MaskedVectorPendsAndIsDeliveredOnceOnUnmask) {
  bench.run([&] {
    bench.enable();
    bench.program(70, 7);
    bench.write(bench.entry(70) + pci::kMsixEntryControl, pci::kMsixEntryMasked);
    bench.read(bench.bar(0));
    bench.endpoint().raise(0, 70, 0);
    bench.endpoint().raise(0, 70, 0);
    EXPECT_EQ(bench.pending(1), 1U << 6);
    EXPECT_TRUE(bench.interrupts.messages.empty());
    bench.write(bench.entry(70) + pci::kMsixEntryControl, 0);
    EXPECT_EQ(bench.pending(1), 0U);
  });
  EXPECT_EQ(bench.interrupts.messages.size(), 1U);
}

TEST_F(Msix, AVectorBeyondTheTableIsNone) {
  bench.run([&] {
    bench.enable();
    bench.endpoint().raise(0, 128, 0);
    bench.endpoint().raise(0, 0xFFFF'FFFF, 0);
    bench.wait(1_us);
  });
  EXPECT_TRUE(bench.interrupts.messages.empty());
}

TEST_F(Msix, FunctionMaskHoldsEveryVector) {
  bench.run([&] {
    bench.enable();
    bench.program(0, 1);
    bench.program(1, 2);
    bench.read(bench.bar(0));
    bench.control(pci::kMsixControlEnable | pci::kMsixControlMaskAll);
    bench.endpoint().raise(0, 0, 0);
    bench.endpoint().raise(0, 1, 0);
    EXPECT_EQ(bench.pending(), 3U);
    bench.control(pci::kMsixControlEnable);
    EXPECT_EQ(bench.pending(), 0U);
  });
  EXPECT_EQ(bench.interrupts.messages.size(), 2U);
}

TEST_F(Msix, DisabledOrWithoutBusMasteringNothingIsSent) {
  bench.run([&] {
    bench.program(0, 1);
    bench.read(bench.bar(0));
    bench.endpoint().raise(0, 0, 0);
    bench.control(pci::kMsixControlEnable);
    bench.wait(1_us);
    EXPECT_TRUE(bench.interrupts.messages.empty());
    bench.enable_bus_master();
    bench.wait(1_us);
  });
  EXPECT_EQ(bench.interrupts.messages.size(), 1U);
}

TEST_F(Msix, PendingBitsCannotBeWritten) {
  bench.run([&] {
    bench.write(bench.bar(0) + abi::kMsixPbaOffset, ~0ULL, 8);
    EXPECT_EQ(bench.pending(), 0U);
  });
  EXPECT_TRUE(bench.chip().register_writes.empty());
}

struct ResetBench : MsixBench {
  std::uint32_t express = find_capability(kCard, pci::kCapPciExpress);
  void reset() {
    config_write(kCard, express + pci::kExpDeviceControl, pci::kExpDeviceControlFlr, 2);
  }
};

using FunctionLevelReset = OnBench<ResetBench>;

TEST_F(FunctionLevelReset, AnswersAgainAfterItsTimeAndNotBefore) {
  bench.run([&] {
    bench.reset();
    ASSERT_EQ(bench.chip().resets.size(), 1U);
    const std::uint64_t until = bench.chip().resets[0] + 1'000'000'000;  // flr_time 1 ms
    EXPECT_EQ(bench.config_read(kCard, 0), pci::kAllOnes);
    sc_core::wait(sc_core::sc_time::from_value(until - 300'000 - model::sim_now()));
    EXPECT_EQ(bench.config_read(kCard, 0), pci::kAllOnes);
    sc_core::wait(sc_core::sc_time::from_value(until - model::sim_now()));
    EXPECT_EQ(bench.config_read(kCard, 0) & 0xFFFF, 0x19E5U);
  });
}

TEST_F(FunctionLevelReset, ClearsCommandMsixAndSriov) {
  bench.run([&] {
    bench.enable();
    bench.program(0, 1);
    const auto sriov = bench.find_extended(kCard, pci::kExtSriov);
    bench.config_write(kCard, sriov + 0x10, 4, 2);
    bench.config_write(kCard, sriov + 0x08, 1, 2);
    bench.reset();
    bench.wait(1100_us);
    EXPECT_EQ(bench.config_read(kCard, pci::kCommand, 2), 0U);
    EXPECT_EQ(bench.config_read(kCard, bench.msix + pci::kMsixControl, 2), 127U);
    EXPECT_EQ(bench.config_read(kCard, sriov + 0x10, 2), 0U);
    EXPECT_EQ(bench.config_read(kCard, sriov + 0x08, 2), 0U);
    bench.config_write(kCard, pci::kCommand, pci::kCommandMemory, 2);
    EXPECT_EQ(bench.read(bench.entry(0) + pci::kMsixEntryControl), 1U);
  });
}

TEST_F(FunctionLevelReset, EndsReadsInFlightAndIgnoresTheirCompletions) {
  bench.memory.latency = 5_us;
  bench.run([&] {
    bench.enable_bus_master();
    bench.chip().read(StandInHostMemory::kBase, 64);
    EXPECT_EQ(bench.config_read(kCard, bench.express + pci::kExpDeviceStatus, 2),
              pci::kExpDeviceStatusPending);
    bench.reset();
    ASSERT_EQ(bench.chip().answers.size(), 1U);
    EXPECT_EQ(bench.chip().answers[0].completion, model::Completion::kCompleterAbort);
    bench.endpoint().raise(0, 0, 0);
    bench.chip().read(StandInHostMemory::kBase, 64);  // refused while the reset lasts
    bench.wait(10_us);
  });
  ASSERT_EQ(bench.chip().answers.size(), 2U);
  EXPECT_EQ(bench.chip().answers[1].completion, model::Completion::kCompleterAbort);
  EXPECT_EQ(bench.endpoint().outstanding_reads(), 0U);
  EXPECT_EQ(bench.simulation.pool.in_use(), 0U);
}

}  // namespace
}  // namespace npu::test
