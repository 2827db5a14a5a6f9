// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "tests/driver/queues/queue_fixture.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

using abi::FaultCode;

TEST_F(QueueTest, AFaultStopsItsQueueAndNoOther) {
  const auto culprit = make(), neighbour = make();
  EXPECT_THAT(
      run(*culprit, entries::fill(kNowhere, 64, 0)),
      FailsWith(ErrorCode::kDeviceFault,
                fmt::format("entry 0: device address not mapped; write of {:#x}", kNowhere.value)));
  EXPECT_TRUE(culprit->faulted());
  EXPECT_THAT(culprit->submit(entries::nop(), in(1_ms)), FailsWith(ErrorCode::kDeviceFault));
  const auto status = must(process->query(culprit->id()));
  EXPECT_EQ(status.state, abi::QueueState::kFaulted);
  EXPECT_EQ(status.error, FaultCode::kTranslation);
  EXPECT_EQ(status.error_address, kNowhere.value);
  EXPECT_FALSE(status.active);
  EXPECT_FALSE(neighbour->faulted());
  EXPECT_THAT(run(*neighbour), IsOk());
  EXPECT_THAT(process->update(culprit->id(), {}), FailsWith(ErrorCode::kDeviceFault));
}

TEST_F(QueueTest, TheRecordNamesTheCulprit) {
  const auto other = make(), culprit = make();
  ASSERT_THAT(run(*culprit), IsOk());
  std::vector<QueueFault> heard;
  process->on_fault([&](const QueueFault& fault) { heard.push_back(fault); });
  EXPECT_FALSE(run(*culprit, entries::fill(kNowhere, 64, 0)));
  const auto faults = process->take_faults();
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].code, FaultCode::kTranslation);
  EXPECT_EQ(faults[0].pasid, process->pasid());
  EXPECT_EQ(*faults[0].queue, culprit->id());
  EXPECT_EQ(faults[0].index, 1U);
  EXPECT_EQ(faults[0].address, kNowhere.value);
  EXPECT_EQ(faults[0].opcode, static_cast<std::uint8_t>(abi::QueueOpcode::kFill));
  EXPECT_TRUE(faults[0].write);
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_EQ(heard[0].code, FaultCode::kTranslation);
  EXPECT_TRUE(process->take_faults().empty());
}

// Entries that the card has not started are given up; what ran before stays done.
TEST_F(QueueTest, TicketsTellWhatWasDoneBeforeTheFault) {
  const auto queue = make();
  cp.paused = true;
  const auto before = queue->submit(entries::nop(), in(1_ms));
  const auto bad = queue->submit(entries::fill(kNowhere, 64, 0), in(1_ms));
  const auto behind = queue->submit(entries::nop(), in(1_ms));
  cp.resume();
  EXPECT_THAT(queue->wait(*behind, WaitPolicy::kInterrupt, in(1_s)),
              FailsWith(ErrorCode::kDeviceFault,
                        "entry 2: device address not mapped; of entry 1; write of "));
  EXPECT_THAT(queue->wait(*before, WaitPolicy::kPolling, in(1_ms)), IsOk());
  EXPECT_THAT(queue->wait(*bad, WaitPolicy::kPolling, in(1_ms)),
              FailsWith(ErrorCode::kDeviceFault, "entry 1"));
}

TEST_F(QueueTest, MalformedEntriesAreFaults) {
  const auto bad = [&](auto set, FaultCode code) {
    const auto queue = make();
    auto entry = entries::nop();
    set(entry);
    EXPECT_THAT(run(*queue, entry), FailsWith(ErrorCode::kDeviceFault));
    EXPECT_EQ(process->take_faults().at(0).code, code);
  };
  bad([](auto& e) { e.opcode = 0; }, FaultCode::kMalformedEntry);
  bad([](auto& e) { e.format = 2; }, FaultCode::kMalformedEntry);
  bad([](auto& e) { e.flags = 0x8000; }, FaultCode::kMalformedEntry);
  bad([](auto& e) { e = entries::fill(kNowhere, 3, 0); }, FaultCode::kMalformedEntry);
  bad([](auto& e) { e = entries::copy_on_device(kNowhere, kNowhere, 0); },
      FaultCode::kMalformedEntry);
  bad([](auto& e) { e = entries::record_event(SignalId{512}, 1); }, FaultCode::kInvalidSignal);
}

// Host memory of another process, or of nobody.
TEST_F(QueueTest, MemoryThatIsNotTheProcessOwnIsOutOfReach) {
  const auto other = open_process();
  auto theirs = other->allocate_host(4_KiB);
  auto nobodys = device->allocate_host(4_KiB);
  const auto memory = process->space().allocate(2_MiB);
  const auto foreign = other->space().allocate(2_MiB);
  ASSERT_TRUE(theirs && nobodys && memory && foreign);
  const std::vector<abi::QueueEntry> attempts = {
      entries::copy_to_device((*theirs)->bus(), memory->address, 64),
      entries::copy_to_host(memory->address, (*nobodys)->bus(), 64),
      entries::copy_on_device(foreign->address, memory->address, 64),
      entries::fill(foreign->address, 64, 0)};
  for (const auto& attempt : attempts) {
    const auto queue = make();
    EXPECT_THAT(run(*queue, attempt), FailsWith(ErrorCode::kDeviceFault));
  }
  EXPECT_EQ(process->take_faults().size(), attempts.size());
  EXPECT_TRUE(other->take_faults().empty());
  EXPECT_THAT(run(*make(*other)), IsOk());
}

// A raw write to the own page.
TEST_F(QueueTest, ADoorbellOfNoQueueIsTheProcessFault) {
  const auto queue = make();
  cp.doorbell(4096 * process->doorbell_page() + 8 * 77, 8, 5);
  const auto faults = process->take_faults();
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].code, FaultCode::kDoorbellUnowned);
  EXPECT_EQ(faults[0].doorbell, 77U);
  EXPECT_FALSE(faults[0].queue);
  EXPECT_THAT(run(*queue), IsOk());
  cp.doorbell(4096 * 63, 8, 1);
  const auto stray = take_stray_faults(*device);
  ASSERT_EQ(stray.size(), 1U);
  EXPECT_EQ(stray[0].page, 63U);
  EXPECT_EQ(stray[0].pasid, 0U);
}

TEST_F(QueueTest, ImpossibleIndicesAreFaults) {
  for (const bool backwards : {true, false}) {
    const auto queue = make(small());
    for (int i = 0; i < 3; ++i) ASSERT_THAT(run(*queue), IsOk());
    cp.doorbell(4096 * process->doorbell_page() + 8 * queue->doorbell(), 8, backwards ? 2 : 8);
    EXPECT_EQ(process->take_faults().at(0).code,
              backwards ? FaultCode::kIndexBackwards : FaultCode::kIndexBeyondRing);
    EXPECT_TRUE(queue->faulted());
  }
}

TEST_F(QueueTest, AWaiterWithoutACompletionHearsOfTheFault) {
  const auto queue = make();
  cp.paused = true;
  const auto ticket = queue->submit(entries::nop(), in(1_ms));
  fake.scheduler.at(in(50_us), [&] {
    cp.doorbell(4096 * process->doorbell_page() + 8 * queue->doorbell(), 8, 0);
  });
  const auto begin = fake.scheduler.now();
  EXPECT_THAT(queue->wait(*ticket, WaitPolicy::kInterrupt, in(1_s)),
              FailsWith(ErrorCode::kDeviceFault, "backwards"));
  EXPECT_LT(fake.scheduler.now() - begin, 100_us);
}

TEST_F(QueueTest, WaitingForAFaultEndsWithIt) {
  const auto queue = make();
  EXPECT_THAT(process->wait_fault(in(1_ms)), FailsWith(ErrorCode::kTimeout));
  ASSERT_TRUE(submit(*queue, entries::fill(kNowhere, 4, 0)));
  EXPECT_THAT(process->wait_fault(in(10_ms)), IsOk());
  EXPECT_EQ(process->take_faults().size(), 1U);
}

// A wait that takes too long is its own failure only.
TEST_F(QueueTest, AnEventWaitThatTimesOutDoesNotStopTheQueue) {
  const auto queue = make();
  const auto signal = process->signals().create();
  QueueEntryOptions quiet;
  quiet.completion = false;
  const auto wait = entries::wait_event(*signal, 9, abi::WaitCondition::kReached, 5_us);
  ASSERT_TRUE(queue->submit(wait, in(1_ms), quiet));
  EXPECT_THAT(run(*queue, wait), FailsWith(ErrorCode::kDeviceFault, "timed out"));
  EXPECT_FALSE(queue->faulted());
  EXPECT_THAT(run(*queue), IsOk());
  EXPECT_TRUE(process->take_faults().empty());
}

// 600 faults against a log of 256 records that nobody reads.
TEST_F(QueueTest, AnOverwrittenLogSaysHowMuchIsMissing) {
  const auto queue = make();
  for (int i = 0; i < 600; ++i) cp.doorbell(4096 * process->doorbell_page() + 8 * 99, 8, 1);
  EXPECT_EQ(process->take_faults().size(), 256U);
  EXPECT_EQ(statistics().faults_lost, 344U);
  EXPECT_EQ(statistics().faults, 256U);
}

}  // namespace
}  // namespace npu::driver
