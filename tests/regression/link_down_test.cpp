// SPDX-License-Identifier: Apache-2.0
// The card's link goes down while the driver waits; it comes back and the card is opened again.
#include "tests/regression/opened_card.hpp"

namespace npu::regression {
namespace {

using testkit::after;

class LinkDown : public OpenedCard {
 protected:
  void expect_lost_and_found(WaitPolicy policy, bool to_the_host) {
    const auto behind = device_->allocate_host(64_KiB);
    ASSERT_THAT(behind, Succeeds());
    fill(**behind, 0x33);
    const auto command = to_the_host ? to_host(kSize) : to_card(kSize);
    inject(testkit::link_down(10_ms), after(20_us));
    const auto called = now();
    EXPECT_THAT(copy(command, policy), FailsWith(ErrorCode::kDeviceLost));
    EXPECT_LT(now() - called, 100_ms);
    EXPECT_TRUE(device_->lost());
    EXPECT_THAT(copy(command, policy), FailsWith(ErrorCode::kDeviceLost));
    EXPECT_TRUE(all_equal((*behind)->cpu(), 0x33));
  }
  // Software waits 100 ms before it looks for a card that is back (PCIe 6.6.1).
  void expect_works_again() {
    close();
    run_for(110_ms);
    open();
    expect_works();
  }
};

TEST_F(LinkDown, WhilePollingForACopyToTheDevice) {
  expect_lost_and_found(WaitPolicy::kPolling, false);
  expect_works_again();
}
TEST_F(LinkDown, WhileSleepingForACopyToTheDevice) {
  expect_lost_and_found(WaitPolicy::kInterrupt, false);
  expect_works_again();
}
TEST_F(LinkDown, WhilePollingForACopyToTheHost) {
  expect_lost_and_found(WaitPolicy::kPolling, true);
  expect_works_again();
}
TEST_F(LinkDown, WhileWaitingAdaptivelyForACopyToTheHost) {
  expect_lost_and_found(WaitPolicy::kAdaptive, true);
  expect_works_again();
}

TEST_F(LinkDown, AtTheDoorbellLosesTheCommand) {
  inject(testkit::surprise_removal(),
         testkit::at_access(1, AccessKind::kMmioWrite, "DMA_DOORBELL"));
  EXPECT_THAT(copy(to_card(64), WaitPolicy::kPolling), FailsWith(ErrorCode::kDeviceLost));
  EXPECT_EQ(pending_faults(), 0U);
}

TEST_F(LinkDown, AWaitThatOnlyTimedOutCanBeRepeated) {
  const auto ticket = submit(to_card(kSize));
  const auto until = deadline(10_us);
  EXPECT_THAT(device_->wait(ticket, WaitPolicy::kPolling, until), FailsWith(ErrorCode::kTimeout));
  EXPECT_LT(now(), until + 10_us) << "looks at the card behind the data";
  EXPECT_THAT(device_->wait(ticket, WaitPolicy::kPolling, until + 1_s), Succeeds());
}

TEST_F(LinkDown, ACardThatIsGoneIsNotFound) {
  close();
  inject(testkit::link_down(1_ms));
  EXPECT_THAT(driver::Device::open_index(platform(), 0), FailsWith(ErrorCode::kNotFound));
  expect_works_again();
}

}  // namespace
}  // namespace npu::regression
