// SPDX-License-Identifier: Apache-2.0
#include "tools/timeline/kernel_limits.hpp"

#include <gmock/gmock.h>

namespace npu::timeline {
namespace {

using platform::Activity;
using testing::HasSubstr;

constexpr std::uint64_t kLaunch = platform::queue_cause(0, 1, 0);

class KernelLimits : public testing::Test {
 protected:
  void add(const char* name, const char* unit, std::int64_t ns, bool in_program = true) {
    const Instant end = now_ + Picoseconds(1000 * ns);
    segments_.push_back({now_, end, name, unit, in_program});
    now_ = end;
  }
  void carry(Activity activity, Bytes bytes) {
    traffic_.on_event({now_, now_, kLaunch, bytes, 0, 1, activity});
  }
  KernelTime find(bool in_programs = true) const {
    return kernel_limits(
        segments_, in_programs, traffic_, [](std::uint32_t) { return "card0.hbm"; },
        [](const std::string&) { return std::uint64_t{1'000'000'000'000}; });  // 1 byte/ps
  }

  Instant now_;
  std::vector<PathSegment> segments_;
  KernelTraffic traffic_;
};

TEST_F(KernelLimits, AddUpToTheKernelsTimeLongestFirst) {
  add("software", "host.cpu0", 500, false);
  add("start of kernel_block", "card0.aicore3", 5);
  add("gm_to_l1 at its rate", "card0.aicore3.mte2", 20);
  add("gm_to_l1 waits for HBM", "card0.aicore3.mte2", 50);
  add("mmad", "card0.aicore3.cube", 30);
  const auto kernels = find();
  EXPECT_EQ(kernels.total, 105_ns);
  std::vector<std::string> names;
  for (const auto& limit : kernels.limits) names.push_back(limit.name);
  EXPECT_THAT(names, testing::ElementsAre("hbm", "cube", "mte2", "launch"));
}

TEST_F(KernelLimits, OfASpanHaveWhatIsBetweenProgramsAsLaunching) {
  add("queue_dispatch", "card0.command.slot0", 10, false);
  add("mmad", "card0.aicore3.cube", 30);
  const auto kernels = find(false);
  EXPECT_EQ(kernels.total, 40_ns);
  EXPECT_EQ(kernels.limits.back().name, "launch");
}

TEST_F(KernelLimits, SayWhetherTheMemoryIsFullOrItsLatencyCounts) {
  add("gm_to_ub waits for HBM", "card0.aicore3.mte2", 100);
  traffic_.on_event({Instant(), now_, kLaunch, 0, 0, 2, Activity::kKernelBlock});
  carry(Activity::kHbmRead, 30'000);
  EXPECT_THAT(find().limits.at(0).what,
              HasSubstr("mte2 waits for the HBM, which carries 30 % of its peak: its latency"));
  carry(Activity::kHbmWrite, 60'000);
  EXPECT_THAT(find().limits.at(0).what, HasSubstr("90 % of its peak: it is full"));
}

// Turns between reads and writes, and rows, leave less than the peak.
TEST_F(KernelLimits, CallAMemoryFullWhoseReadsWaitForEachOther) {
  add("gm_to_ub waits for HBM", "card0.aicore3.mte2", 100);
  traffic_.on_event({Instant(), now_, kLaunch, 0, 0, 2, Activity::kKernelBlock});
  for (const std::int64_t ns : {10, 50, 60}) {
    traffic_.on_event(
        {Instant(), Instant(Picoseconds(1000 * ns)), kLaunch, 20'000, 0, 1, Activity::kHbmRead});
  }
  EXPECT_THAT(
      find().limits.at(0).what,
      HasSubstr("60 % of its peak and takes 4 times its least time for a read: it is full"));
}

TEST_F(KernelLimits, OfNoKernelAreNone) {
  add("software", "host.cpu0", 500, false);
  EXPECT_EQ(find().total, 0_ns);
  EXPECT_TRUE(find().limits.empty());
}

}  // namespace
}  // namespace npu::timeline
