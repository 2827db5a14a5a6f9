// SPDX-License-Identifier: Apache-2.0
// The parts of a latency on 910b.yaml: they add up, and do not depend on what else is measured.
#include "tests/system/workloads/simulated_run.hpp"

namespace npu::workloads {
namespace {

using Latency = WorkloadOnSimulator;

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

TEST_F(Latency, WithTheRingInHostMemoryTheEngineFetchesOverTheLink) {
  run("dma_latency", {"sizes=64", "ring=host", "iterations=1"});
  // A round trip takes at least twice the propagation of 80 ns.
  EXPECT_GT(value("dma.h2d.64B.breakdown.engine_start_ns"), 200 + 160);
  EXPECT_LT(value("dma.h2d.64B.breakdown.entry_store_ns"), 60);
}

}  // namespace
}  // namespace npu::workloads
