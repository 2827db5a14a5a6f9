// SPDX-License-Identifier: Apache-2.0
// What is recorded, counted and said of accesses; names of the ABI's tables.
#include "machine/testing/access_names.hpp"
#include "npu/testing/matchers.hpp"

namespace npu::testkit {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Lt;
using ::testing::Not;

Access access(AccessKind kind, const std::string& name = {}, std::uint64_t times = 1) {
  Access made;
  made.kind = kind;
  made.begin = Instant(1'138'116'636_ps);
  made.end = made.begin + 228'976_ps;
  made.name = name;
  made.bdf = {1, 0, 0};
  made.offset = 0x1008;
  made.width = 4;
  made.value = 7;
  made.times = times;
  return made;
}

template <class Matcher>
std::string explanation(const Matcher& matcher, const Accesses& accesses) {
  ::testing::StringMatchResultListener listener;
  const ::testing::Matcher<const Accesses&> checked = matcher;
  checked.MatchAndExplain(accesses, &listener);
  return listener.str();
}

TEST(Names, AreThoseOfTheAbi) {
  EXPECT_EQ(bar0_name(0x1010), "DMA_DOORBELL");
  EXPECT_EQ(bar0_name(0x14), "HBM_SIZE") << "the upper half";
  EXPECT_EQ(bar0_name(0x2000 + 8 * 3 + 4), "EVENT[3]");
  EXPECT_EQ(bar0_name(0x6000 + 16 * 7 + 12), "MSIX_TABLE[7]");
  EXPECT_EQ(bar0_name(0x7000), "MSIX_PBA");
  EXPECT_EQ(bar0_name(0x0F00), "BAR0");
  EXPECT_EQ(config_name(0x05), "COMMAND");
  EXPECT_EQ(config_name(0x40), "CONFIG");
}

TEST(Names, OfDeviceMemoryFollowItsSize) {
  EXPECT_EQ(bar2_name(56_GiB - 8, 56_GiB), "HBM");
  EXPECT_EQ(bar2_name(56_GiB, 56_GiB), "DMA_RING[0]");
  EXPECT_EQ(bar2_name(56_GiB + 4095 * 32 + 31, 56_GiB), "DMA_RING[4095]");
  EXPECT_EQ(bar2_name(56_GiB + 4096 * 32, 56_GiB), "CARD");
  EXPECT_EQ(bar2_name(56_GiB + 16_MiB + 32_KiB, 56_GiB), "STREAM[1].STREAM_CONTROL");
  EXPECT_EQ(bar2_name(56_GiB + 48_MiB + 2 * 4096, 56_GiB), "DOORBELL_PAGE[2]");
  EXPECT_EQ(bar2_name(64_GiB - 8, 56_GiB), "CARD");
}

TEST(Names, ThatNothingHasAreKnown) {
  for (const auto* name : {"DMA_DOORBELL", "COMMAND", "EVENT", "EVENT[3]", "DMA_RING[12]",
                           "STREAM[0].STREAM_CONTROL", "HBM"}) {
    EXPECT_TRUE(is_access_name(name)) << name;
  }
  for (const auto* name : {"DMA_DORBELL", "", "[3]", "EVENT[", "EVENT[]", "EVENT[x]", "EVENT[3]x",
                           "EVENT[3].STREAM_CONTROL", "STREAM[0].", "DMA_DOORBELL[0]"}) {
    EXPECT_FALSE(is_access_name(name)) << name;
  }
}

TEST(Counting, IsByKindAndName) {
  Accesses made;
  made.add(access(AccessKind::kMmioRead, "EVENT[1]"));
  made.add(access(AccessKind::kMmioRead, "EVENT[12]"));
  made.add(access(AccessKind::kMmioWrite, "EVENT_RECORD_BASE"));
  made.add(access(AccessKind::kPoll, {}, 40));
  EXPECT_THAT(made, AllOf(MmioReads(2), MmioWrites(1), Polls(40), Barriers(0), Interrupts(0)));
  EXPECT_THAT(made, AllOf(ReadsOf("EVENT", 2), ReadsOf("EVENT[1]", 1), WritesTo("EVENT", 0)));
  EXPECT_THAT(made, Not(Polls(Lt(40U))));
}

TEST(Counting, GoesOnWhereTheListEnds) {
  Accesses made;
  for (std::size_t i = 0; i < Accesses::kListed + 5; ++i) {
    made.add(access(AccessKind::kMmioRead, "CHIP_ID"));
  }
  EXPECT_THAT(made, AllOf(MmioReads(Accesses::kListed + 5), ReadsOf("CHIP_ID", 10'005)));
  EXPECT_EQ(made.list().size(), Accesses::kListed);
  EXPECT_THAT(made.text({AccessKind::kMmioRead}, 1),
              HasSubstr("... and 9999 more\n(of the first 10000 of 10005 accesses)\n"));
}

TEST(Explanation, ListsTheAccessesInQuestion) {
  Accesses made;
  made.add(access(AccessKind::kMmioRead, "DMA_CONSUMER_INDEX"));
  made.add(access(AccessKind::kWriteBarrier));
  EXPECT_EQ(explanation(MmioReads(0), made),
            "with 1 MMIO reads:\n   1138.116636 us  MMIO read of 4 bytes of DMA_CONSUMER_INDEX "
            "(01:00.0 BAR0+0x1008) = 0x7, 228.976 ns\n");
  EXPECT_THAT(explanation(WritesTo("DMA_DOORBELL", 1), made),
              AllOf(HasSubstr("with 0 writes of DMA_DOORBELL:\n"), HasSubstr("DMA_CONSUMER_INDEX"),
                    HasSubstr("write barrier")));
  EXPECT_EQ(explanation(Polls(1), Accesses()), "with 0 polls");
}

TEST(Explanation, OfANameThatNothingHasSaysSo) {
  const Accesses none;
  EXPECT_EQ(explanation(WritesTo("DMA_DORBELL", 0), none),
            "and there is no register called DMA_DORBELL");
}

TEST(Printed, IsASummary) {
  Accesses made;
  made.add(access(AccessKind::kConfigWrite, "COMMAND"));
  made.add(access(AccessKind::kPoll, {}, 2));
  made.set_times(Instant(1_us), Instant(3_us));
  EXPECT_EQ(::testing::PrintToString(made), "1 configuration write, 2 polls within 2000.000 ns");
  EXPECT_EQ(::testing::PrintToString(Accesses()), "no accesses within 0.000 ns");
}

TEST(Described, AreKindPlaceValueAndTimes) {
  EXPECT_THAT(describe(access(AccessKind::kConfigWrite, "COMMAND")),
              HasSubstr("COMMAND (01:00.0 configuration+0x1008) <- 0x7, 228.976 ns"));
  EXPECT_THAT(describe(access(AccessKind::kPoll, {}, 2)),
              HasSubstr("us  poll, 2 times, 228.976 ns"));
  EXPECT_THAT(describe(access(AccessKind::kInterrupt)),
              HasSubstr("us  interrupt, message data 0x7"));
}

}  // namespace
}  // namespace npu::testkit
