// SPDX-License-Identifier: Apache-2.0
// Interrupts that are lost, late, there twice or for nothing: a wait ends, and with the right
// answer.
#include "tests/regression/opened_card.hpp"

namespace npu::regression {
namespace {

using ::testing::AllOf;
using testkit::at_access;
using testkit::Interrupts;
using testkit::Polls;

class InterruptFault : public OpenedCard {
 protected:
  // What a copy varies by, with the phases of the card's clocks and buses.
  static constexpr double kPhasePs = 200'000;

  void SetUp() override {
    OpenedCard::SetUp();
    time_of_a_copy();  // the first one walks page tables
  }
  // A copy of 64 bytes that is waited for by its interrupt.
  Picoseconds time_of_a_copy() {
    return elapsed([&] { EXPECT_THAT(copy(to_host(64), WaitPolicy::kInterrupt), Succeeds()); });
  }
  static void expect_about(Picoseconds time, Picoseconds expected) {
    EXPECT_NEAR(static_cast<double>(time.count()), static_cast<double>(expected.count()), kPhasePs);
  }
};

TEST_F(InterruptFault, ALostOneCostsTheFirstLookAtTheCard) {
  const auto usual = time_of_a_copy();
  inject(testkit::lost_interrupt());
  EXPECT_EQ(pending_faults(), 1U) << "no interrupt has been sent";
  const auto lost = time_of_a_copy();
  EXPECT_EQ(pending_faults(), 0U);
  EXPECT_GE(lost, 1_ms);
  EXPECT_LT(lost, 1_ms + usual + 20_us);
  expect_about(time_of_a_copy(), usual);  // one interrupt only
  EXPECT_EQ(device_->wait_statistics().missed_interrupts, 1U);
}

TEST_F(InterruptFault, OneThatIsThereTwiceEndsNoLaterWait) {
  fill(*host_, 0x11);
  inject(testkit::duplicated_interrupt());
  const auto made = accesses([&] {
    time_of_a_copy();
    run_for(20_us);
  });
  EXPECT_THAT(made, Interrupts(2));
  const auto ticket = submit(to_card(kSize));
  EXPECT_THAT(device_->wait(ticket, WaitPolicy::kInterrupt, deadline(10_us)),
              FailsWith(ErrorCode::kTimeout));
  EXPECT_THAT(device_->wait(ticket, WaitPolicy::kInterrupt, deadline()), Succeeds());
}

TEST_F(InterruptFault, OneAtAnotherVectorIsAsLostAndEndsNoOthersWait) {
  inject(testkit::misdirected_interrupt(40));
  EXPECT_GE(time_of_a_copy(), 1_ms);
  EXPECT_EQ(pending_faults(), 0U);
  EXPECT_EQ(device_->wait_statistics().missed_interrupts, 1U);
}

TEST_F(InterruptFault, AllVectorsOfAFunctionMayBeMasked) {
  const auto usual = time_of_a_copy();
  inject(testkit::masked_vector(testkit::kAnyVector, 300_us));
  const auto masked = time_of_a_copy();
  EXPECT_GT(masked, 290_us);
  EXPECT_LT(masked, 300_us + usual + 20_us) << "what is pending arrives then";
  expect_about(time_of_a_copy(), usual);
}

TEST_F(InterruptFault, ALateOneMakesTheWaitAsMuchLonger) {
  const auto usual = time_of_a_copy();
  inject(testkit::delayed_interrupt(300_us));
  expect_about(time_of_a_copy(), usual + 300_us);
}

TEST_F(InterruptFault, OneForNothingWakesAndTheWaitGoesOn) {
  const auto ticket = submit(to_card(kSize));  // some 150 us
  inject(testkit::spurious_interrupt(0), testkit::after(20_us));
  const auto made = accesses(
      [&] { EXPECT_THAT(device_->wait(ticket, WaitPolicy::kInterrupt, deadline()), Succeeds()); });
  EXPECT_THAT(made, AllOf(Interrupts(2), Polls(0)));
}

TEST_F(InterruptFault, AMaskedVectorTellsWhenItIsUnmasked) {
  const auto usual = time_of_a_copy();
  inject(testkit::masked_vector(0, 200_us));
  const auto masked = time_of_a_copy();
  EXPECT_GT(masked, 200_us - 1_us);
  EXPECT_LT(masked, 200_us + usual);
}

TEST_F(InterruptFault, IsOfItsVectorAlone) {
  const auto usual = time_of_a_copy();
  inject(testkit::lost_interrupt(1));
  expect_about(time_of_a_copy(), usual);
  EXPECT_EQ(pending_faults(), 1U) << "vector 1 has sent nothing";
}

TEST_F(InterruptFault, OfNoVectorIsRefused) {
  const auto refused = [&](const testkit::Fault& fault) {
    const auto status = machine().inject(fault, testkit::at_once());
    EXPECT_THAT(status, FailsWith(ErrorCode::kInvalidArgument));
    return status ? std::string() : status.error().context;
  };
  EXPECT_EQ(refused(testkit::spurious_interrupt(testkit::kAnyVector)), "give a vector");
  EXPECT_THAT(refused(testkit::masked_vector(4096)), ::testing::HasSubstr("no vector 4096"));
  EXPECT_THAT(refused(testkit::surprise_removal().on_virtual_function(99)),
              ::testing::HasSubstr("no virtual function 99"));
  EXPECT_EQ(pending_faults(), 0U);
}

// Whatever happens to whichever of twenty interrupts, no copy is lost and no wait ends too early.
TEST_F(InterruptFault, OfAnyKindHarmsNoCopy) {
  const testkit::Fault kinds[] = {testkit::lost_interrupt(), testkit::duplicated_interrupt(),
                                  testkit::delayed_interrupt(5_us), testkit::spurious_interrupt(0),
                                  testkit::masked_vector(0, 3_us)};
  for (unsigned i = 0; i < 40; ++i) {
    inject(kinds[i % std::size(kinds)],
           testkit::after(Picoseconds(static_cast<std::int64_t>(i) * 137'000)));
    fill(*host_, i);
    ASSERT_THAT(copy(to_card(4_KiB), WaitPolicy::kInterrupt), Succeeds()) << i;
    fill(*host_, 0xFF);
    ASSERT_THAT(copy(to_host(4_KiB), WaitPolicy::kInterrupt), Succeeds()) << i;
    ASSERT_TRUE(all_equal(host_->cpu().subspan(0, 4_KiB), i)) << i;
  }
}

}  // namespace
}  // namespace npu::regression
