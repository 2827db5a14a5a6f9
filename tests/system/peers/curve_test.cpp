// SPDX-License-Identifier: Apache-2.0
// Copies between two A2 cards against the published block-size curve, and what ring and all-to-all
// traffic get of the links.
#include "tests/system/support/machine.hpp"

namespace npu::test {
namespace {

struct Published {
  const char* id;  // of docs/accuracy/rows.csv
  const char* operation;
  const char* size;
  double gb_per_s;
};

// "A2 (910B) single machine, HCCS hixl_cs": D2rD is a write to the other card, rD2D a read.
constexpr Published kCurve[] = {
    {"A0490", "write", "16KiB", 8.903},
    {"A0491", "read", "16KiB", 10.265},
    {"A0496", "write", "2MiB", 20.284},
    {"A0497", "read", "2MiB", 26.814},
};

TEST(PeerCurve, IsWithinFifteenPercentOfThePublishedOne) {
  Machine machine({}, "system-2x910b2.yaml");
  const auto report =
      machine.workload("p2p_bandwidth", {"sizes=16KiB,2MiB", "patterns=one_way", "bytes=16MiB"});
  for (const auto& point : kCurve) {
    const auto name = std::string("p2p_bandwidth.one_way.") + point.operation + "." + point.size +
                      ".bandwidth_gb_per_s";
    EXPECT_NEAR(metric(report, name), point.gb_per_s, 0.15 * point.gb_per_s) << point.id;
  }
}

// A curve out of mechanisms has no steps: every doubling of the size is faster, and never more than
// twice as fast.
TEST(PeerCurve, RisesWithTheSize) {
  Machine machine({}, "system-2x910b2.yaml");
  const auto report = machine.workload(
      "p2p_bandwidth", {"sizes=4KiB..4MiB", "patterns=one_way", "bytes=8MiB", "verify=64KiB"});
  for (const std::string operation : {"write", "read"}) {
    double before = 0;
    for (const auto* size : {"4KiB", "8KiB", "16KiB", "32KiB", "64KiB", "128KiB", "256KiB",
                             "512KiB", "1MiB", "2MiB", "4MiB"}) {
      const auto now =
          metric(report, "p2p_bandwidth.one_way." + operation + "." + size + ".bandwidth_gb_per_s");
      EXPECT_GT(now, before) << operation << " " << size;
      EXPECT_LE(now, before == 0 ? now : 2 * before) << operation << " " << size;
      before = now;
    }
  }
}

// Reads of large blocks are limited by the wire, writes by what may be outstanding.
TEST(PeerCurve, TheReportNamesTheWireAsTheLimitOfReadsOnly) {
  Machine machine({}, "system-2x910b2.yaml");
  const auto report =
      machine.workload("p2p_bandwidth", {"sizes=4MiB", "patterns=one_way", "bytes=16MiB"});
  EXPECT_GT(metric(report, "p2p_bandwidth.one_way.read.4MiB.link_busy_percent"), 97.0);
  EXPECT_LT(metric(report, "p2p_bandwidth.one_way.write.4MiB.link_busy_percent"), 80.0);
}

TEST(PeerCurve, DirectionsDoNotShareAWire) {
  Machine machine({}, "system-2x910b2.yaml");
  const auto report = machine.workload("p2p_bandwidth",
                                       {"sizes=1MiB", "patterns=one_way,both_ways", "bytes=16MiB"});
  for (const std::string operation : {"write", "read"}) {
    const auto one =
        metric(report, "p2p_bandwidth.one_way." + operation + ".1MiB.bandwidth_gb_per_s");
    const auto both =
        metric(report, "p2p_bandwidth.both_ways." + operation + ".1MiB.bandwidth_gb_per_s");
    EXPECT_GT(both, 1.8 * one) << operation;
    EXPECT_LE(both, 2.0 * one * 1.001) << operation;
  }
}

// Reads outstanding cover the round trip, so that the link is what limits them: 28 GB/s of which
// 512 of 528 bytes are data.
TEST(PeerCurve, RingTransfersAreEquallyFast) {
  Machine machine({}, "system-8x910b.yaml");
  const auto report = machine.workload(
      "p2p_bandwidth",
      {"sizes=1MiB", "patterns=ring", "operations=read", "cards=8", "bytes=4MiB", "verify=256KiB"});
  const auto slowest = metric(report, "p2p_bandwidth.ring.read.1MiB.slowest_gb_per_s");
  const auto fastest = metric(report, "p2p_bandwidth.ring.read.1MiB.fastest_gb_per_s");
  EXPECT_GT(slowest, 0.97 * fastest);
  EXPECT_LT(fastest, 28.0 * 512 / 528);
}

// All to all with `cards` cards: the slowest transfer's part of what the fastest gets.
double fairness(const std::string& cards, const std::string& operation) {
  Machine machine({}, "system-8x910b.yaml");
  const auto report = machine.workload(
      "p2p_bandwidth", {"sizes=256KiB", "patterns=all_to_all", "operations=" + operation,
                        "cards=" + cards, "bytes=4MiB", "depth=4", "verify=0"});
  const auto prefix = "p2p_bandwidth.all_to_all." + operation + ".256KiB.";
  return metric(report, prefix + "slowest_gb_per_s") / metric(report, prefix + "fastest_gb_per_s");
}
// Every transfer has a link and an engine of its own.
TEST(PeerCurve, FourTransfersOutOfEveryCardAreEquallyFast) {
  EXPECT_GT(fairness("5", "write"), 0.95);
}
// Seven on four engines: one or two each.
TEST(PeerCurve, OfSevenTransfersOutOfEveryCardNoneGetsLessThanHalfOfAnother) {
  EXPECT_GT(fairness("8", "read"), 0.5 * 0.95);
}

// Seven transfers out of every card: its four engines are what they share.
TEST(PeerCurve, AllToAllMovesEverything) {
  Machine machine({}, "system-8x910b.yaml");
  const auto report = machine.workload("p2p_bandwidth", {"sizes=256KiB", "patterns=all_to_all",
                                                         "cards=8", "bytes=1MiB", "verify=1MiB"});
  EXPECT_EQ(exact(report, "p2p_bandwidth.bytes_compared"), 2 * 56 * std::int64_t{1_MiB});
  for (const std::string operation : {"write", "read"}) {
    const auto all =
        metric(report, "p2p_bandwidth.all_to_all." + operation + ".256KiB.bandwidth_gb_per_s");
    EXPECT_GT(all, 250.0) << operation;
    EXPECT_LT(all, 8 * 7 * 28.0) << operation;
  }
}

}  // namespace
}  // namespace npu::test
