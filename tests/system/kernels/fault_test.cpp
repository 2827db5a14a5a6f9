// SPDX-License-Identifier: Apache-2.0
// Every kernel that npusim carries, ended at many instants of its run: no simulator ends with it,
// and the core runs the kernel anew from begin to end. NPU_FAULT_INSTANTS=1000 for more of them.
#include <algorithm>
#include <cstdlib>

#include "tests/bench/aicore/aicore_bench.hpp"
#include "tests/system/kernels/shipped_kernels.hpp"

namespace npu::test {
namespace {

constexpr std::uint64_t kTaskAt = 0x30'0000;
constexpr SimTime kSlot = 10'000'000 * kClock;  // longer than a kernel and all its accesses take

class ShippedKernel : public testing::TestWithParam<Shipped> {
 protected:
  static unsigned instants() {
    const char* const wanted = std::getenv("NPU_FAULT_INSTANTS");
    return wanted == nullptr ? 30 : static_cast<unsigned>(std::atoi(wanted));
  }
  ShippedKernel() {
    const auto& words = GetParam().words;
    bench_.upload(GetParam().name, kOtherImage);
    for (std::size_t i = 0; i < words.size(); ++i) bench_.memory.store(kTaskAt + 8 * i, words[i]);
  }
  // The kernel in a slot of time of its own, with `disturb` `after` its begin; how it ended.
  AicoreBench::Ended run(SimTime after, const std::function<void()>& disturb) {
    begin_ = ++slots_ * kSlot;
    bench_.at(begin_, [this] { bench_.launch_image(0, kOtherImage, kTaskAt, slots_); });
    bench_.at(begin_ + after, disturb);
    bench_.run();
    return bench_.has_ended(0) ? bench_.ended(0) : AicoreBench::Ended{};
  }
  void expect_whole() {
    const auto end = run(1, [] {});
    ASSERT_GT(end.when, begin_) << "the core is lost";
    ASSERT_EQ(end.fault, FaultCode::kNone);
  }
  // `disturb` at instants from the kernel's launch to its end, and what comes of it.
  void at_every_instant(const std::function<void()>& disturb,
                        const std::function<void(const AicoreBench::Ended&)>& look) {
    expect_whole();
    const SimTime duration = bench_.ended(0).when - begin_;
    for (unsigned i = 0; i <= instants(); ++i) {
      SCOPED_TRACE(i);
      look(run(duration * i / instants(), disturb));
      if (HasFatalFailure()) return;
    }
    expect_whole();
  }

  AicoreBench bench_;
  SimTime begin_ = 0;
  std::uint64_t slots_ = 0;
};

TEST_P(ShippedKernel, LeavesItsCoreWheneverItIsStopped) {
  at_every_instant([this] { bench_.cores.stop(slots_); },
                   [this](const AicoreBench::Ended& end) {
                     ASSERT_GT(end.when, begin_) << "its end was not reported";
                     EXPECT_EQ(end.fault, FaultCode::kNone);
                   });
}

TEST_P(ShippedKernel, LeavesItsCoreWheneverTheCardIsReset) {
  at_every_instant([this] { bench_.cores.function_reset(0); },
                   [this](const AicoreBench::Ended&) { expect_whole(); });
}

TEST_P(ShippedKernel, IsAtFaultWheneverItsMemoryGoes) {
  const std::uint64_t all = bench_.memory.end;
  unsigned faults = 0;
  at_every_instant(
      [this] { bench_.memory.end = kIn; },
      [&](const AicoreBench::Ended& end) {
        bench_.memory.end = all;
        ASSERT_GT(end.when, begin_) << "its end was not reported";
        if (end.fault != FaultCode::kNone) ++faults;
        EXPECT_TRUE(end.fault == FaultCode::kNone || end.fault == FaultCode::kTranslation);
      });
  const auto& words = GetParam().words;
  EXPECT_EQ(faults > 0, std::count(words.begin(), words.end(), kIn) > 0) << "what it works on";
}

TEST_P(ShippedKernel, IsAtFaultWhicheverOfItsAddressesIsNone) {
  const auto& words = GetParam().words;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool address = words[i] >= kIn && words[i] <= kOut2 && words[i] % kIn == 0;
    if (!address) continue;
    SCOPED_TRACE(i);
    for (const auto wrong : {~std::uint64_t{0} << 20, bench_.memory.end - 64}) {
      bench_.memory.store(kTaskAt + 8 * i, wrong);
      const auto end = run(1, [] {});
      ASSERT_GT(end.when, begin_) << "its end was not reported";
      EXPECT_EQ(end.fault == FaultCode::kNone, i == 2 && words.size() == 7) << "what it reads";
    }
    bench_.memory.store(kTaskAt + 8 * i, words[i]);
  }
  expect_whole();
}

INSTANTIATE_TEST_SUITE_P(All, ShippedKernel, testing::ValuesIn(shipped_kernels()),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace npu::test
