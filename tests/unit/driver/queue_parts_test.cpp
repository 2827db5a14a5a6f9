// SPDX-License-Identifier: Apache-2.0
// Parts of a process and of a queue that need no card.
#include "driver/dma/submission_gate.hpp"
#include "driver/queue/process_faults.hpp"
#include "driver/queue/queue_table.hpp"
#include "driver/queue/resumptions.hpp"
#include "driver/queue/wait_history.hpp"
#include "tests/support/fake/fake_platform.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

using test::FailsWith;

// The only task's time.
class SetClock : public platform::Clock {
 public:
  Instant now() override { return time; }
  void relax(ConstByteSpan, Instant) override { FAIL() << "a lock is kept"; }
  void sleep_until(Instant) override { FAIL() << "nobody sleeps here"; }
  Instant time;
};

QueueFault fault_of(std::uint32_t queue, std::uint64_t index, abi::FaultCode code) {
  QueueFault fault;
  fault.queue = QueueId{queue};
  fault.index = index;
  fault.code = code;
  return fault;
}

QueueTicket ticket_of(std::uint64_t index) {
  QueueTicket ticket;
  ticket.queue = QueueId{1};
  ticket.index = index;
  return ticket;
}

TEST(ChannelFaults, TheFirstOneHasStoppedTheQueue) {
  SetClock clock;
  ChannelFaults faults(clock, QueueId{1});
  EXPECT_FALSE(faults.any());
  faults.note(abi::FaultCode::kTranslation);
  faults.note(abi::FaultCode::kPoisoned);
  EXPECT_EQ(faults.code(), abi::FaultCode::kTranslation);
}

TEST(ChannelFaults, AnEntryStoppedByAnotherIsToldOfWhich) {
  SetClock clock;
  ChannelFaults faults(clock, QueueId{1});
  faults.note(fault_of(1, 7, abi::FaultCode::kTranslation));
  const auto own = faults.error_of(ticket_of(7), abi::FaultCode::kTranslation).value();
  const auto other = faults.error_of(ticket_of(8), abi::FaultCode::kTranslation).value();
  EXPECT_EQ(own.code, ErrorCode::kDeviceFault);
  EXPECT_EQ(own.context.find("of entry"), std::string::npos);
  EXPECT_NE(other.context.find("; of entry 7"), std::string::npos);
}

TEST(QueueTable, FindsQueuesByIdAndKeepsTheirOrder) {
  SetClock clock;
  SharedIdPool ids(clock, 0, 8);
  QueueTable table;
  for (const std::uint32_t id : {5U, 2U, 7U}) {
    auto record = std::make_unique<QueueRecord>();
    record->id = PooledId(ids, id);
    record->id.lose();
    table.add(std::move(record));
  }
  std::vector<std::uint32_t> order;
  for (const auto& record : table.records()) order.push_back(record->id.value());
  EXPECT_EQ(order, (std::vector<std::uint32_t>{2, 5, 7}));
  ASSERT_NE(table.find(QueueId{7}), nullptr);
  EXPECT_EQ(table.find(QueueId{3}), nullptr);
  table.find(QueueId{7})->dying = true;
  EXPECT_EQ(table.count(), 2U);
}

TEST(ProcessFaults, AreKeptForWhoTakesThemTheNewestOnes) {
  SetClock clock;
  ProcessFaults faults(clock);
  for (std::uint64_t i = 0; i < 1025; ++i) faults.note(fault_of(1, i, abi::FaultCode::kPoisoned));
  EXPECT_FALSE(faults.empty());
  const auto taken = faults.take();
  ASSERT_EQ(taken.size(), 1024U);
  EXPECT_EQ(taken.front().index, 1U);
  EXPECT_TRUE(faults.empty());
}

TEST(ProcessFaults, GoToTheHandlerOnceAndItMayTakeThem) {
  SetClock clock;
  ProcessFaults faults(clock);
  std::vector<std::uint64_t> heard;
  faults.note(fault_of(1, 1, abi::FaultCode::kPoisoned));  // nobody listens yet
  faults.set_handler([&](const QueueFault& fault) {
    heard.push_back(fault.index);
    static_cast<void>(faults.take());
  });
  faults.note(fault_of(1, 2, abi::FaultCode::kPoisoned));
  faults.deliver();
  faults.deliver();
  EXPECT_EQ(heard, (std::vector<std::uint64_t>{2}));
}

TEST(ProcessFaults, AQueueThatIsGoneNeedsToHearNothing) {
  SetClock clock;
  ProcessFaults faults(clock);
  EXPECT_TRUE(faults.is_known_to(QueueId{1}));
}

TEST(WaitHistory, WaitsArePlannedByWhatSuchEntriesTook) {
  for (const auto& [took, kind] :
       {std::pair<Picoseconds, WaitPlan::Kind>(2_us, WaitPlan::Kind::kSpin),
        std::pair<Picoseconds, WaitPlan::Kind>(1_ms, WaitPlan::Kind::kSleep)}) {
    SetClock clock;
    WaitHistory history(clock, AdaptiveOptions{});
    for (int i = 0; i < 8; ++i) {
      auto ticket = ticket_of(0);
      ticket.submitted = clock.now();
      const auto plan = history.plan(ticket);
      clock.time = clock.time + took;
      history.learn(ticket, false, plan.is_long);
    }
    auto next = ticket_of(0);
    next.submitted = clock.now();
    EXPECT_EQ(history.plan(next).kind, kind) << took.us() << " us";
  }
}

TEST(Resumptions, OneSinceTheLookIsNotWaitedFor) {
  test::FakePlatform fake;
  auto& platform = static_cast<platform::Platform&>(fake);
  Resumptions resumptions(platform.tasks());
  const auto seen = resumptions.count();
  resumptions.note();
  EXPECT_TRUE(resumptions.wait_after(seen, fake.scheduler.now()));
  EXPECT_FALSE(resumptions.wait_after(seen + 1, fake.scheduler.now() + 1_us));
}

TEST(SubmissionGate, HoldsUpUntilItOpensOrTheDeadline) {
  test::FakePlatform fake;
  SubmissionGate gate(static_cast<platform::Platform&>(fake).tasks());
  EXPECT_TRUE(gate.wait_open(fake.scheduler.now()));
  gate.close();
  EXPECT_FALSE(gate.wait_open(fake.scheduler.now() + 1_us));
  fake.scheduler.at(fake.scheduler.now() + 1_us, [&] { gate.open(); });
  EXPECT_TRUE(gate.wait_open(fake.scheduler.now() + 1_ms));
  EXPECT_FALSE(gate.is_closed());
}

}  // namespace
}  // namespace npu::driver
