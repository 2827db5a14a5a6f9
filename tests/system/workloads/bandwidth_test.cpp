// SPDX-License-Identifier: Apache-2.0
#include "tests/system/workloads/simulated_run.hpp"

namespace npu::workloads {
namespace {

using Bandwidth = WorkloadOnSimulator;

const std::vector<std::string> kLarge{"sizes=4MiB", "bytes=16MiB", "depths=4", "streams=8"};

TEST_F(Bandwidth, ReachesMostOfEveryPeak) {
  run("dma_bandwidth", kLarge);
  // 1.2 TB/s that reads and writes share, and PCIe 4.0 x16 after encoding: 31.508 GB/s.
  EXPECT_GE(value("dma.d2d.4MiB.hbm_traffic_gb_per_s"), 0.85 * 1200);
  EXPECT_LE(value("dma.d2d.4MiB.hbm_peak_percent"), 100);
  EXPECT_GE(value("dma.h2d.4MiB.bandwidth_gb_per_s"), 0.85 * 31.508);
  EXPECT_GE(value("dma.d2h.4MiB.bandwidth_gb_per_s"), 0.85 * 31.508);
  EXPECT_LE(value("dma.h2d.4MiB.bandwidth_gb_per_s"), 31.508);
}

TEST_F(Bandwidth, LimitsAndPayloadShareTheWholeTimeOfTheLink) {
  run("dma_bandwidth", {"sizes=4MiB", "directions=h2d", "depths=4", "streams=8"});
  double all = 0;
  for (const auto& limit : report_.limits()) {
    EXPECT_GT(limit.percent.value(), 0) << limit.text;
    all += std::stod(limit.percent.text());
  }
  EXPECT_NEAR(all, 100, 0.01);
}

TEST_F(Bandwidth, HalfTheLanesGiveHalfTheBandwidth) {
  run("dma_bandwidth", {"sizes=4MiB", "directions=h2d", "depths=4", "streams=8"}, {"link.lanes=8"});
  EXPECT_NEAR(value("dma.h2d.4MiB.link_peak_percent"), 91, 1.5);
  EXPECT_NEAR(value("dma.h2d.4MiB.bandwidth_gb_per_s"), 0.91 * 31.508 / 2, 0.3);
}

}  // namespace
}  // namespace npu::workloads
