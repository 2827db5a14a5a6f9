// SPDX-License-Identifier: Apache-2.0
// Copies between dies of a super node: the link between two dies of a card, and switches.
#include "tests/system/support/machine.hpp"

namespace npu::test {
namespace {

const std::string kSuperNode = "system-16x910c.yaml";

double counter(const reports::Report& report, const std::string& name) {
  for (const auto& each : report.counters()) {
    if (each.name == name) return static_cast<double>(each.value.value());
  }
  ADD_FAILURE() << "no counter " << name;
  return 0;
}

// Of four dies 0 and 1 are one card, 2 and 3 another: a ring goes over both links and the switch.
TEST(Fabric, ARingOfDiesUsesTheirLinksAndTheSwitch) {
  Machine machine({}, kSuperNode);
  const auto report = machine.workload("p2p_bandwidth", {"cards=4", "patterns=ring", "sizes=2MiB",
                                                         "operations=write", "verify=2MiB"});
  const std::string figures = "p2p_bandwidth.ring.write.2MiB.";
  EXPECT_LT(metric(report, figures + "slowest_gb_per_s"), 196.0);
  EXPECT_GT(metric(report, figures + "slowest_gb_per_s"), 0.7 * 196.0);
  EXPECT_LE(metric(report, figures + "fastest_gb_per_s"), 270.0);
  EXPECT_EQ(metric(report, "p2p_bandwidth.bytes_compared"), 4.0 * 2 * 1024 * 1024);
  // 8 MiB of the ring's copies at each link that it uses; card 0's latency copies go to card 1.
  EXPECT_EQ(counter(report, "fabric_card1_l1sw0.up.bytes"), 8.0 * 1024 * 1024);
  EXPECT_EQ(counter(report, "fabric_card2_l1sw0.down.bytes"), 8.0 * 1024 * 1024);
  EXPECT_EQ(counter(report, "fabric_card0_l1sw0.up.bytes"), 0.0);
  EXPECT_GT(counter(report, "fabric_card1_l1sw0.up.busy_ns"), 8.0 * 1024 * 1024 / 196);
  EXPECT_GT(counter(report, "hccs0_1.up.bytes"), 8.0 * 1024 * 1024);
}

// The driver knows nothing of it: the card at the other end is still a peer.
TEST(Fabric, WithTheLinkBetweenTheDiesDownCopiesTakeTheSwitch) {
  Machine machine({}, kSuperNode);
  const auto link = machine.system.hccs().plan().link_named("hccs0_1");
  ASSERT_TRUE(link);
  machine.system.hccs().set_up(*link, false);
  const auto report = machine.workload(
      "p2p_bandwidth", {"patterns=one_way", "sizes=2MiB", "operations=read", "verify=2MiB"});
  EXPECT_LT(metric(report, "p2p_bandwidth.one_way.read.2MiB.bandwidth_gb_per_s"), 196.0);
  EXPECT_EQ(counter(report, "hccs0_1.up.bytes") + counter(report, "hccs0_1.down.bytes"), 0.0);
  EXPECT_GE(counter(report, "fabric_card0_l1sw0.up.bytes"), 8.0 * 1024 * 1024);
}

}  // namespace
}  // namespace npu::test
