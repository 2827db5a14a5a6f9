// SPDX-License-Identifier: Apache-2.0
// Bandwidth on 910b.yaml against the peaks that follow from the standards.
#include "tests/system/support/machine.hpp"

namespace npu::test {
namespace {

// PCIe 4.0 x16 after encoding, in GB/s: 16 GT/s, 128b/130b.
constexpr double kLinkPeak = 16.0 * 16 * 128 / 130 / 8;
// Reads and writes of HBM share it (requirements.md M3), in GB/s.
constexpr double kMemoryPeak = 1200;

reports::Report measure(Machine& machine, const std::string& direction) {
  auto report =
      machine.workload("dma_bandwidth", {"directions=" + direction, "sizes=64MiB", "bytes=64MiB",
                                         "verify=64MiB", "depths=2", "streams=8"});
  EXPECT_EQ(report.notes().back(), "67108864 bytes compared byte for byte");
  return report;
}

void expect_link_bound(const std::string& direction) {
  Machine machine;
  const auto report = measure(machine, direction);
  const std::string prefix = "dma." + direction + ".64MiB";
  const double rate = metric(report, prefix + ".bandwidth_gb_per_s");
  EXPECT_GE(rate, 0.85 * kLinkPeak);
  // 256 of at least 256 + 12 (header) + 8 (framing) bytes are data.
  EXPECT_LE(rate, kLinkPeak * 256 / 276);
  EXPECT_GT(metric(report, prefix + ".limit.tlp_overhead_percent"), 4);
  EXPECT_EQ(report.limits().front().name, "link");
}

TEST(Bandwidth, HostToDeviceUses85PercentOfTheLink) {
  expect_link_bound("h2d");
}
TEST(Bandwidth, DeviceToHostUses85PercentOfTheLink) {
  expect_link_bound("d2h");
}

TEST(Bandwidth, DeviceToDeviceUses85PercentOfTheMemory) {
  Machine machine;
  const auto report = measure(machine, "d2d");
  const std::string prefix = "dma.d2d.64MiB";
  const double copied = metric(report, prefix + ".bandwidth_gb_per_s");
  EXPECT_GE(2 * copied, 0.85 * kMemoryPeak) << "every byte is read and written";
  EXPECT_LE(2 * copied, kMemoryPeak * 1.024) << "1228.8 GB/s on the data buses";
  EXPECT_NEAR(metric(report, prefix + ".hbm_traffic_gb_per_s"), 2 * copied, copied / 100);
  EXPECT_EQ(report.limits().front().name, "hbm");
  EXPECT_GT(metric(report, prefix + ".limit.row_misses_percent"), 0);
  EXPECT_GT(metric(report, prefix + ".limit.turnaround_percent"), 0);
  EXPECT_GT(metric(report, prefix + ".limit.refresh_percent"), 0);
  // Every pseudo channel refreshes a bank each tREFIpb; eight of them may still be owed (JESD235).
  const auto& timings = machine.chip().hbm.timings;
  const double clocks = 64.0 * 1024 * 1024 / copied * static_cast<double>(timings.clock_hz) * 1e-9;
  const double due = clocks / timings.trefi_pb - 8;
  const double channels = machine.chip().hbm.channels * timings.pseudo_channels;
  EXPECT_GE(static_cast<double>(machine.view.memories()[0].refreshes), channels * due);
}

const std::vector<std::string> kOneDirection{"sizes=4MiB", "directions=h2d", "depths=4",
                                             "streams=8"};

TEST(Bandwidth, ReachesMostOfEveryPeakInCopiesOf4MiB) {
  Machine machine;
  const auto report =
      machine.workload("dma_bandwidth", {"sizes=4MiB", "bytes=16MiB", "depths=4", "streams=8"});
  EXPECT_GE(metric(report, "dma.d2d.4MiB.hbm_traffic_gb_per_s"), 0.85 * kMemoryPeak);
  EXPECT_LE(metric(report, "dma.d2d.4MiB.hbm_peak_percent"), 100);
  EXPECT_GE(metric(report, "dma.h2d.4MiB.bandwidth_gb_per_s"), 0.85 * kLinkPeak);
  EXPECT_GE(metric(report, "dma.d2h.4MiB.bandwidth_gb_per_s"), 0.85 * kLinkPeak);
  EXPECT_LE(metric(report, "dma.h2d.4MiB.bandwidth_gb_per_s"), kLinkPeak);
}

TEST(Bandwidth, LimitsAndPayloadShareTheWholeTimeOfTheLink) {
  Machine machine;
  double all = 0;
  const auto report = machine.workload("dma_bandwidth", kOneDirection);
  for (const auto& limit : report.limits()) {
    EXPECT_GT(limit.percent.value(), 0) << limit.text;
    all += std::stod(limit.percent.text());
  }
  EXPECT_NEAR(all, 100, 0.01);
}

TEST(Bandwidth, HalfTheLanesGiveHalfTheBandwidth) {
  Machine machine({"link.lanes=8"});
  const auto report = machine.workload("dma_bandwidth", kOneDirection);
  EXPECT_NEAR(metric(report, "dma.h2d.4MiB.link_peak_percent"), 91, 1.5);
  EXPECT_NEAR(metric(report, "dma.h2d.4MiB.bandwidth_gb_per_s"), 0.91 * kLinkPeak / 2, 0.3);
}

}  // namespace
}  // namespace npu::test
