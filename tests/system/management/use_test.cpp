// SPDX-License-Identifier: Apache-2.0
#include "tests/system/management/managed_card.hpp"

namespace npu::test {
namespace {

TEST(DsmiUse, AKernelOnCores0To3ShowsOnTheseOnly) {
  Machine().on<SupervisedCard>([](SupervisedCard& managed) {
    driver::QueueOptions options;
    options.core_mask = driver::first_cores(4);
    auto& queue = managed.process.add(options);
    const auto kernel =
        managed.process.launch(queue, "spin", 4, std::array{std::uint64_t{1'850'000}});
    managed.core_uses();
    ASSERT_TRUE(managed.card.run(queue, kernel));
    const auto uses = managed.core_uses();
    ASSERT_EQ(uses.size(), 64U);
    for (std::size_t core = 0; core < 64; ++core) {
      if (core < 4) {
        EXPECT_GE(uses[core], 90U) << core;
      } else {
        EXPECT_EQ(uses[core], 0U) << core;
      }
    }
  });
}

TEST(DsmiUse, IsOfTheIntervalSinceTheLastCall) {
  Machine().on<SupervisedCard>([](SupervisedCard& managed) {
    auto& queue = managed.process.add();
    const auto kernel =
        managed.process.launch(queue, "spin", 64, std::array{std::uint64_t{1'850'000}});
    managed.use(DSMI_UTILIZATION_AICORE);
    ASSERT_TRUE(managed.card.run(queue, kernel));
    EXPECT_GE(managed.use(DSMI_UTILIZATION_AICORE), 90U);
    managed.card.pass(10_ms);
    EXPECT_EQ(managed.use(DSMI_UTILIZATION_AICORE), 0U);
    EXPECT_LE(managed.use(DSMI_UTILIZATION_OVERALL), 15U) << "its interval is longer";
  });
}

// Cube cores come first in a core mask, vector cores behind them.
TEST(DsmiUse, WorkOfVectorCoresShowsOnThemAndNotOnCubeCores) {
  Machine({}, "910b2.yaml").on<SupervisedCard>([](SupervisedCard& managed) {
    driver::QueueOptions options;
    options.core_mask = {0xFF'FF00'0000ULL, 0, 0, 0};  // vector cores 0 to 15
    auto& queue = managed.process.add(options);
    const auto kernel =
        managed.process.launch(queue, "spin", 16, std::array{std::uint64_t{1'800'000}});
    managed.use(DSMI_UTILIZATION_VECTOR);
    managed.use(DSMI_UTILIZATION_CUBE);
    managed.core_uses(DSMI_TS_SUB_CMD_VECTORCORE_MULTI_UTILIZATION_RATE);
    ASSERT_TRUE(managed.card.run(queue, kernel));
    EXPECT_EQ(managed.use(DSMI_UTILIZATION_CUBE), 0U);
    EXPECT_NEAR(managed.use(DSMI_UTILIZATION_VECTOR), 33, 3) << "16 of 48";
    const auto uses = managed.core_uses(DSMI_TS_SUB_CMD_VECTORCORE_MULTI_UTILIZATION_RATE);
    ASSERT_EQ(uses.size(), 48U);
    for (std::size_t i = 0; i < 48; ++i) EXPECT_EQ(uses[i] > 0, i < 16) << i;
  });
}

TEST(DsmiUse, AicpuLoadIsNotTakenForThatOfAiCores) {
  Machine().on<SupervisedCard>([](SupervisedCard& managed) {
    auto& queue = managed.process.add();
    const auto kernel =
        managed.process.launch(queue, "spin", 64, std::array{std::uint64_t{185'000}});
    managed.use(DSMI_UTILIZATION_AICPU);
    ASSERT_TRUE(managed.card.run(queue, kernel));
    EXPECT_EQ(managed.use(DSMI_UTILIZATION_AICPU), 0U);
    EXPECT_GT(managed.use(DSMI_UTILIZATION_AICORE), 0U);
  });
}

TEST(DsmiUse, ACopyShowsItsBytesOnLinkAndMemory) {
  Machine().run([](platform::Platform& host) {
    SupervisedCard managed(host);
    auto& queue = managed.process.add();
    const auto before = managed.traffic();
    const auto copy = entries::copy_to_device(managed.process.host->bus(),
                                              managed.process.memory + 1_MiB, 64_KiB);
    ASSERT_TRUE(managed.card.run(queue, copy));
    const auto after = managed.traffic();
    EXPECT_GE(after.rx_completion - before.rx_completion, 64_KiB) << "the card reads the host";
    EXPECT_LT(after.rx_completion - before.rx_completion, 80_KiB);
    EXPECT_GE(after.hbm_written - before.hbm_written, 64_KiB);
    EXPECT_LT(after.hbm_written - before.hbm_written, 66_KiB);
    EXPECT_GT(after.time_ns, before.time_ns);
  });
}

TEST(DsmiUse, ClocksAreThoseOfTheConfiguration) {
  Machine machine({}, "910b2.yaml");
  machine.run([&](platform::Platform& host) {
    SupervisedCard managed(host);
    dsmi_aicore_info_stru cores{};
    dsmi_aicpu_info_stru aicpus{};
    unsigned hbm = 0;
    ASSERT_EQ(dsmi_get_aicore_info(0, &cores), DSMI_OK);
    ASSERT_EQ(dsmi_get_aicpu_info(0, &aicpus), DSMI_OK);
    ASSERT_EQ(dsmi_get_device_frequency(0, DSMI_FREQUENCY_HBM, &hbm), DSMI_OK);
    EXPECT_EQ(cores.freq, machine.chip().aicore.clock_hz / 1'000'000);
    EXPECT_EQ(cores.curfreq, cores.freq);
    EXPECT_EQ(aicpus.maxFreq, machine.chip().aicpu.clock_hz / 1'000'000);
    EXPECT_EQ(aicpus.aicpuNum, machine.chip().aicpus);
    EXPECT_EQ(hbm, machine.chip().hbm.timings.clock_hz / 1'000'000);
  });
}

TEST(DsmiUse, TheLinkIsThatOfConfigurationSpace) {
  Machine({"link.generation=5", "link.lanes=8"}).on<SupervisedCard>([](SupervisedCard& managed) {
    dsmi_pcie_info_para link{};
    unsigned size = sizeof link;
    ASSERT_EQ(dsmi_get_device_info(0, DSMI_MAIN_CMD_PCIE, 0, &link, &size), DSMI_OK);
    EXPECT_EQ(link.rate_mode, 5U);
    EXPECT_EQ(link.lane_num, 8U);
    tag_pcie_idinfo ids{};
    ASSERT_EQ(dsmi_get_pcie_info(0, &ids), DSMI_OK);
    EXPECT_EQ(ids.venderid, 0x19E5U);
    EXPECT_EQ(ids.deviceid, managed.card.device->info().function.device_id);
    EXPECT_EQ(ids.bdf_busid, managed.card.device->info().bdf().bus);
  });
}

}  // namespace
}  // namespace npu::test
