// SPDX-License-Identifier: Apache-2.0
// What kernels make ready before they work, in clocks. (Figures beside those of
// silicon: docs/accuracy.md.)
#include "kernels/device/shipped/set_up.hpp"

#include <gmock/gmock.h>

#include <vector>

#include "tests/bench/aicore/aicore_bench.hpp"

namespace npu::test {
namespace {

using platform::Tiling;
using testing::ElementsAre;

constexpr std::uint64_t kDrop = 3, kMiss = 100, kReaderTurn = 10;  // clocks of the bench's core
constexpr std::uint64_t kLines = kernels::vector::kTilingBytes / abi::kCacheLine;

// Of each in turn; the last one's fault.
struct Taken {
  std::vector<std::uint64_t> clocks;
  FaultCode fault = FaultCode::kNone;
};
Taken set_up_on(unsigned core, model::ProgramCoreKind kind,
                const std::vector<platform::SetUp>& set_ups, unsigned blocks = 1) {
  AicoreBench bench(aicore_config(kind));
  Taken taken;
  bench.at(0, [&] {
    const auto body = [&](AicorePort& port) {
      for (const auto& each : set_ups) {
        const auto begin = clocks(port);
        kernels::vector::set_up(port, each, kData);
        taken.clocks.push_back(clocks(port) - begin - kRegister);
      }
      return 0;
    };
    bench.launch(core, body, 1, 0, blocks);
  });
  bench.run();
  taken.fault = bench.ended(core).fault;
  return taken;
}
constexpr auto kCoupledCores = model::ProgramCoreKind::kCoupled;
constexpr platform::SetUp kPipe{Tiling::kArguments, true, false};

TEST(KernelSetUp, TakesWhatItsTilingCosts) {
  const auto taken = set_up_on(0, kCoupledCores,
                               {{Tiling::kNone, false, false},
                                {Tiling::kArguments, false, false},
                                {Tiling::kConstant, false, false}});
  EXPECT_THAT(taken.clocks, ElementsAre(0, 100, 300));
}

TEST(KernelSetUp, WithRunTimeTilingWaitsForEachLineOfTheStructure) {
  const auto taken = set_up_on(0, kCoupledCores, {{Tiling::kRunTime, false, false}});
  EXPECT_THAT(taken.clocks, ElementsAre(400 + kReaderTurn + kLines * (kDrop + kMiss)));
}

TEST(KernelSetUp, WithRunTimeTilingTakesATurnForEachCoreOfTheLaunch) {
  const auto taken =
      set_up_on(2, model::ProgramCoreKind::kSplit, {{Tiling::kRunTime, false, false}}, 3);
  EXPECT_THAT(taken.clocks, ElementsAre(400 + 3 * kReaderTurn + kLines * (kDrop + kMiss)));
}

// A cluster has two vector cores.
TEST(KernelSetUp, OfAMixedKernelTakesTurnsForTheOtherCoresOfClusters) {
  const auto taken =
      set_up_on(0, model::ProgramCoreKind::kSplit, {{Tiling::kNone, false, true}}, 2);
  EXPECT_THAT(taken.clocks, ElementsAre(1000 + 2 * 2 * kReaderTurn));
}

TEST(KernelSetUp, WithAPipeTakesMoreOnACubeCore) {
  const auto taken = set_up_on(0, model::ProgramCoreKind::kSplit, {kPipe});
  EXPECT_THAT(taken.clocks, ElementsAre(100 + 700));
}

TEST(KernelSetUp, WithAPipeTakesMoreOnAVectorCore) {
  const auto taken = set_up_on(2, model::ProgramCoreKind::kSplit, {kPipe});
  EXPECT_THAT(taken.clocks, ElementsAre(100 + 500));
}

TEST(KernelSetUp, OfAMixedKernelTakesMore) {
  const auto taken = set_up_on(
      0, kCoupledCores, {{Tiling::kNone, false, true}, {Tiling::kConstant, true, true}, kPipe});
  EXPECT_THAT(taken.clocks, ElementsAre(1000, 300 + 700 + 1000, 100 + 700));
}

TEST(KernelSetUp, WithAnUnknownTilingIsAnException) {
  const platform::SetUp unknown{static_cast<Tiling>(platform::kTilings), false, false};
  EXPECT_EQ(set_up_on(0, kCoupledCores, {unknown}).fault, FaultCode::kInstruction);
}

}  // namespace
}  // namespace npu::test
