// SPDX-License-Identifier: Apache-2.0
// Faults of the card and on its way to host memory: each is named, and the card works afterwards.
#include "npu/driver/management.hpp"
#include "npu/driver/memory_scrub.hpp"
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

TEST_F(CardFault, ARefusedCompletionEndsACopyFromTheHost) {
  for (const auto status : {testkit::CompletionStatus::kUnsupportedRequest,
                            testkit::CompletionStatus::kCompleterAbort}) {
    inject(testkit::refused_completion(status));
    EXPECT_THAT(copy(to_card(64_KiB)), FailsWith(ErrorCode::kDeviceFault));
    EXPECT_THAT(device_->reset_queue(), Succeeds());
    expect_works();
  }
}

TEST_F(CardFault, ATranslationThatTheIommuRefusesEndsACopy) {
  inject(testkit::iommu_fault());
  const auto fresh = device_->allocate_host(64_KiB);  // not in the card's translation cache
  ASSERT_THAT(fresh, Succeeds());
  EXPECT_THAT(copy(DmaCommand::host_to_device((*fresh)->bus(), memory_, 64_KiB)),
              FailsWith(ErrorCode::kDeviceFault));
  expect_fault(abi::FaultCode::kHostAddress);
  EXPECT_EQ(pending_faults(), 0U);
  EXPECT_THAT(device_->reset_queue(), Succeeds());
  expect_works();
}

// The first TLP of a submission is a write; which one, the card does not know.
TEST_F(CardFault, AWriteThatTheCardDropsEndsWhatItMayHaveBeenFor) {
  using testkit::TlpError;
  for (const auto error : {TlpError::kEcrc, TlpError::kMalformed, TlpError::kReceiverOverflow}) {
    inject(testkit::dropped_tlp(error));
    EXPECT_THAT(copy(to_card(64_KiB)), FailsWith(ErrorCode::kDeviceFault));
    expect_fault(abi::FaultCode::kHostWriteLost);
    EXPECT_THAT(device_->reset_queue(), Succeeds());
    expect_works();
  }
}

TEST_F(CardFault, APoisonedWriteOfTheHostEndsWhatItMayHaveBeenFor) {
  inject(testkit::poisoned_write());
  EXPECT_THAT(copy(to_card(64_KiB)), FailsWith(ErrorCode::kDeviceFault));
  expect_fault(abi::FaultCode::kHostWriteLost);
  EXPECT_THAT(device_->reset_queue(), Succeeds());
  expect_works();
}

// Neither data nor completion of a copy arrives behind one that is contained.
TEST_F(CardFault, AnErrorOnTheWayToTheHostTakesTheCardAway) {
  const auto contained = 1_ms;
  for (const auto& fault :
       {testkit::poisoned_write(testkit::Requester::kHost, contained),
        testkit::dropped_tlp(testkit::TlpError::kMalformed, testkit::Requester::kHost, contained),
        testkit::dropped_tlp(testkit::TlpError::kEcrc, testkit::Requester::kHost, contained)}) {
    inject(fault);
    EXPECT_THAT(copy(to_host(64_KiB)), ::testing::Not(Succeeds()));
    EXPECT_EQ(pending_faults(), 0U);
    close();
    run_for(110_ms);
    open();
    expect_works();
  }
}

TEST_F(CardFault, WhatIsOnlyToldIsNotNoticedByACopy) {
  using testkit::LinkErrorType;
  for (const auto receiver : {testkit::Requester::kCard, testkit::Requester::kHost}) {
    inject(testkit::unexpected_completion(receiver));
    expect_works();
    for (const auto type : {LinkErrorType::kReceiver, LinkErrorType::kBadDllp,
                            LinkErrorType::kRollover, LinkErrorType::kTimeout}) {
      inject(testkit::link_error(type, receiver));
      expect_works();
    }
  }
}

TEST_F(CardFault, AScrubFindsWhatNobodyHasRead) {
  const auto errors = [this] {
    const auto done = driver::scrub_memory(*device_, deadline());
    EXPECT_THAT(done, Succeeds());
    return done ? std::pair(done->found.single, done->found.multi) : std::pair(~0U, ~0U);
  };
  using Found = std::pair<unsigned, unsigned>;
  EXPECT_EQ(errors(), Found(0, 0));
  const auto used = device_->memory_statistics().used();
  inject(testkit::memory_error(64, 1));
  inject(testkit::memory_error(used - 64, 1));
  inject(testkit::memory_error(kSize / 2, 2));
  EXPECT_EQ(errors(), Found(2, 1));
  EXPECT_EQ(errors(), Found(0, 0)) << "corrected, or told already";
  const auto access = driver::manage(*device_);
  const auto alarms = driver::Management(*access).alarms();
  ASSERT_THAT(alarms, Succeeds());
  EXPECT_TRUE(alarms->single && alarms->multi);
}

// What is read takes the memory's time, and no more than ten times that.
TEST_F(CardFault, AScrubTakesTheTimeOfItsReads) {
  const auto memory = device_->allocate(256_MiB);
  ASSERT_THAT(memory, Succeeds());
  const auto done = driver::scrub_memory(*device_, deadline());
  ASSERT_THAT(done, Succeeds());
  EXPECT_GE(done->bytes, 256_MiB);
  const auto access = driver::manage(*device_);
  const auto traffic = driver::Management(*access).hbm_traffic();
  ASSERT_THAT(traffic, Succeeds());
  EXPECT_GE(traffic->read, done->bytes);
  const auto least = Picoseconds(static_cast<std::int64_t>(
      static_cast<double>(done->bytes) / static_cast<double>(traffic->peak_rate) * 1e12));
  EXPECT_GE(done->time, least);
  EXPECT_LT(done->time, 10 * least);
  metric("scrub_time", done->time);
}

TEST_F(CardFault, AHotChannelServesLess) {
  const auto time = [this] {
    const auto down = DmaCommand::device_to_device(memory_, memory_ + kSize / 2, kSize / 2);
    return elapsed([&] { EXPECT_THAT(copy(down), Succeeds()); });
  };
  time();  // fills translation caches
  const auto usual = time();
  for (unsigned channel = 0; channel < 8; ++channel) {
    inject(testkit::slow_channel(channel, 8, 10_ms));
  }
  EXPECT_GT(time(), usual);
  run_for(20_ms);
  EXPECT_LT(time(), usual + usual / 20);
}

TEST_F(CardFault, AHotCardTellsItsClockAndLogsAnAlarm) {
  const auto access = driver::manage(*device_);
  driver::Management management(*access);
  const auto mhz = [&] {
    const auto clocks = management.clocks();
    EXPECT_THAT(clocks, Succeeds());
    return clocks ? clocks->cores.present : 0;
  };
  const auto rated = mhz();
  inject(testkit::thermal_throttling(50, 1_ms));
  EXPECT_EQ(mhz(), rated / 2);
  const auto alarms = management.alarms();
  ASSERT_THAT(alarms, Succeeds());
  EXPECT_TRUE(alarms->temperature);
  run_for(2_ms);
  EXPECT_EQ(mhz(), rated);
  const auto events = management.events_since(0);
  ASSERT_THAT(events, Succeeds());
  std::vector<int> ended;
  for (const auto& event : *events) {
    if (event.kind == abi::EventKind::kTemperature) ended.push_back(event.ended);
  }
  EXPECT_EQ(ended, (std::vector<int>{0, 1}));
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

TEST_F(CardFault, AFlippedBitIsCorrectedAndTwoEndACopyUntilTheyAreWritten) {
  // Which pages a block has is the driver's affair: every page in use has the error.
  const auto strike = [this](unsigned bits) {
    for (Bytes page = 0; page < device_->memory_statistics().used(); page += driver::kPageSize) {
      inject(testkit::memory_error(page + 4096, bits));
    }
  };
  fill(*host_, 0x5A);
  ASSERT_THAT(copy(to_card(kSize)), Succeeds());
  fill(*host_, 0);
  strike(1);
  EXPECT_THAT(copy(to_host(kSize)), Succeeds());
  EXPECT_TRUE(all_equal(host_->cpu(), 0x5A));
  strike(2);
  EXPECT_THAT(copy(to_host(kSize)), FailsWith(ErrorCode::kDeviceFault));
  const auto stream = device_->create_stream();
  ASSERT_THAT(stream, Succeeds());
  stream_ = *stream;
  EXPECT_THAT(copy(to_card(kSize)), Succeeds());
  EXPECT_THAT(copy(to_host(kSize)), Succeeds());
}

TEST_F(CardFault, ALinkThatTrainsToASixteenthCopiesSoMuchSlower) {
  const auto usual = elapsed([&] { EXPECT_THAT(copy(to_card(kSize)), Succeeds()); });
  inject(testkit::link_retrained(0, 1));
  const auto slow = elapsed([&] { EXPECT_THAT(copy(to_card(kSize)), Succeeds()); });
  EXPECT_GT(slow, 10 * usual);
  EXPECT_LT(slow, 18 * usual);
}

TEST_F(CardFault, ALinkThatTrainsBackLosesNothing) {
  inject(testkit::link_retrained(1, 1, 100_us), after(20_us));
  fill(*host_, 0x5A);
  EXPECT_THAT(copy(to_card(kSize)), Succeeds());
  fill(*host_, 0);
  EXPECT_THAT(copy(to_host(kSize)), Succeeds());
  EXPECT_TRUE(all_equal(host_->cpu(), 0x5A));
}

TEST_F(CardFault, DamagedTlpsAreNotNoticedByACopy) {
  for (const auto receiver : {testkit::Requester::kCard, testkit::Requester::kHost}) {
    inject(testkit::bad_tlp(receiver));
    expect_works();
  }
}

TEST_F(CardFault, EnginesThatAreStuckForATimeDelayACopyAndEndItOtherwise) {
  constexpr unsigned kEngines = 4;  // of the 910b
  const auto usual = elapsed([&] { EXPECT_THAT(copy(to_card(64_KiB)), Succeeds()); });
  for (unsigned i = 0; i < kEngines; ++i) inject(testkit::stuck_engine(i, 1_ms));
  const auto delayed = elapsed([&] { EXPECT_THAT(copy(to_card(64_KiB)), Succeeds()); });
  EXPECT_GT(delayed, usual + 900_us);
  for (unsigned i = 0; i < kEngines; ++i) inject(testkit::stuck_engine(i));
  const auto ticket = submit(to_card(64_KiB));
  EXPECT_THAT(device_->wait(ticket, WaitPolicy::kInterrupt, deadline(10_ms)),
              FailsWith(ErrorCode::kTimeout));
  close();
  inject(testkit::function_level_reset());
  run_for(100_ms);
  open();
  expect_works();
}

// What a watchdog is for: the command never ends, and all others do.
TEST_F(CardFault, ACommandThatIsLostEndsAtItsDeadlineAndOtherStreamsGoOn) {
  for (unsigned i = 0; i < 4; ++i) inject(testkit::lost_command(i));
  const auto lost = submit(to_card(64_KiB));
  const auto other = device_->create_stream();
  ASSERT_THAT(other, Succeeds());
  for (unsigned i = 0; i < 8; ++i) {
    const auto ticket = device_->submit(*other, to_card(64));
    ASSERT_THAT(ticket, Succeeds());
    // Three engines have yet to lose one.
    static_cast<void>(device_->wait(*ticket, WaitPolicy::kInterrupt, deadline(1_ms)));
  }
  EXPECT_THAT(device_->wait(lost, WaitPolicy::kInterrupt, deadline(10_ms)),
              FailsWith(ErrorCode::kTimeout));
  EXPECT_THAT(device_->reset_queue(), FailsWith(ErrorCode::kTimeout));
  close();
  inject(testkit::function_level_reset());
  run_for(100_ms);
  open();
  expect_works();
}

TEST_F(CardFault, ACommandThatIsLostForATimeEndsLate) {
  const auto usual = elapsed([&] { EXPECT_THAT(copy(to_card(64_KiB)), Succeeds()); });
  for (unsigned i = 0; i < 4; ++i) inject(testkit::lost_command(i, 1_ms));
  fill(*host_, 0x3C);
  const auto late = elapsed([&] { EXPECT_THAT(copy(to_card(64_KiB)), Succeeds()); });
  EXPECT_GT(late, usual + 900_us);
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
