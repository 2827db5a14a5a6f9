// SPDX-License-Identifier: Apache-2.0
#include "npu/abi/layout.hpp"
#include "tests/system/support/machine.hpp"

namespace npu::test {
namespace {

// The workload itself compares a log of tags that any lost, doubled or overtaken command spoils;
// the card's own counters must agree with it.
void expect_nothing_lost(std::uint64_t commands, const std::string& ring) {
  Machine machine;
  const auto report =
      machine.workload("ring_pressure", {"commands=" + std::to_string(commands), "ring=" + ring});
  EXPECT_EQ(exact(report, "ring_pressure.commands"), static_cast<std::int64_t>(commands));
  EXPECT_GT(exact(report, "ring_pressure.ring_full"), 0);
  EXPECT_GT(exact(report, "ring_pressure.ring_wraps"), 4);
  const auto& card = machine.system.card(0).dma().statistics();
  EXPECT_EQ(card.commands, commands + 1) << "and the one that reads the log back";
  EXPECT_EQ(card.faults, 0u);
}

TEST(RingPressure, AMillionCommandsSurviveAFullRing) {
  expect_nothing_lost(1'000'000, "device");
}
TEST(RingPressure, ARingInHostMemoryLosesNothingEither) {
  expect_nothing_lost(50'000, "host");
}

TEST(RingPressure, GoesAroundTheRingAsOftenAsCommandsFillIt) {
  Machine machine;
  const auto report = machine.workload("ring_pressure", {"commands=40000"});
  EXPECT_EQ(exact(report, "ring_pressure.commands"), 40'000);
  EXPECT_EQ(exact(report, "ring_pressure.ring_wraps"), 9);
  EXPECT_GT(exact(report, "ring_pressure.ring_full"), 0);
}

TEST(RingPressure, TwoStreamsFillARingInHostMemory) {
  Machine machine;
  const auto report =
      machine.workload("ring_pressure", {"commands=20000", "ring=host", "streams=2"});
  EXPECT_GT(exact(report, "ring_pressure.ring_full"), 0);
}

}  // namespace
}  // namespace npu::test
