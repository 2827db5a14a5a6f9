// SPDX-License-Identifier: Apache-2.0
#include "tools/timeline/kernel_use.hpp"

#include <gtest/gtest.h>

#include <array>

namespace npu::timeline {
namespace {

using platform::Activity;
using platform::Pipe;
using platform::PipeOperation;

constexpr std::uint64_t kKernels = platform::queue_cause(0, 1, 0);
constexpr std::uint64_t kCopyEntry = platform::queue_cause(0, 1, 1);

enum UsedTrack : std::uint32_t {
  kOfCore,
  kOfMte2,
  kOfVector,
  kOfScalar,
  kOfOther,
  kOfOtherMte2,
  kOfL2,
  kOfHbm,
  kOfAicpu
};
constexpr std::array<const char*, 9> kUsedNames = {"card0.aicore3",
                                                   "card0.aicore3.mte2",
                                                   "card0.aicore3.vector",
                                                   "card0.aicore3.scalar",
                                                   "card0.aicore4",
                                                   "card0.aicore4.mte2",
                                                   "card0.l2",
                                                   "card0.hbm",
                                                   "card0.aicpu0"};

class KernelUseTest : public testing::Test {
 protected:
  void tell(Activity activity, UsedTrack track, std::int64_t begin, std::int64_t end,
            Bytes bytes = 0, std::uint64_t detail = 0, std::uint64_t cause = kKernels) {
    counter_.on_event({Instant(Picoseconds(begin)), Instant(Picoseconds(end)), cause, bytes, detail,
                       track, activity});
  }
  void instruct(Pipe pipe, UsedTrack track, std::int64_t begin, std::int64_t end, Bytes bytes = 0,
                PipeOperation operation = PipeOperation::kGmToUb) {
    platform::PipeDetail detail;
    detail.pipe = pipe;
    detail.operation = operation;
    tell(Activity::kPipe, track, begin, end, bytes, detail.pack());
  }
  Picoseconds busy(Pipe pipe) const {
    return counter_.use().pipes[static_cast<std::size_t>(pipe)].busy;
  }

  KernelUseCounter counter_{[](std::uint32_t track) { return std::string(kUsedNames[track]); }};
};

TEST_F(KernelUseTest, APipeIsBusyOnceWhereItsCopiesOverlap) {
  instruct(Pipe::kMte2, kOfMte2, 100, 300, 64);
  instruct(Pipe::kMte2, kOfMte2, 250, 400, 32);
  instruct(Pipe::kMte2, kOfOtherMte2, 100, 200, 64);
  tell(Activity::kKernelBlock, kOfCore, 50, 500);
  const auto use = counter_.use();
  EXPECT_EQ(busy(Pipe::kMte2), Picoseconds(400));
  EXPECT_EQ(use.pipes[static_cast<std::size_t>(Pipe::kMte2)].cores, 2U);
  const auto& copies = use.copies[static_cast<std::size_t>(PipeOperation::kGmToUb)];
  EXPECT_EQ(copies.bytes, 160U);
  EXPECT_EQ(copies.cores, 2U);
  EXPECT_EQ(busy(Pipe::kCube), Picoseconds());
}

TEST_F(KernelUseTest, TheScalarUnitIsBusyWhereItDoesNotWait) {
  tell(Activity::kScalarWait, kOfScalar, 60, 160);
  tell(Activity::kScalarWait, kOfScalar, 400, 600);  // its end is another program's
  tell(Activity::kKernelBlock, kOfCore, 50, 500);
  EXPECT_EQ(busy(Pipe::kScalar), Picoseconds(450 - 100 - 100));
}

TEST_F(KernelUseTest, TheTimeIsThatInWhichAnyBlockRan) {
  tell(Activity::kKernelBlock, kOfCore, 100, 200);
  tell(Activity::kKernelBlock, kOfOther, 150, 300);
  tell(Activity::kKernelBlock, kOfCore, 400, 450);
  tell(Activity::kKernelBlock, kOfAicpu, 0, 9000);
  const auto use = counter_.use();
  EXPECT_EQ(use.time, Picoseconds(250));
  EXPECT_EQ(use.programs, 3U);
  EXPECT_EQ(use.cores, 2U);
  EXPECT_EQ(use.card, "card0");
}

TEST_F(KernelUseTest, AnExecutorsBlockCountsByItsCalls) {
  tell(Activity::kScalarWait, kOfScalar, 0, 100);  // polls
  tell(Activity::kKernelCall, kOfCore, 100, 300);
  tell(Activity::kScalarWait, kOfScalar, 300, 800);
  tell(Activity::kKernelBlock, kOfCore, 0, 1000);
  tell(Activity::kKernelBlock, kOfOther, 0, 1000);  // had no task
  const auto use = counter_.use();
  EXPECT_EQ(use.time, Picoseconds(200));
  EXPECT_EQ(use.cores, 1U);
  EXPECT_EQ(busy(Pipe::kScalar), Picoseconds(200));
}

TEST_F(KernelUseTest, MemoriesMovedWhatLaunchesOnCoresAskedFor) {
  tell(Activity::kL2Read, kOfL2, 100, 110, 1024, 2);
  tell(Activity::kL2Write, kOfL2, 100, 110, 512, std::uint64_t{1} << 32);
  tell(Activity::kHbmRead, kOfHbm, 100, 110, 256);
  tell(Activity::kHbmWrite, kOfHbm, 100, 110, 128);
  tell(Activity::kHbmRead, kOfHbm, 100, 110, 4096, 0, kCopyEntry);
  tell(Activity::kHbmRead, kOfHbm, 100, 110, 4096, 0, platform::dma_cause(0, 1));
  tell(Activity::kKernelBlock, kOfCore, 50, 500);
  const auto use = counter_.use();
  EXPECT_EQ(use.l2.read, 1024U);
  EXPECT_EQ(use.l2.written, 512U);
  EXPECT_EQ(use.l2.hits, 2U);
  EXPECT_EQ(use.l2.misses, 1U);
  EXPECT_EQ(use.hbm.read, 256U);
  EXPECT_EQ(use.hbm.written, 128U);
}

TEST_F(KernelUseTest, OfNothingIsNothing) {
  EXPECT_EQ(counter_.use().time, Picoseconds());
  instruct(Pipe::kVector, kOfVector, 1, 2);
  EXPECT_EQ(counter_.use().programs, 0U);
}

}  // namespace
}  // namespace npu::timeline
