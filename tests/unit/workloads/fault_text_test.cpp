// SPDX-License-Identifier: Apache-2.0
#include "workloads/framework/fault_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace npu::workloads {
namespace {

using ::testing::HasSubstr;
using testkit::FaultKind;

std::string problem(const std::string& text) {
  const auto parsed = parse_fault(text);
  if (parsed) return "none";
  EXPECT_EQ(parsed.error().code, ErrorCode::kInvalidArgument);
  return parsed.error().context;
}

TEST(FaultText, KindTimeAndDuration) {
  const auto parsed = parse_fault("link_down,at=20us,for=2.5us,card=1");
  ASSERT_TRUE(parsed) << parsed.error().context;
  EXPECT_EQ(parsed->fault.kind, FaultKind::kLinkDown);
  EXPECT_EQ(parsed->fault.card, 1U);
  EXPECT_EQ(parsed->fault.duration, Picoseconds(2'500'000));
  EXPECT_EQ(parsed->when.kind, testkit::When::Kind::kAt);
  EXPECT_EQ(parsed->when.instant, Instant(Picoseconds(20'000'000)));
}

TEST(FaultText, WhatIsNotGivenIsAsInTheHeader) {
  const auto removal = parse_fault("link_down");
  ASSERT_TRUE(removal);
  EXPECT_EQ(removal->fault.duration, Picoseconds::max());
  EXPECT_EQ(removal->when.kind, testkit::When::Kind::kAtOnce);
  const auto lost = parse_fault("lost_interrupt");
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->fault.vector, testkit::kAnyVector);
  EXPECT_EQ(lost->fault.virtual_function, testkit::kNoVirtualFunction);
}

TEST(FaultText, EveryKindIsReadAgainAsItIsWritten) {
  for (const auto& row : kFaultClasses) {
    PlannedFault planned{{row.kind}, testkit::at(Instant(Picoseconds(1'234'567)))};
    planned.fault.card = 3;
    if (row.takes("for")) planned.fault.duration = Picoseconds(5'000'000'000);
    if (row.takes("vector")) planned.fault.vector = 7;
    if (row.takes("link")) planned.fault.link = "fabric_card0_l1sw0";
    if (row.takes("requester") || row.takes("receiver")) {
      planned.fault.requester = testkit::Requester::kHost;
    }
    if (row.takes("address")) planned.fault.address = 0xFFFF'FFFF'FFC0;
    if (row.takes("bits")) planned.fault.bits = 2;
    if (row.takes("generation")) planned.fault.generation = 3;
    if (row.takes("lanes")) planned.fault.lanes = 8;
    if (row.takes("engine") || row.takes("core") || row.takes("channel")) planned.fault.unit = 5;
    if (row.takes("status")) planned.fault.status = testkit::CompletionStatus::kCompleterAbort;
    if (row.takes("error")) planned.fault.error = testkit::TlpError::kReceiverOverflow;
    if (row.takes("clock")) planned.fault.clock_percent = 7;
    if (row.takes("refreshes")) planned.fault.refreshes = 3;
    if (row.takes("type")) planned.fault.type = testkit::LinkErrorType::kRollover;
    if (row.takes("to")) planned.fault.to = 9;
    const auto text = fault_text(planned);
    EXPECT_THAT(text, HasSubstr("at=1234567ps"));
    const auto again = parse_fault(text);
    ASSERT_TRUE(again) << again.error().context;
    EXPECT_EQ(fault_text(*again), text);
    EXPECT_EQ(again->fault.duration, planned.fault.duration);
    EXPECT_EQ(again->fault.vector, planned.fault.vector);
    EXPECT_EQ(again->fault.link, planned.fault.link);
    EXPECT_EQ(again->fault.requester, planned.fault.requester);
    EXPECT_EQ(again->fault.address, planned.fault.address);
    EXPECT_EQ(again->fault.bits, planned.fault.bits);
    EXPECT_EQ(again->fault.generation, planned.fault.generation);
    EXPECT_EQ(again->fault.lanes, planned.fault.lanes);
    EXPECT_EQ(again->fault.unit, planned.fault.unit);
    EXPECT_EQ(again->fault.status, planned.fault.status);
    EXPECT_EQ(again->fault.error, planned.fault.error);
    EXPECT_EQ(again->fault.clock_percent, planned.fault.clock_percent);
    EXPECT_EQ(again->fault.refreshes, planned.fault.refreshes);
    EXPECT_EQ(again->fault.type, planned.fault.type);
    EXPECT_EQ(again->fault.to, planned.fault.to);
  }
}

TEST(FaultText, WhatItIsNot) {
  EXPECT_THAT(problem("link_dwn"), HasSubstr("did you mean 'link_down'?"));
  EXPECT_THAT(problem(""), HasSubstr("no such kind"));
  EXPECT_THAT(problem("function_level_reset,for=1us"), HasSubstr("takes at=, card=, vf="));
  EXPECT_THAT(problem("link_down,at"), HasSubstr("takes at=, card=, for="));
  EXPECT_THAT(problem("link_down,"), HasSubstr("takes at"));
  EXPECT_THAT(problem("link_down,at=1us,at=2us"), HasSubstr("at is given twice"));
  EXPECT_THAT(problem("dropped_tlp,error=lcrc"),
              HasSubstr("error is ecrc or malformed or overflow"));
  EXPECT_THAT(problem("link_down,at=-1us"), HasSubstr("at is a time such as 2.5us"));
  EXPECT_THAT(problem("link_down,for=1"), HasSubstr("for is a time"));
  EXPECT_THAT(problem("link_down,card=-1"), HasSubstr("card is a number"));
  EXPECT_THAT(problem("link_down,card=99999999999"), HasSubstr("card is a number"));
  EXPECT_THAT(problem("lost_completion,requester=me"), HasSubstr("requester is card or host"));
  EXPECT_THAT(problem("bad_tlp,requester=host"), HasSubstr("takes at=, card=, receiver="));
  EXPECT_THAT(problem("memory_error,address=0x"), HasSubstr("address is a number"));
  EXPECT_THAT(problem("memory_error,address=0x1FFFFFFFFFFFFFFFF"), HasSubstr("is a number"));
  EXPECT_THAT(problem("hung_core,engine=1"), HasSubstr("takes at=, card=, for=, core="));
}

TEST(FaultText, ALinkHasItsNameOrItsTwoCards) {
  const auto parsed = parse_fault("peer_link_down,card=1,peer=2");
  ASSERT_TRUE(parsed) << parsed.error().context;
  EXPECT_EQ(parsed->fault.peer, 2U);
  EXPECT_EQ(fault_text(*parsed), "peer_link_down,card=1,peer=2");
  EXPECT_THAT(problem("peer_link_down,peer=1,link=hccs0_1"), HasSubstr("give peer or link"));
  EXPECT_THAT(problem("peer_link_down,link="), HasSubstr("link is the name of a link"));
}

TEST(FaultText, AddressesAreDecimalOrHexadecimal) {
  for (const auto* const text :
       {"memory_error,address=4096,bits=2", "memory_error,address=0x1000,bits=2"}) {
    const auto parsed = parse_fault(text);
    ASSERT_TRUE(parsed) << parsed.error().context;
    EXPECT_EQ(parsed->fault.address, 0x1000U);
    EXPECT_EQ(parsed->fault.bits, 2U);
  }
}

TEST(FaultText, AListIsReadUntilItsFirstProblem) {
  const auto parsed = parse_faults({"link_down,at=1us", "lost_interrupt"});
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->size(), 2U);
  EXPECT_TRUE(parse_faults({})->empty());
  EXPECT_FALSE(parse_faults({"link_down", "link_up"}));
}

}  // namespace
}  // namespace npu::workloads
