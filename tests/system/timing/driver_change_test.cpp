// SPDX-License-Identifier: Apache-2.0
// dma_latency measures drivers other than the one in this repository: more register accesses,
// barriers and doorbells around a submission. The latency moves by what they cost, wherever the
// waiter's polls happen to fall.
#include "tests/system/support/machine.hpp"
#include "tests/system/timing/changed_platform.hpp"

namespace npu::test {
namespace {

// The request of 24 bytes and the completion of 28 on 16 lanes of generation 4, every hop there and
// back, and the register.
std::int64_t cost_of_a_read(const model::SystemConfig& system) {
  const auto& endpoint = system.cards[0].endpoint;
  const auto& link = system.cards[0].link;
  const std::int64_t wires = (24 * 65'000 + 2047) / 2048 + (28 * 65'000 + 2047) / 2048;
  return system.cpu.mmio_load.count() + 2 * system.root_complex.latency.count() + wires +
         2 * link.propagation.count() + endpoint.ingress.count() + endpoint.register_access.count();
}

// Copies of 64 bytes to the host by the driver as it is and by one with the change, on one machine.
class DriverChange : public testing::TestWithParam<const char*> {
 protected:
  static constexpr double kHbmClock = 834;  // ps, rounded up; HBM2E at 1.2 GHz

  // Moves the latency by `cost`, but for the phase at which the HBM's clock is met. The least one
  // is that of a copy that met no refresh and no closed row, of which a median may have some.
  void expect_cost(Change change, std::int64_t cost) {
    const auto plain = measure(Change::kNone);
    const auto changed = measure(change);
    EXPECT_NEAR(static_cast<double>(exact(changed, "dma.d2h.64B.latency_min_ns")),
                static_cast<double>(exact(plain, "dma.d2h.64B.latency_min_ns") + cost), kHbmClock);
    // What the CPU and the link do has no such phase.
    EXPECT_EQ(on_the_way(changed), on_the_way(plain) + cost);
  }
  reports::Report measure(Change change) {
    machine_.decorate = [this, change](platform::Platform& host) -> platform::Platform& {
      changed_ = std::make_unique<ChangedPlatform>(host, change);
      return *changed_;
    };
    return machine_.workload("dma_latency",
                             {"sizes=64", "directions=d2h", std::string("ring=") + GetParam()});
  }
  static std::int64_t on_the_way(const reports::Report& report) {
    return exact(report, "dma.d2h.64B.breakdown.entry_store_ns") +
           exact(report, "dma.d2h.64B.breakdown.doorbell_ns");
  }

  std::unique_ptr<ChangedPlatform> changed_;
  Machine machine_;
};

TEST_P(DriverChange, AReadBeforeTheDoorbellCostsARoundTrip) {
  expect_cost(Change::kReadBeforeDoorbell, cost_of_a_read(machine_.config()));
}
TEST_P(DriverChange, TwoReadsBeforeTheDoorbellCostTwo) {
  expect_cost(Change::kTwoReadsBeforeDoorbell, 2 * cost_of_a_read(machine_.config()));
}
TEST_P(DriverChange, AReadBehindTheDoorbellCostsTheCommandNothing) {
  expect_cost(Change::kReadAfterDoorbell, 0);
}
TEST_P(DriverChange, ASecondDoorbellCostsTheCommandNothing) {
  expect_cost(Change::kDoorbellTwice, 0);
}
TEST_P(DriverChange, ABarrierCostsItself) {
  expect_cost(Change::kBarriers, machine_.config().cpu.barrier.count());
}
TEST_P(DriverChange, PartsAndWaitAddUpToTheCall) {
  for (const auto change :
       {Change::kReadBeforeDoorbell, Change::kReadAfterDoorbell, Change::kDoorbellTwice}) {
    const auto report = measure(change);
    std::int64_t sum = 0;
    for (const auto& metric : report.metrics()) {
      if (metric.name.find(".breakdown.") != std::string::npos) sum += metric.value.value();
    }
    EXPECT_EQ(sum, exact(report, "dma.d2h.64B.call_ns"));
  }
}

INSTANTIATE_TEST_SUITE_P(Rings, DriverChange, testing::Values("device", "host"),
                         [](const auto& ring) { return std::string(ring.param); });

}  // namespace
}  // namespace npu::test
