// SPDX-License-Identifier: Apache-2.0
// What kernels of large libraries do before their first copy, in clocks. (Figures beside those of
// silicon: docs/accuracy.md.)
#include "kernels/device/shipped/set_up.hpp"

#include "tests/bench/aicore/aicore_bench.hpp"

namespace npu::test {
namespace {

using kernels::vector::Tiling;

constexpr std::uint64_t kDrop = 3, kMiss = 100;  // clocks of the bench's core

std::uint64_t set_up_clocks(Tiling tiling) {
  AicoreBench bench;
  std::uint64_t clocks_taken = 0;
  bench.run_one([&](AicorePort& port) {
    const auto begin = clocks(port);
    kernels::vector::set_up(port, tiling, kData);
    clocks_taken = clocks(port) - begin - kRegister;
    return 0;
  });
  return clocks_taken;
}

TEST(KernelSetUp, OfASmallKernelTakesNothing) {
  EXPECT_EQ(set_up_clocks(Tiling::kArguments), 0U);
}

TEST(KernelSetUp, WithConstantTilingIsInstructionsAlone) {
  EXPECT_EQ(set_up_clocks(Tiling::kConstant), kernels::vector::kSetUpClocks);
}

TEST(KernelSetUp, WithRunTimeTilingWaitsForEachLineOfTheStructure) {
  constexpr std::uint64_t kLines = kernels::vector::kTilingBytes / abi::kCacheLine;
  EXPECT_EQ(set_up_clocks(Tiling::kRunTime),
            kernels::vector::kSetUpClocks + kLines * (kDrop + kMiss));
}

}  // namespace
}  // namespace npu::test
