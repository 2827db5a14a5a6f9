// SPDX-License-Identifier: Apache-2.0
// Virtual functions: when they answer, what they show, what is their own (SR-IOV 1.1, 2.1, 3.3 and
// 3.4). The card's first one is function 8 of the bus, of 8 with stride 1 if not said otherwise.
#include "tests/bench/pcie/pcie_bench.hpp"

namespace npu::test {
namespace {

Bdf function_number(unsigned number, std::uint8_t bus = 1) {
  return {bus, static_cast<std::uint8_t>(number / 8), static_cast<std::uint8_t>(number % 8)};
}
const Bdf kFirstVf = function_number(8), kSecondVf = function_number(9);

struct VirtualBench : PcieBench {
  using PcieBench::PcieBench;
  std::uint32_t sriov = find_extended(kCard, pci::kExtSriov);
  std::uint64_t vf_bar0 = fabric.peek_config(kCard, sriov + pci::kSriovBar0) & ~0xFULL;

  void control(unsigned value, Bdf physical = kCard) {
    config_write(physical, sriov + pci::kSriovControl, value, 2);
  }
  void enable(unsigned count, Bdf physical = kCard) {
    config_write(physical, sriov + pci::kSriovNumVfs, count, 2);
    control(pci::kSriovControlEnable | pci::kSriovControlMemory, physical);
  }
  bool answers(Bdf bdf) {
    config_read(bdf, 0);
    return completion == Completion::kSuccess;
  }
  // The functions 0 .. 31 of bus 1 that answer, as bits.
  unsigned answering() {
    unsigned bits = 0;
    for (unsigned number = 0; number < 32; ++number) {
      if (answers(function_number(number))) bits |= 1U << number;
    }
    return bits;
  }
};

TEST(VirtualFunction, AnswersWhileEnabledUpToTheirNumber) {
  on_bench<VirtualBench>([](VirtualBench& bench) {
    EXPECT_EQ(bench.answering(), 0x1U);
    EXPECT_EQ(bench.config_read(kFirstVf, pci::kRevision), pci::kAllOnes);
    bench.enable(3);
    EXPECT_EQ(bench.answering(), 0x701U);
    bench.control(0);
    EXPECT_EQ(bench.answering(), 0x1U);
  });
}

TEST(VirtualFunction, FollowsFirstOffsetAndStride) {
  auto config = one_card();
  config.cards[0].pci.sriov_first_vf_offset = 5;
  config.cards[0].pci.sriov_vf_stride = 3;
  VirtualBench bench(config);
  bench.run([&] {
    bench.enable(4);
    EXPECT_EQ(bench.answering(), 1U | 1U << 5 | 1U << 8 | 1U << 11 | 1U << 14);
  });
}

TEST(VirtualFunction, TheirNumberIsAtMostTheTotalAndFixedWhileEnabled) {
  on_bench<VirtualBench>([](VirtualBench& bench) {
    bench.enable(100);
    EXPECT_EQ(bench.answering(), 0xFF01U);
    bench.control(0);
    bench.enable(2);
    bench.config_write(kCard, bench.sriov + pci::kSriovNumVfs, 6, 2);
    EXPECT_EQ(bench.config_read(kCard, bench.sriov + pci::kSriovNumVfs, 2), 2U);
    EXPECT_EQ(bench.answering(), 0x301U);
  });
}

TEST(VirtualFunction, ShowsClassAndSubsystemButNoIdsOfItsOwn) {
  on_bench<VirtualBench>([](VirtualBench& bench) {
    bench.enable(1);
    EXPECT_EQ(bench.config_read(kFirstVf, 0), pci::kAllOnes);
    EXPECT_EQ(bench.completion, Completion::kSuccess);
    for (const auto offset : {pci::kRevision, pci::kSubsystemVendor}) {
      EXPECT_EQ(bench.config_read(kFirstVf, offset), bench.config_read(kCard, offset)) << offset;
    }
    EXPECT_EQ(bench.config_read(kFirstVf, pci::kHeaderType, 1), 0U);
    EXPECT_EQ(bench.config_read(kFirstVf, pci::kInterruptPin, 1), 0U);
  });
}

TEST(VirtualFunction, HasNoBarsAndOnlyItsBusMasteringCanBeSet) {
  on_bench<VirtualBench>([](VirtualBench& bench) {
    bench.enable(2);
    for (std::uint32_t bar = pci::kBar0; bar < pci::kBar0 + 24; bar += 4) {
      bench.config_write(kFirstVf, bar, pci::kAllOnes);
      EXPECT_EQ(bench.config_read(kFirstVf, bar), 0U);
    }
    bench.config_write(kFirstVf, pci::kCommand, 0xFFFF, 2);
    EXPECT_EQ(bench.config_read(kFirstVf, pci::kCommand, 2), pci::kCommandBusMaster);
    EXPECT_EQ(bench.config_read(kSecondVf, pci::kCommand, 2), 0U);
    EXPECT_EQ(bench.config_read(kCard, pci::kCommand, 2), pci::kCommandMemory);
  });
}

TEST(VirtualFunction, ItsResetIsItsOwn) {
  VirtualBench bench;
  bench.run([&] {
    bench.enable(2);
    const auto express = bench.find_capability(kFirstVf, pci::kCapPciExpress);
    EXPECT_TRUE(bench.config_read(kFirstVf, express + pci::kExpDeviceCap) & pci::kExpDeviceCapFlr);
    bench.config_write(kFirstVf, pci::kCommand, pci::kCommandBusMaster, 2);
    bench.config_write(kSecondVf, pci::kCommand, pci::kCommandBusMaster, 2);
    bench.config_write(kFirstVf, express + pci::kExpDeviceControl, pci::kExpDeviceControlFlr, 2);
    EXPECT_EQ(bench.answering(), 0x201U);
    bench.wait(1_ms);
    EXPECT_EQ(bench.answering(), 0x301U);
    EXPECT_EQ(bench.config_read(kFirstVf, pci::kCommand, 2), 0U);
    EXPECT_EQ(bench.config_read(kSecondVf, pci::kCommand, 2), pci::kCommandBusMaster);
  });
  EXPECT_EQ(bench.chip().resets.size(), 1U) << "what is behind the first one";
}

TEST(VirtualFunction, IsGoneAfterAResetOfThePhysicalOne) {
  on_bench<VirtualBench>([](VirtualBench& bench) {
    const auto express = bench.find_capability(kCard, pci::kCapPciExpress);
    bench.enable(2);
    bench.config_write(kCard, express + pci::kExpDeviceControl, pci::kExpDeviceControlFlr, 2);
    EXPECT_EQ(bench.answering(), 0U);
    bench.wait(1_ms);
    EXPECT_EQ(bench.answering(), 0x1U);
    EXPECT_EQ(bench.config_read(kCard, bench.sriov + pci::kSriovBar0) & ~0xFU, bench.vf_bar0);
  });
}

TEST(VirtualFunction, IsGoneAfterTheLinkWasDown) {
  on_bench<VirtualBench>([](VirtualBench& bench) {
    bench.enable(2);
    EXPECT_EQ(bench.answering(), 0x301U);
    bench.fabric.link(0).set_down(true);
    bench.fabric.link(0).set_down(false);
    bench.wait(1_ms);
    EXPECT_EQ(bench.answering(), 0x1U);
  });
}

TEST(VirtualFunction, NewOnesAreAsAfterAReset) {
  on_bench<VirtualBench>([](VirtualBench& bench) {
    bench.enable(1);
    bench.config_write(kFirstVf, pci::kCommand, pci::kCommandBusMaster, 2);
    bench.control(0);
    bench.control(pci::kSriovControlEnable);
    EXPECT_EQ(bench.config_read(kFirstVf, pci::kCommand, 2), 0U);
  });
}

TEST(VirtualFunction, EachHasItsVectorTableInItsPartOfTheBar) {
  VirtualBench bench;
  bench.run([&] {
    bench.enable(8);
    const auto vector = [&](unsigned vf) {
      return bench.vf_bar0 + vf * 64_KiB + abi::kMsixTableOffset + pci::kMsixEntryControl;
    };
    bench.write(vector(7), 0);
    for (unsigned vf = 0; vf < 8; ++vf) {
      EXPECT_EQ(bench.read(vector(vf)), vf == 7 ? 0U : pci::kMsixEntryMasked) << vf;
    }
    EXPECT_EQ(bench.read(vector(8)), pci::kAllOnes) << "nobody's";
  });
  EXPECT_TRUE(bench.chip().register_writes.empty());
}

TEST(VirtualFunction, MemoryIsDecodedWhileVfMemorySpaceIsOn) {
  on_bench<VirtualBench>([](VirtualBench& bench) {
    bench.enable(1);
    bench.read(bench.vf_bar0 + abi::kMsixTableOffset);
    EXPECT_EQ(bench.completion, Completion::kSuccess);
    bench.control(pci::kSriovControlEnable);
    bench.read(bench.vf_bar0 + abi::kMsixTableOffset);
    EXPECT_EQ(bench.completion, Completion::kUnsupportedRequest);
  });
}

TEST(VirtualFunction, WhatItHasNotIsAnUnsupportedRequestOfItsOwn) {
  on_bench<VirtualBench>([](VirtualBench& bench) {
    bench.enable(2);
    EXPECT_EQ(bench.read(bench.vf_bar0 + 64_KiB), pci::kAllOnes);
    const auto status = [&](Bdf bdf) {
      const auto express = bench.find_capability(bdf, pci::kCapPciExpress);
      return bench.config_read(bdf, express + pci::kExpDeviceStatus, 2);
    };
    EXPECT_EQ(status(kFirstVf), 0U);
    EXPECT_EQ(status(kSecondVf), 0xAU);  // unsupported request, non-fatal
    EXPECT_EQ(status(kCard), 0U);
  });
}

TEST(VirtualFunction, BarsAreSizedInThePhysicalOneAndTakeAtLeastAPage) {
  on_bench<VirtualBench>([](VirtualBench& bench) {
    const auto size_mask = [&] {
      bench.config_write(kCard, bench.sriov + pci::kSriovBar0, pci::kAllOnes);
      return bench.config_read(kCard, bench.sriov + pci::kSriovBar0);
    };
    EXPECT_EQ(size_mask(), 0xFFFF'0004U);  // 64 KiB
    bench.config_write(kCard, bench.sriov + pci::kSriovPageSize, 1 << 8);
    EXPECT_EQ(size_mask(), 0xFFF0'0004U);  // pages of 1 MiB
    bench.config_write(kCard, bench.sriov + pci::kSriovBar0 + 8, pci::kAllOnes);
    bench.config_write(kCard, bench.sriov + pci::kSriovBar0 + 12, pci::kAllOnes);
    EXPECT_EQ(bench.config_read(kCard, bench.sriov + pci::kSriovBar0 + 8), 0x0000'000CU);
    EXPECT_EQ(bench.config_read(kCard, bench.sriov + pci::kSriovBar0 + 12), 0xFFFF'FFFFU);
  });
}

TEST(VirtualFunction, IsReachedOnlyThroughPortsThatForwardAri) {
  on_bench<VirtualBench>([](VirtualBench& bench) {
    bench.enable(1);
    EXPECT_TRUE(bench.answers(kFirstVf));
    const auto express = bench.find_capability({0, 0, 0}, pci::kCapPciExpress);
    bench.config_write({0, 0, 0}, express + pci::kExpDeviceControl2, 0, 2);
    EXPECT_FALSE(bench.answers(kFirstVf));
    EXPECT_TRUE(bench.answers(kCard));
  });
}

TEST(VirtualFunction, IsReachedThroughASwitch) {
  VirtualBench bench(two_bridges());
  bench.run([&] {
    const Bdf second_card{5, 0, 0};
    bench.sriov = bench.find_extended(second_card, pci::kExtSriov);
    bench.enable(2, second_card);
    EXPECT_TRUE(bench.answers(function_number(9, 5)));
    EXPECT_FALSE(bench.answers(function_number(10, 5)));
    EXPECT_FALSE(bench.answers(function_number(9, 3)));
  });
}

}  // namespace
}  // namespace npu::test
