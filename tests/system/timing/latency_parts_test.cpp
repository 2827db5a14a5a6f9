// SPDX-License-Identifier: Apache-2.0
// entry_store, doorbell and engine_start of requirements.md M3, and how they move with the
// configuration.
#include "tests/system/support/machine.hpp"
#include "tests/system/support/wire_time.hpp"
#include "tools/reports/report_json.hpp"

namespace npu::test {
namespace {

using Overrides = std::vector<std::string>;

// A posted memory write (PCIe 2.2.4.1: four double words of header above 4 GiB, three below).
std::int64_t write_bytes(const model::LinkConfig& link, bool above_4g, std::int64_t payload) {
  return (above_4g ? 16 : 12) + static_cast<std::int64_t>(link.tlp_framing + link.dllp_per_tlp) +
         payload;
}

struct Parts {
  std::int64_t entry_store, doorbell, engine_start;
};

// From submit() called: four stores of 8 bytes into the write combining buffer and the barrier,
// then the entry's TLP; the doorbell's store leaves the core mmio_store later and its TLP cannot
// start before the entry's has left.
Parts expected(const model::SystemConfig& system) {
  const auto& link = system.cards[0].link;
  const auto& cpu = system.cpu;
  const std::int64_t entry_left = 4 * cpu.wc_store.count() + cpu.barrier.count();
  const std::int64_t to_link = system.root_complex.latency.count();
  const std::int64_t flight = link.propagation.count() + system.cards[0].endpoint.ingress.count();
  const std::int64_t entry_sent = entry_left + to_link + wire(link, write_bytes(link, true, 32));
  const std::int64_t bell_start =
      std::max(entry_left + cpu.mmio_store.count() + to_link, entry_sent);
  const std::int64_t bell_sent = bell_start + wire(link, write_bytes(link, false, 4));
  return {entry_sent + flight, bell_sent - entry_sent, 0};
}

Parts measured(const reports::Report& report, const std::string& copy = "dma.h2d.64B") {
  return {exact(report, copy + ".breakdown.entry_store_ns"),
          exact(report, copy + ".breakdown.doorbell_ns"),
          exact(report, copy + ".breakdown.engine_start_ns")};
}

TEST(LatencyParts, EntryStoreDoorbellAndEngineStartAreThoseOfTheMission) {
  Machine machine;
  const auto report = machine.workload("dma_latency", {"sizes=64,4KiB", "iterations=9"});
  for (const std::string copy : {"dma.h2d.64B", "dma.h2d.4KiB", "dma.d2h.64B", "dma.d2h.4KiB",
                                 "dma.d2d.64B", "dma.d2d.4KiB"}) {
    const auto parts = measured(report, copy);
    EXPECT_NEAR(static_cast<double>(parts.entry_store), 150'000, 1'500) << copy;
    EXPECT_NEAR(static_cast<double>(parts.doorbell), 30'000, 300) << copy;
    EXPECT_NEAR(static_cast<double>(parts.engine_start), 200'000, 2'000) << copy;
  }
}

// The closed form in figures: those of configs/host.yaml and 910b.yaml, typed by hand.
TEST(LatencyParts, AreWhatTheShippedFiguresMake) {
  const auto system = load("910b.yaml");
  const auto parts = expected(system);
  const std::int64_t entry = wire(system.cards[0].link, 8 + 16 + 32 + 4);
  const std::int64_t bell = wire(system.cards[0].link, 8 + 12 + 4 + 4);
  EXPECT_EQ(parts.entry_store, 4 * 1'500 + 12'000 + 25'000 + entry + 80'000 + 25'000);
  EXPECT_EQ(parts.doorbell, 31'000 + bell - entry);
}

struct Changed {
  const char* name;
  Overrides overrides;
  friend std::ostream& operator<<(std::ostream& out, const Changed& key) { return out << key.name; }
};

class LatencyPartsWith : public testing::TestWithParam<Changed> {};

TEST_P(LatencyPartsWith, FollowTheConfiguration) {
  Machine machine(GetParam().overrides);
  const auto report =
      machine.workload("dma_latency", {"sizes=64", "directions=h2d", "iterations=3"});
  const auto parts = measured(report);
  const auto form = expected(machine.config());
  EXPECT_EQ(parts.entry_store, form.entry_store);
  EXPECT_EQ(parts.doorbell, form.doorbell);
  // The ring is in device memory: the link has no part in it. It is read from HBM, whose clock
  // (0.83 ns) and refreshes it meets at another phase.
  EXPECT_NEAR(static_cast<double>(parts.engine_start), 200'000, 2'000);
}

INSTANTIATE_TEST_SUITE_P(
    Keys, LatencyPartsWith,
    testing::Values(Changed{"TheShippedConfiguration", {}},
                    Changed{"Generation1", {"link.generation=1"}},
                    Changed{"Generation2", {"link.generation=2"}},
                    Changed{"Generation3", {"link.generation=3"}},
                    Changed{"Generation5", {"link.generation=5"}},
                    Changed{"OneLane", {"link.lanes=1"}}, Changed{"EightLanes", {"link.lanes=8"}},
                    Changed{"DoorbellBehindTheEntry", {"link.generation=1", "link.lanes=1"}},
                    Changed{"Propagation", {"link.propagation_ns=123.456"}},
                    Changed{"LongPropagation", {"link.propagation_ns=500"}},
                    Changed{"EndpointIngress", {"endpoint.ingress_ns=41"}},
                    Changed{"TheCostOfAStore", {"cpu.mmio_store_ns=77"}},
                    Changed{"TheRootComplex", {"root_complex.latency_ns=60"}}),
    [](const auto& one) { return std::string(one.param.name); });

// A read of one ring entry in host memory: request over, completion back, at every hop its
// latency. Bus addresses lie above 4 GiB. One completion of 32 bytes (3 double words of header).
std::int64_t host_read(const model::SystemConfig& system) {
  const auto& chip = system.cards[0];
  const auto& link = chip.link;
  const std::int64_t overhead = static_cast<std::int64_t>(link.tlp_framing + link.dllp_per_tlp);
  const auto& memory = system.memory;
  return chip.endpoint.egress.count() + wire(link, overhead + 16) + link.propagation.count() +
         system.root_complex.latency.count() + memory.iommu_lookup.count() +
         memory.read_latency.count() + system.root_complex.latency.count() +
         wire(link, overhead + 12 + 32) + link.propagation.count() + chip.endpoint.ingress.count();
}

void expect_round_trip_in_engine_start(const Overrides& overrides) {
  Machine machine(overrides);
  const auto report =
      machine.workload("dma_latency", {"sizes=64", "directions=d2d", "iterations=3", "ring=host"});
  const auto& dma = machine.chip().dma;
  EXPECT_EQ(measured(report, "dma.d2d.64B").engine_start,
            dma.doorbell_decode.count() + host_read(machine.config()) +
                dma.descriptor_decode.count() + dma.engine_setup.count());
}

TEST(LatencyParts, ARingInHostMemoryCostsARoundTrip) {
  expect_round_trip_in_engine_start({});
}
TEST(LatencyParts, ARingInHostMemoryCostsARoundTripOfASlowLink) {
  expect_round_trip_in_engine_start({"link.generation=2", "link.propagation_ns=300"});
}

TEST(LatencyParts, AddUpExactlyAndAsPrinted) {
  Machine machine;
  const auto report = machine.workload("dma_latency", {"iterations=1"});
  ASSERT_EQ(report.breakdowns().size(), 3u * 15u) << "three directions, 64 B to 1 MiB";
  for (const auto& row : report.breakdowns()) {
    Picoseconds sum;
    for (const auto& part : row.parts) sum += part.time;
    EXPECT_EQ(sum, row.total());
    EXPECT_TRUE(row.wait);
  }
  const std::vector<std::string> parts{"entry_store", "doorbell",   "engine_start",
                                       "data",        "completion", "wait"};
  const std::string json = reports::to_json(report);
  for (const std::string direction : {"h2d", "d2h", "d2d"}) {
    for (Bytes size = 64; size <= 1_MiB; size *= 2) {
      const std::string copy = "dma." + direction + "." + reports::size_name(size);
      std::int64_t sum = 0;
      for (const auto& part : parts) sum += exact(report, copy + ".breakdown." + part + "_ns");
      EXPECT_EQ(sum, exact(report, copy + ".call_ns")) << copy;
      EXPECT_EQ(sum - exact(report, copy + ".breakdown.wait_ns"),
                exact(report, copy + ".latency_ns"))
          << copy;
      EXPECT_NE(json.find("\"" + copy + ".latency_ns\""), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace npu::test
