// SPDX-License-Identifier: Apache-2.0
// A one-shot all-reduce of two ranks by arithmetic on the configuration.
#include "tests/system/support/machine.hpp"

namespace npu::test {
namespace {

// ns of one operation of two ranks.
double time_of(const reports::Report& report, const std::string& operation,
               const std::string& size) {
  return 1000 * metric(report, "collective." + operation + ".one_shot.fp32." + size + ".time_us");
}

TEST(CollectiveTiming, AOneShotIsMadeOfItsTransfer) {
  Machine machine({}, "system-2x910b2.yaml");
  const auto report =
      machine.workload("collective", {"op=all_reduce,all_gather", "sizes=64,128,128KiB,384KiB",
                                      "algorithm=one_shot", "iterations=10"});
  const auto& chip = machine.chip();
  const auto ns = [](Picoseconds time) { return static_cast<double>(time.count()) / 1000; };
  const double small = time_of(report, "all_reduce", "64B");
  // Two records and a read each need a way there and one back before what follows; the records to
  // the own streams, decoding and the HBM come on top.
  const double least = ns(chip.dma.engine_setup) + ns(chip.hccs.command_setup) +
                       ns(chip.dma.reduce_setup) +
                       6 * (ns(chip.hccs.propagation) + ns(chip.hccs.ingress));
  EXPECT_GT(small, least);
  EXPECT_LT(small, least + 1500);
  // The same without the reduction: its setup, and the HBM's read of the destination.
  const double gathered = time_of(report, "all_gather", "128B");
  EXPECT_GT(small - gathered, ns(chip.dma.reduce_setup));
  EXPECT_LT(small - gathered, ns(chip.dma.reduce_setup) + 200);
  // 256 KiB more: on the wire with the packets' overhead, and two copies on the card, each read and
  // written by one engine.
  const double bytes = 262144;
  const double packets = 1 + static_cast<double>(chip.hccs.packet_overhead) /
                                 static_cast<double>(chip.hccs.packet_payload);
  const double expected = bytes * packets / (static_cast<double>(chip.hccs.rate) / 1e9) +
                          4 * bytes / (static_cast<double>(chip.dma.engine_rate) / 1e9);
  const double more =
      time_of(report, "all_reduce", "384KiB") - time_of(report, "all_reduce", "128KiB");
  EXPECT_NEAR(more, expected, 0.03 * expected);
}

}  // namespace
}  // namespace npu::test
