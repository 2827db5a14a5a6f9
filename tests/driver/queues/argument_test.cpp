// SPDX-License-Identifier: Apache-2.0
// What a caller may get wrong: enumerators that there are not, queues of others, times without end.
#include "tests/driver/queues/queue_fixture.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

template <class Enum>
Enum no_such(int value = 7) {
  return static_cast<Enum>(value);
}

TEST_F(QueueTest, MemoriesThatThereAreNotAreRefusedWithTheirField) {
  auto ring = small(), completions = small();
  ring.ring.memory = no_such<QueueMemory>();
  completions.completion_memory = no_such<QueueMemory>();
  EXPECT_THAT(process->create_queue(ring),
              FailsWith(ErrorCode::kInvalidArgument, "ring.memory is 7, 0 .. 1 are possible"));
  EXPECT_THAT(process->create_queue(completions),
              FailsWith(ErrorCode::kInvalidArgument, "completion_memory is 7"));
}

TEST_F(QueueTest, ChangesThatThereAreNotAreRefusedAndChangeNothing) {
  const auto queue = make(small());
  QueueChange ring, memory;
  ring.ring_change = no_such<QueueChange::Ring>();
  memory.ring_change = QueueChange::Ring::kReplace;
  memory.ring.memory = no_such<QueueMemory>();
  EXPECT_THAT(change(*queue, ring), FailsWith(ErrorCode::kInvalidArgument, "ring_change is 7"));
  EXPECT_THAT(change(*queue, memory), FailsWith(ErrorCode::kInvalidArgument, "ring.memory is 7"));
  EXPECT_THAT(run(*queue), IsOk());
}

TEST_F(QueueTest, PoliciesThatThereAreNotAreRefused) {
  const auto queue = make();
  const auto policy = no_such<WaitPolicy>();
  const auto ticket = queue->submit(entries::nop(), in(1_ms));
  const auto signal = process->signals().create();
  const auto stream = device->create_stream();
  ASSERT_TRUE(ticket && signal && stream);
  const auto refused = FailsWith(ErrorCode::kInvalidArgument, "policy is 7, 0 .. 2 are possible");
  EXPECT_THAT(queue->wait(*ticket, policy, in(1_ms)), refused);
  EXPECT_THAT(process->signals().wait(*signal, policy, in(1_ms)), refused);
  Ticket command;
  EXPECT_THAT(device->wait(command, policy, in(1_ms)), refused);
  EXPECT_THAT(queue->wait(*ticket, WaitPolicy::kPolling, in(1_ms)), IsOk());
}

TEST_F(QueueTest, OptionsOfADeviceThatThereAreNotAreRefused) {
  DeviceOptions options;
  options.ring = no_such<RingPlacement>(-1);
  EXPECT_THAT(Device::open(fake, card.config().bdf, options),
              FailsWith(ErrorCode::kInvalidArgument, "ring is -1"));
  StreamOptions placed;
  placed.placement = no_such<StreamPlacement>();
  EXPECT_THAT(device->create_stream(placed),
              FailsWith(ErrorCode::kInvalidArgument, "placement is 7"));
  const auto direction = no_such<platform::DmaDirection>(3);
  EXPECT_THAT(device->allocate_host(4096, direction),
              FailsWith(ErrorCode::kInvalidArgument, "direction is 3"));
  EXPECT_THAT(process->allocate_host(4096, direction),
              FailsWith(ErrorCode::kInvalidArgument, "direction is 3"));
}

TEST_F(QueueTest, CommandsAndAccessesThatThereAreNotAreRefused) {
  const auto stream = device->create_stream();
  const auto memory = device->allocate(2_MiB);
  ASSERT_TRUE(stream && memory);
  for (const int opcode : {0, 5, 255}) {
    const auto command = DmaCommand::untyped(no_such<abi::DmaOpcode>(opcode), memory->address.value,
                                             memory->address.value + 4096, 64);
    EXPECT_THAT(device->submit(*stream, command),
                FailsWith(ErrorCode::kInvalidArgument, "opcode is"));
  }
  EXPECT_THAT(device->address_space().set_access(memory->address, 2_MiB, no_such<Access>()),
              FailsWith(ErrorCode::kInvalidArgument, "access is 7"));
}

TEST_F(QueueTest, AQueueOfAnotherProcessIsNamedAsSuch) {
  const auto other = open_process();
  const auto queue = make(*other);
  EXPECT_THAT(process->destroy(*queue, in(1_ms)),
              FailsWith(ErrorCode::kInvalidArgument, "queue 0 belongs to another process"));
  EXPECT_THAT(process->update(queue->id(), {}),
              FailsWith(ErrorCode::kNotFound, "queue 0 is no queue of the process"));
  EXPECT_THAT(process->query(queue->id()), FailsWith(ErrorCode::kNotFound, "is no queue of"));
  EXPECT_EQ(process->suspend({queue->id()}, in(1_ms))[0], QueueResult::kInvalid);
  EXPECT_THAT(run(*queue), IsOk());
  EXPECT_THAT(other->destroy(*queue, in(1_ms)), IsOk());
  EXPECT_THAT(other->destroy(*queue, in(1_ms)), FailsWith(ErrorCode::kNotFound, "already"));
}

// Neither overflows nor ends at once.
TEST_F(QueueTest, DeadlinesAndTimesMayBeAsLongAsTimeIs) {
  DeviceOptions forever;
  forever.ready_timeout = forever.submit_timeout = forever.compaction_timeout = Picoseconds::max();
  process.reset();
  device.reset();
  auto opened = must(Device::open(fake, card.config().bdf, forever));
  device = std::move(opened);
  ProcessOptions options;
  options.command_timeout = options.drain_timeout = Picoseconds::max();
  process = open_process(options);
  const auto queue = make();
  for (const auto deadline : {in(Picoseconds::max()), Instant::never()}) {
    const auto ticket = must(queue->submit(entries::nop(), deadline));
    EXPECT_THAT(queue->wait(ticket, WaitPolicy::kAdaptive, deadline), IsOk());
    EXPECT_EQ(process->suspend({queue->id()}, deadline)[0], QueueResult::kDone);
    EXPECT_EQ(process->resume({queue->id()}, deadline)[0], QueueResult::kDone);
    EXPECT_THAT(process->evict(deadline), IsOk());
    EXPECT_THAT(process->restore(deadline), IsOk());
  }
  EXPECT_THAT(process->destroy(*queue, Instant::never()), IsOk());
}

}  // namespace
}  // namespace npu::driver
