// SPDX-License-Identifier: Apache-2.0
// The kernel that takes as long as it is told.
#include "tests/bench/aicore/aicore_bench.hpp"

namespace npu::test {
namespace {

constexpr std::uint64_t kWord = 0x30'0000;

class Spin : public testing::Test {
 protected:
  Spin() { bench_.upload("spin", kOtherImage); }
  // Clocks from the launch to its report.
  SimTime run(std::uint64_t clocks) {
    bench_.memory.store(kWord, clocks);
    const auto begin = model::sim_now();
    bench_.at(begin, [this] { bench_.launch_image(0, kOtherImage, kWord); });
    bench_.run();
    EXPECT_EQ(bench_.ended(0).fault, FaultCode::kNone);
    return (bench_.ended(0).when - begin) / kClock;
  }
  AicoreBench bench_;
};

TEST_F(Spin, TakesAsManyClocksAsItIsTold) {
  run(0);  // the core keeps the image
  const auto nothing = run(0);
  EXPECT_EQ(run(1) - nothing, 1U);
  EXPECT_EQ(run(10'000) - nothing, 10'000U);
  const std::uint64_t long_one = (std::uint64_t{5} << 30) + 7;  // more than one instruction's
  EXPECT_EQ(run(long_one) - nothing, long_one);
}

TEST_F(Spin, EndsWhenItIsStopped) {
  bench_.memory.store(kWord, std::uint64_t{1} << 40);
  bench_.at(0, [this] { bench_.launch_image(0, kOtherImage, kWord, 7); });
  bench_.at(5000 * kClock, [this] { bench_.cores.stop(7); });
  bench_.run();
  EXPECT_LT(bench_.ended(0).when, 6000 * kClock);
}

}  // namespace
}  // namespace npu::test
