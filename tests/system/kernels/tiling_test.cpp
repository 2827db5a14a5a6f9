// SPDX-License-Identifier: Apache-2.0
// What kernels make ready before they work, in clocks. (Figures beside those of
// silicon: docs/accuracy.md.)
#include "kernels/device/shipped/set_up.hpp"

#include "tests/bench/aicore/aicore_bench.hpp"

namespace npu::test {
namespace {

using platform::SetUp;
using platform::Tiling;

constexpr std::uint64_t kDrop = 3, kMiss = 100;  // clocks of the bench's core

struct Taken {
  std::uint64_t clocks = 0;
  FaultCode fault = FaultCode::kNone;
};

Taken set_up_on(unsigned core, model::ProgramCoreKind kind, const SetUp& set_up) {
  AicoreBench bench(aicore_config(kind));
  Taken taken;
  bench.at(0, [&] {
    bench.launch(core, [&](AicorePort& port) {
      const auto begin = clocks(port);
      kernels::vector::set_up(port, set_up, kData);
      taken.clocks = clocks(port) - begin - kRegister;
      return 0;
    });
  });
  bench.run();
  taken.fault = bench.ended(core).fault;
  return taken;
}
std::uint64_t set_up_clocks(const SetUp& set_up) {
  return set_up_on(0, model::ProgramCoreKind::kCoupled, set_up).clocks;
}

TEST(KernelSetUp, OfAPlainKernelTakesNothing) {
  EXPECT_EQ(set_up_clocks({}), 0U);
}

TEST(KernelSetUp, TakesWhatItsTilingCosts) {
  EXPECT_EQ(set_up_clocks({Tiling::kArguments, false, false}), 100U);
  EXPECT_EQ(set_up_clocks({Tiling::kConstant, false, false}), 300U);
}

TEST(KernelSetUp, WithRunTimeTilingWaitsForEachLineOfTheStructure) {
  constexpr std::uint64_t kLines = kernels::vector::kTilingBytes / abi::kCacheLine;
  EXPECT_EQ(set_up_clocks({Tiling::kRunTime, false, false}), 400 + kLines * (kDrop + kMiss));
}

TEST(KernelSetUp, WithAPipeTakesMoreByTheKindOfTheCore) {
  const SetUp pipe{Tiling::kArguments, true, false};
  const auto split = model::ProgramCoreKind::kSplit;
  EXPECT_EQ(set_up_on(0, split, pipe).clocks, 100U + 700U) << "cube";
  EXPECT_EQ(set_up_on(2, split, pipe).clocks, 100U + 500U) << "vector";
  EXPECT_EQ(set_up_clocks(pipe), 100U + 700U) << "coupled";
}

TEST(KernelSetUp, OfAMixedKernelTakesMore) {
  EXPECT_EQ(set_up_clocks({Tiling::kNone, false, true}), 1000U);
  EXPECT_EQ(set_up_clocks({Tiling::kConstant, true, true}), 300U + 700U + 1000U);
}

TEST(KernelSetUp, WithAnUnknownTilingIsAnException) {
  const SetUp unknown{static_cast<Tiling>(platform::kTilings), false, false};
  EXPECT_EQ(set_up_on(0, model::ProgramCoreKind::kCoupled, unknown).fault, FaultCode::kInstruction);
}

}  // namespace
}  // namespace npu::test
