// SPDX-License-Identifier: Apache-2.0
// Faults of the card and on its way to host memory: each is named, and the card works afterwards.
#include "tests/regression/opened_card.hpp"

namespace npu::regression {
namespace {

using testkit::after;

class CardFault : public OpenedCard {
 protected:
  using OpenedCard::OpenedCard;
  void expect_fault(abi::FaultCode code) {
    const auto fault = device_->take_fault();
    ASSERT_THAT(fault, Succeeds());
    ASSERT_TRUE(fault->has_value());
    EXPECT_EQ((*fault)->code, code) << driver::describe(**fault);
  }
};

TEST_F(CardFault, APoisonedCompletionEndsACopyFromTheHost) {
  inject(testkit::poisoned_completion());
  EXPECT_THAT(copy(to_card(64_KiB)), FailsWith(ErrorCode::kDeviceFault));
  expect_fault(abi::FaultCode::kPoisoned);
  expect_works();
}

class ShortCompletionTimeout : public CardFault {
 protected:
  ShortCompletionTimeout() : CardFault("910b", {"endpoint.completion_timeout_us=100"}) {}
};

TEST_F(ShortCompletionTimeout, ALostCompletionEndsACopyFromTheHost) {
  inject(testkit::lost_completion());
  const auto time =
      elapsed([&] { EXPECT_THAT(copy(to_card(64_KiB)), FailsWith(ErrorCode::kDeviceFault)); });
  EXPECT_GT(time, 100_us);
  expect_fault(abi::FaultCode::kCompletionTimeout);
  expect_works();
}

TEST_F(CardFault, BusMasteringOffEndsACopyToTheHost) {
  inject(testkit::bus_master_off(5_us), after(20_us));
  EXPECT_THAT(copy(to_host(kSize)), FailsWith(ErrorCode::kDeviceFault));
  expect_fault(abi::FaultCode::kBusMasterDisabled);
  expect_works();
}

TEST_F(CardFault, AResetBySomebodyElseIsNoticedByAWaiter) {
  inject(testkit::function_level_reset(), after(20_us));
  EXPECT_THAT(copy(to_host(kSize)), ::testing::Not(Succeeds()));
  close();
  run_for(100_ms);
  open();
  expect_works();
}

TEST_F(CardFault, AtEveryWriteOfASubmissionTheNextOpeningWorks) {
  for (const auto kind :
       {AccessKind::kCombiningStore, AccessKind::kWriteBarrier, AccessKind::kMmioWrite}) {
    inject(testkit::power_down(5_us), testkit::at_access(1, kind));
    static_cast<void>(copy(to_host(64), WaitPolicy::kPolling));
    EXPECT_EQ(pending_faults(), 0U);
    close();
    run_for(100_ms);
    open();
    expect_works();
  }
}

}  // namespace
}  // namespace npu::regression
