// SPDX-License-Identifier: Apache-2.0
// The parts of a latency on 910b.yaml against the figures of requirements.md M3 and against closed
// forms.
#include <cmath>

#include "tests/system/workloads/simulated_run.hpp"

namespace npu::workloads {
namespace {

using Latency = WorkloadOnSimulator;

const std::vector<std::string> kSmall{"sizes=64,4KiB", "iterations=9"};

// What crosses the link for a submission, from configs/910b.yaml: framing 8 and DLLPs 4 per TLP;
// the entry has a 4-dword header (BAR2 lies above 4 GiB) and 32 bytes, the doorbell a 3-dword
// header and 4 bytes.
constexpr double kEntryWireBytes = 8 + 16 + 32 + 4;
constexpr double kDoorbellWireBytes = 8 + 12 + 4 + 4;

// Picoseconds on the wire at `gigatransfers` per second and lane, 128b/130b encoded.
double wire(double bytes, double gigatransfers, double lanes) {
  return bytes * 8 * 1000 / (gigatransfers * lanes * 128 / 130);
}

// Stores, barrier, root complex, wire, propagation, endpoint: configs/host.yaml and 910b.yaml.
double entry_store(double gigatransfers, double lanes, double propagation) {
  return 4 * 1'500 + 12'000 + 25'000 + wire(kEntryWireBytes, gigatransfers, lanes) + propagation +
         25'000;
}

// The doorbell leaves one store after the entry and takes the same way.
double doorbell(double gigatransfers, double lanes) {
  return 31'000 + wire(kDoorbellWireBytes, gigatransfers, lanes) -
         wire(kEntryWireBytes, gigatransfers, lanes);
}

TEST_F(Latency, HasTheMissionsReferenceCosts) {
  run("dma_latency", kSmall);
  for (const auto* copy : {"h2d.64B", "h2d.4KiB", "d2h.64B", "d2h.4KiB", "d2d.64B", "d2d.4KiB"}) {
    const std::string prefix = std::string("dma.") + copy + ".breakdown.";
    EXPECT_NEAR(value(prefix + "entry_store_ns"), 150, 1.5) << copy;
    EXPECT_NEAR(value(prefix + "doorbell_ns"), 30, 0.3) << copy;
    EXPECT_NEAR(value(prefix + "engine_start_ns"), 200, 2) << copy;
  }
}

TEST_F(Latency, PartsAddUpToThePicosecond) {
  run("dma_latency", {"sizes=64..64KiB", "iterations=2"});
  for (const auto& metric : report_.metrics()) {
    const auto at = metric.name.find(".call_ns");
    if (at == std::string::npos) continue;
    const auto prefix = metric.name.substr(0, at) + ".breakdown.";
    std::int64_t sum = 0;
    for (const auto& part : report_.metrics()) {
      if (part.name.rfind(prefix, 0) == 0) sum += part.value.value();
    }
    EXPECT_EQ(sum, metric.value.value()) << metric.name;
  }
}

// Refreshes hold single copies up; the figure of a size is of the same phases of them whatever
// other sizes are asked for.
TEST_F(Latency, GrowsWithTheSize) {
  const std::string data = ".breakdown.data_ns";
  run("dma_latency", {"sizes=64..1MiB", "directions=h2d,d2d"}, {}, "910b2.yaml");
  for (const std::string direction : {"dma.h2d.", "dma.d2d."}) {
    std::int64_t smaller = 0;
    for (Bytes size = 64; size <= 1_MiB; size *= 2) {
      const auto found = digits(direction + size_name(size) + data);
      EXPECT_GE(found, smaller - 2'500) << direction << size;  // four clocks of the memory
      smaller = found;
    }
  }
}

// A size among others, then the same size once more behind yet others: the list is gone through in
// order, so that its second figure has another past.
TEST_F(Latency, OfASizeDoesNotDependOnOtherSizes) {
  run("dma_latency", {"sizes=4KiB,1KiB,2KiB,64KiB,4KiB", "directions=d2d"}, {}, "910b2.yaml");
  std::vector<double> found;
  for (const auto& metric : report_.metrics()) {
    if (metric.name == "dma.d2d.4KiB.breakdown.data_ns") {
      found.push_back(std::stod(metric.value.text()));
    }
  }
  ASSERT_EQ(found.size(), 2U);
  EXPECT_NEAR(found[0], found[1], 2.5) << "four clocks of the memory";
}

class LatencyOverLinks : public WorkloadOnSimulator {
 protected:
  void check(const std::string& overridden, double gigatransfers, double lanes,
             double propagation) {
    run("dma_latency", {"sizes=64", "directions=h2d", "iterations=1"}, {overridden});
    const std::string prefix = "dma.h2d.64B.breakdown.";
    EXPECT_NEAR(static_cast<double>(digits(prefix + "entry_store_ns")),
                entry_store(gigatransfers, lanes, propagation), 2);
    EXPECT_NEAR(static_cast<double>(digits(prefix + "doorbell_ns")), doorbell(gigatransfers, lanes),
                2);
  }
};

TEST_F(LatencyOverLinks, Generation3) {
  check("link.generation=3", 8, 16, 80'000);
}
TEST_F(LatencyOverLinks, Generation5) {
  check("link.generation=5", 32, 16, 80'000);
}
TEST_F(LatencyOverLinks, OneLane) {
  check("link.lanes=1", 16, 1, 80'000);
}
TEST_F(LatencyOverLinks, LongPropagation) {
  check("link.propagation_ns=500", 16, 16, 500'000);
}

TEST_F(Latency, WithTheRingInHostMemoryTheEngineFetchesOverTheLink) {
  run("dma_latency", {"sizes=64", "ring=host", "iterations=1"});
  // A round trip takes at least twice the propagation of 80 ns.
  EXPECT_GT(value("dma.h2d.64B.breakdown.engine_start_ns"), 200 + 160);
  EXPECT_LT(value("dma.h2d.64B.breakdown.entry_store_ns"), 60);
}

}  // namespace
}  // namespace npu::workloads
