// SPDX-License-Identifier: Apache-2.0
// What a program does is written down for the phase that it has said it is in.
#include "tests/bench/aicpu/aicpu_bench.hpp"

namespace npu::test {
namespace {

using platform::AicpuPhase;

const model::AicpuWork& of(const model::AicpuStatistics& all, AicpuPhase phase) {
  return all.phases[static_cast<std::size_t>(phase)];
}

TEST(Phases, HaveWhatWasDoneInThemAndTogetherAllOfIt) {
  AicpuBench bench;
  bench.run_program([](AicpuPort& port) {
    port.phase(AicpuPhase::kWiring);
    port.load(kDataAt, 8);
    port.phase(AicpuPhase::kDispatch, 3);
    for (int i = 0; i < 3; ++i) port.load(kDataAt, 8);
    port.store(kDataAt + 64, 8, 1);
    port.phase(AicpuPhase::kDispatch, 4);
    port.load(kDataAt + 128, 8);
    port.store_register(0, abi::DataMainBase::kOffset, 1);
    port.phase(AicpuPhase::kComplete, 4);
    port.load_register(0, abi::Cond::kOffset);
    port.fetch_add(kDataAt + 192, 4, 1);
    return 0;
  });

  const auto all = bench.programs.statistics();
  EXPECT_EQ(of(all, AicpuPhase::kWiring).loads, 1U);
  EXPECT_EQ(of(all, AicpuPhase::kWiring).misses, 1U);
  const auto& dispatch = of(all, AicpuPhase::kDispatch);
  EXPECT_EQ(dispatch.loads, 4U);
  EXPECT_EQ(dispatch.misses, 1U);
  EXPECT_EQ(dispatch.stores, 1U);
  EXPECT_EQ(dispatch.register_stores, 1U);
  EXPECT_EQ(of(all, AicpuPhase::kComplete).register_loads, 1U);
  EXPECT_EQ(of(all, AicpuPhase::kComplete).atomics, 1U);
  model::AicpuWork sum;
  for (const auto& phase : all.phases) sum += phase;
  EXPECT_EQ(sum.loads, all.loads);
  EXPECT_EQ(sum.misses, all.misses);
  EXPECT_EQ(sum.stores, all.stores);
  EXPECT_EQ(sum.atomics, all.atomics);
  EXPECT_EQ(sum.register_loads, all.register_loads);
  EXPECT_EQ(sum.register_stores, all.register_stores);
}

TEST(Phases, OfASecondRunComeToThoseOfTheFirst) {
  AicpuBench bench;
  const Program program = [](AicpuPort& port) {
    port.phase(AicpuPhase::kDrain);
    port.store(kDataAt, 8, 1);
    return 0;
  };
  bench.run_program(program);
  bench.run_program(program);
  EXPECT_EQ(of(bench.programs.statistics(), AicpuPhase::kDrain).stores, 2U);
}

}  // namespace
}  // namespace npu::test
