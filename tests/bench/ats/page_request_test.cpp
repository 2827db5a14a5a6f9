// SPDX-License-Identifier: Apache-2.0
// Pages that the host does not have: asked for, answered, refused.
#include "tests/bench/ats/ats_bench.hpp"

namespace npu::test {
namespace {

using platform::PageResponse;
using PageRequest = OnBench<AtsBench>;

TEST_F(PageRequest, IsMadeWhereThereIsNoTranslation) {
  const auto id = bench.issue(true, kShared, kVirtual + 0x123);
  bench.run(5_us);
  EXPECT_FALSE(bench.answered(id));
  ASSERT_EQ(bench.host.asked.size(), 1U);
  const auto& asked = bench.host.asked[0];
  EXPECT_EQ(asked.page, kVirtual);
  EXPECT_EQ(asked.pasid, HostSide::kPasid);
  EXPECT_TRUE(asked.message.write && asked.message.read && asked.message.last);
  bench.host.pages[kVirtual].write = true;
  EXPECT_TRUE(bench.respond(asked, PageResponse::kSuccess));
  bench.run(5_us);
  EXPECT_EQ(bench.response(id).completion, Completion::kSuccess);
  EXPECT_EQ(bench.host.translations.size(), 2U);
}

TEST_F(PageRequest, IsOneForAllThatWait) {
  const auto first = bench.issue(false, kShared, kVirtual);
  const auto second = bench.issue(false, kShared, kVirtual + 4096, 0x5A, 1);
  bench.run(5_us);
  const auto third = bench.issue(false, kShared, kVirtual + 8192);
  bench.run(5_us);
  ASSERT_EQ(bench.host.asked.size(), 1U);
  EXPECT_FALSE(bench.host.asked[0].message.write);
  bench.host.pages[kVirtual];
  bench.respond(bench.host.asked[0], PageResponse::kSuccess);
  bench.run(5_us);
  for (const auto id : {first, second, third}) {
    EXPECT_EQ(bench.response(id).completion, Completion::kSuccess);
  }
}

TEST_F(PageRequest, ThatIsInvalidFailsWhatWaits) {
  const auto id = bench.issue(false, kShared, kVirtual);
  bench.run(5_us);
  bench.respond(bench.host.asked.at(0), PageResponse::kInvalid);
  bench.run(1_us);
  EXPECT_EQ(bench.response(id).completion, Completion::kNotMapped);
  EXPECT_EQ(bench.response(id).address, kVirtual);
  EXPECT_EQ(bench.host.status, 0);
}

TEST_F(PageRequest, ThatFailsIsToldInTheStatus) {
  const auto id = bench.issue(false, kShared, kVirtual);
  bench.run(5_us);
  bench.respond(bench.host.asked.at(0), PageResponse::kFailure);
  bench.run(1_us);
  EXPECT_EQ(bench.response(id).completion, Completion::kNotMapped);
  EXPECT_EQ(bench.host.status, abi::pci::kPriStatusFailure);
}

TEST_F(PageRequest, WaitsForItsTurnWhenAllAreOutstanding) {
  for (unsigned i = 0; i < 6; ++i) bench.issue(false, kShared, kVirtual + i * kPage);
  bench.run(20_us);
  ASSERT_EQ(bench.host.asked.size(), 4U);
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(bench.host.asked[i].message.group, i);
  bench.respond(bench.host.asked[2], PageResponse::kInvalid);
  ASSERT_EQ(bench.host.asked.size(), 5U);
  EXPECT_EQ(bench.host.asked[4].message.group, 2) << "the group is free again";
  EXPECT_EQ(bench.host.asked[4].page, kVirtual + 4 * kPage);
}

TEST_F(PageRequest, AnsweredTwiceOrNeverMadeIsUnexpected) {
  bench.issue(false, kShared, kVirtual);
  bench.run(5_us);
  const auto asked = bench.host.asked.at(0);
  auto other = asked;
  other.message.group = 9;
  EXPECT_FALSE(bench.respond(other, PageResponse::kSuccess));
  EXPECT_TRUE(bench.respond(asked, PageResponse::kInvalid));
  EXPECT_FALSE(bench.respond(asked, PageResponse::kInvalid));
}

TEST_F(PageRequest, IsNotMadeWithoutLeave) {
  bench.host.allowed = 0;
  EXPECT_EQ(bench.read(kVirtual).completion, Completion::kNotMapped);
  EXPECT_TRUE(bench.host.asked.empty());
}

TEST_F(PageRequest, OfAFunctionThatMayNotSendFailsWhatWaits) {
  bench.host.bus_master = false;
  EXPECT_EQ(bench.read(kVirtual).completion, Completion::kCompleterAbort);
  bench.host.bus_master = true;
  bench.host.pages[kVirtual];
  EXPECT_EQ(bench.read(kVirtual).completion, Completion::kSuccess);
}

TEST_F(PageRequest, ForAPageThatMayOnlyBeReadIsMadeByAWrite) {
  bench.host.pages[kVirtual];
  bench.read(kVirtual);
  const auto id = bench.issue(true, kShared, kVirtual);
  bench.run(5_us);
  ASSERT_EQ(bench.host.asked.size(), 1U);
  EXPECT_TRUE(bench.host.asked[0].message.write);
  bench.host.pages[kVirtual].write = true;
  bench.respond(bench.host.asked[0], PageResponse::kSuccess);
  bench.run(5_us);
  EXPECT_EQ(bench.response(id).completion, Completion::kSuccess);
}

}  // namespace
}  // namespace npu::test
