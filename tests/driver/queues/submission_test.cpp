// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "tests/driver/queues/queue_fixture.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

// A ring in host memory: the barrier and one 8-byte write to the process' page. No read.
TEST_F(QueueTest, SubmittingIsABarrierAndOneDoorbell) {
  const auto first = make(), second = make();
  fake.log_bus = true;
  ASSERT_TRUE(submit(*second));
  fake.log_bus = false;
  ASSERT_EQ(fake.bus_log.size(), 2U);
  EXPECT_EQ(fake.bus_log[0].kind, BusAccess::Kind::kBarrier);
  EXPECT_EQ(fake.bus_log[1].kind, BusAccess::Kind::kWrite);
  EXPECT_EQ(fake.bus_log[1].bar, 2U);
  EXPECT_EQ(fake.bus_log[1].offset,
            kDoorbells + 4096 * process->doorbell_page() + 8 * second->doorbell());
  EXPECT_EQ(fake.bus_log[1].value, 1U);
}

// A ring in device memory: the entry's eight words, the barrier, the doorbell.
TEST_F(QueueTest, ARingInDeviceMemoryIsWrittenThroughBar2) {
  QueueOptions options;
  options.ring.memory = QueueMemory::kDevice;
  const auto queue = make(options);
  fake.log_bus = true;
  ASSERT_TRUE(submit(*queue));
  fake.log_bus = false;
  ASSERT_EQ(fake.bus_log.size(), 10U);
  for (Bytes i = 0; i < 8; ++i) {
    EXPECT_EQ(fake.bus_log[i].kind, BusAccess::Kind::kWrite);
    EXPECT_EQ(fake.bus_log[i].offset, fake.bus_log[0].offset + 8 * i);
  }
  EXPECT_EQ(fake.bus_log[8].kind, BusAccess::Kind::kBarrier);
  EXPECT_EQ(fake.bus_log[9].offset, kDoorbells + 8 * queue->doorbell());
  EXPECT_EQ(queue->counters().entry_writes, 1U);
}

// A card that loads the queue reads the index in memory: it must not be ahead of the entries.
TEST_F(QueueTest, TheIndexInMemoryIsWrittenBetweenTwoBarriers) {
  QueueOptions options;
  options.ring.memory = QueueMemory::kDevice;
  options.indices_in_memory = true;
  const auto queue = make(options);
  fake.log_bus = true;
  ASSERT_TRUE(submit(*queue));
  fake.log_bus = false;
  ASSERT_EQ(fake.bus_log.size(), 11U);
  EXPECT_EQ(fake.bus_log[8].kind, BusAccess::Kind::kBarrier);
  EXPECT_EQ(fake.bus_log[9].kind, BusAccess::Kind::kBarrier);
  EXPECT_EQ(fake.bus_log[10].offset, kDoorbells + 8 * queue->doorbell());
}

TEST_F(QueueTest, ASubmissionCallsNoManager) {
  const auto queue = make();
  const auto before = statistics();
  for (int i = 0; i < 1000; ++i) ASSERT_THAT(run(*queue), IsOk());
  const auto after = statistics();
  EXPECT_EQ(after.calls, before.calls);
  EXPECT_EQ(after.commands, before.commands);
  EXPECT_EQ(after.mmio_writes + after.mmio_reads, before.mmio_writes + before.mmio_reads);
  EXPECT_EQ(queue->counters().doorbells, 1000U);
  EXPECT_EQ(queue->counters().entries, 1000U);
  EXPECT_EQ(queue->counters().entry_writes + queue->counters().mmio_reads, 0U);
}

TEST_F(QueueTest, ManyEntriesShareADoorbell) {
  const auto queue = make();
  const std::vector<abi::QueueEntry> batch(100, entries::nop());
  const auto ticket = must(queue->submit(batch.data(), batch.size(), in(1_ms)));
  EXPECT_EQ(ticket.index, 99U);
  EXPECT_THAT(queue->wait(ticket, WaitPolicy::kPolling, in(1_ms)), IsOk());
  EXPECT_EQ(executed(*queue), 100U);
  EXPECT_EQ(queue->counters().doorbells, 1U);
}

// Every size that is allowed up to 64 entries, in both memories, over many passes.
TEST_F(QueueTest, RingsAndCompletionRingsWrapWithoutLossOrDoubling) {
  for (const auto memory : {QueueMemory::kHost, QueueMemory::kDevice}) {
    for (unsigned log2 = 2; log2 <= 6; ++log2) {
      auto options = small(log2);
      options.ring.memory = options.completion_memory = memory;
      cp.forget_executed();
      const int count = 10 * (1 << log2) + 3;
      const auto queue = make(options);
      for (int i = 0; i < count; ++i) ASSERT_THAT(run(*queue), IsOk()) << i;
      EXPECT_EQ(executed(*queue), static_cast<std::size_t>(count));
      EXPECT_EQ(queue->counters().completions, static_cast<std::size_t>(count));
    }
  }
}

// The deepest ring, filled to its last place twice.
TEST_F(QueueTest, TheLargestRingHoldsAllItsEntries) {
  const auto queue = make(small(16));
  const std::vector<abi::QueueEntry> batch(65'536, entries::nop());
  cp.entry_latency = [](const abi::QueueEntry&) { return 10_ns; };
  for (int pass = 0; pass < 2; ++pass) {
    cp.paused = true;
    const auto last = must(queue->submit(batch.data(), batch.size(), in(10_ms)));
    EXPECT_THAT(queue->submit(entries::nop(), in(10_us)), FailsWith(ErrorCode::kQueueFull));
    cp.resume();
    ASSERT_THAT(queue->wait(last, WaitPolicy::kPolling, in(1_s)), IsOk());
  }
  EXPECT_EQ(executed(*queue), 131'072U);
}

TEST_F(QueueTest, AFullRingIsAnErrorAtTheDeadlineAndSubmitsNothing) {
  const auto queue = make(small());
  cp.paused = true;
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(submit(*queue));
  const auto begin = fake.scheduler.now();
  EXPECT_THAT(queue->submit(entries::nop(), in(50_us)),
              FailsWith(ErrorCode::kQueueFull, "queue 0"));
  EXPECT_GE(fake.scheduler.now() - begin, 50_us);
  EXPECT_LT(fake.scheduler.now() - begin, 60_us);
  EXPECT_EQ(queue->counters().entries, 4U);
  EXPECT_EQ(queue->counters().rejected, 1U);
  cp.resume();
  EXPECT_THAT(run(*queue), IsOk());
}

TEST_F(QueueTest, AFullRingRecoversAndKeepsTheOrder) {
  const auto queue = make(small());
  cp.paused = true;
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(submit(*queue));
  fake.scheduler.at(in(30_us), [&] { cp.resume(); });
  ASSERT_THAT(run(*queue), IsOk());
  ASSERT_EQ(cp.executed().size(), 5U);
  for (std::uint64_t i = 0; i < 5; ++i) EXPECT_EQ(cp.executed()[i].index, i);
  EXPECT_EQ(queue->counters().ring_full, 1U);
}

// Nobody waits for any of them; the driver hears of the room by itself.
TEST_F(QueueTest, EntriesWithoutCompletionDoNotFillTheRing) {
  for (const bool indices : {false, true}) {
    auto options = small();
    options.indices_in_memory = indices;
    const auto queue = make(options);
    cp.forget_executed();
    QueueEntryOptions quiet;
    quiet.completion = false;
    for (int i = 0; i < 1000; ++i) {
      const auto ticket = must(queue->submit(entries::nop(), in(1_ms), quiet));
      ASSERT_EQ(ticket.sequence, 0U);
    }
    EXPECT_THAT(run(*queue), IsOk());
    EXPECT_EQ(executed(*queue), 1001U);
    const auto ticket = queue->submit(entries::nop(), in(1_ms), quiet);
    EXPECT_THAT(queue->is_done(*ticket), FailsWith(ErrorCode::kInvalidArgument));
  }
}

// The places of entries that never said that they were taken are needed for a batch.
TEST_F(QueueTest, AFullBatchFollowsEntriesWithoutCompletion) {
  const std::vector<abi::QueueEntry> batch(16, entries::nop());
  QueueEntryOptions quiet;
  quiet.completion = false;
  for (const bool indices : {false, true}) {
    auto options = small(4);
    options.indices_in_memory = indices;
    const auto queue = make(options);
    for (int round = 0; round < 20; ++round) {
      for (int i = 0; i < round % 4; ++i) {
        ASSERT_THAT(queue->submit(entries::nop(), in(1_ms), quiet), IsOk());
      }
      const auto ticket = queue->submit(batch.data(), batch.size(), in(1_ms));
      ASSERT_THAT(ticket, IsOk()) << round;
      ASSERT_THAT(queue->wait(*ticket, WaitPolicy::kPolling, in(1_ms)), IsOk());
    }
  }
}

TEST_F(QueueTest, ATicketOfAnotherQueueIsRefused) {
  const auto first = make(), second = make();
  const auto ticket = first->submit(entries::nop(), in(1_ms));
  EXPECT_THAT(second->is_done(*ticket), FailsWith(ErrorCode::kInvalidArgument, "queue 0"));
  EXPECT_THAT(second->wait(*ticket, WaitPolicy::kPolling, in(1_ms)),
              FailsWith(ErrorCode::kInvalidArgument));
}

TEST_F(QueueTest, IndicesInMemoryFollowTheQueue) {
  auto options = small();
  options.indices_in_memory = true;
  const auto queue = make(options);
  for (int i = 0; i < 9; ++i) ASSERT_THAT(run(*queue), IsOk());
  const auto status = must(process->query(queue->id()));
  EXPECT_EQ(status.read_index, 9U);
  EXPECT_EQ(status.write_index, 9U);
  EXPECT_EQ(status.completed, 9U);
  EXPECT_EQ(status.doorbells, 9U);
}

TEST_F(QueueTest, RefusesBatchesThatCannotFit) {
  const auto queue = make(small());
  const std::vector<abi::QueueEntry> batch(5, entries::nop());
  EXPECT_THAT(queue->submit(batch.data(), 5, in(1_ms)), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(queue->submit(batch.data(), 0, in(1_ms)), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_EQ(queue->counters().doorbells, 0U);
}

TEST_F(QueueTest, CopiesAndFillsMoveBytes) {
  const auto queue = make();
  const auto memory = process->space().allocate(4_MiB);
  auto host = process->allocate_host(8_KiB);
  ASSERT_TRUE(memory && host);
  for (Bytes i = 0; i < 4_KiB; i += 8) (*host)->store<std::uint64_t>(i, i * 0x9E3779B9);
  const auto at = memory->address, other = memory->address + (2_MiB - 100);
  ASSERT_THAT(run(*queue, entries::copy_to_device((*host)->bus(), at, 4_KiB)), IsOk());
  ASSERT_THAT(run(*queue, entries::copy_on_device(at, other, 4_KiB)), IsOk());
  ASSERT_THAT(run(*queue, entries::copy_to_host(other, (*host)->bus() + 4_KiB, 4_KiB)), IsOk());
  EXPECT_EQ(std::memcmp((*host)->cpu().data, (*host)->cpu().data + 4_KiB, 4_KiB), 0);
  ASSERT_THAT(run(*queue, entries::fill(at, 64, 0x01010101)), IsOk());
  ASSERT_THAT(run(*queue, entries::copy_to_host(at, (*host)->bus(), 64)), IsOk());
  EXPECT_EQ((*host)->load<std::uint64_t>(56), 0x0101010101010101U);
}

TEST_F(QueueTest, EveryOtherEntryRuns) {
  const auto queue = make();
  const auto memory = process->space().allocate(2_MiB);
  auto host = process->allocate_host(4_KiB);
  ASSERT_TRUE(memory && host);
  const auto image = memory->address + 64_KiB;
  for (const auto cores : {abi::QueueOpcode::kLaunchAiCore, abi::QueueOpcode::kLaunchAicpu}) {
    EXPECT_THAT(run(*queue, entries::launch_image(cores, image, 8, memory->address, 40)), IsOk());
  }
  EXPECT_THAT(run(*queue, entries::barrier()), IsOk());
  EXPECT_THAT(run(*queue, entries::notify()), IsOk());
  EXPECT_THAT(run(*queue, entries::timestamp((*host)->bus() + 8)), IsOk());
  EXPECT_GT((*host)->load<std::uint64_t>(8), 0U);
  EXPECT_THAT(run(*queue, entries::timestamp(memory->address)), IsOk());
}

TEST_F(QueueTest, FlagsSayWhatWasAskedFor) {
  const auto queue = make();
  QueueEntryOptions options;
  options.barrier = true;
  options.interrupt = false;
  const auto ticket = queue->submit(entries::nop(), in(1_ms), options);
  ASSERT_THAT(queue->wait(*ticket, WaitPolicy::kPolling, in(1_ms)), IsOk());
  EXPECT_EQ(cp.executed()[0].entry.flags, abi::kEntryBarrier | abi::kEntryCompletion);
}

// Completions that nobody counts would overwrite those that somebody waits for.
TEST_F(QueueTest, OnlyOptionsAskForCompletions) {
  const auto queue = make(small(4));
  auto entry = entries::nop();
  entry.flags = abi::kEntryCompletion | abi::kEntryInterrupt;
  QueueEntryOptions quiet;
  quiet.completion = false;
  ASSERT_THAT(queue->submit(entry, in(1_ms), quiet), IsOk());
  pass(100_us);
  EXPECT_EQ(cp.executed().back().entry.flags, 0U);
}

// A queue whose user does not read completions is held back before they are overwritten.
TEST_F(QueueTest, OutcomesAreKeptForAsManyEntriesAsTheCompletionRingHas) {
  auto options = small();
  options.log2_completions = 3;
  const auto queue = make(options);
  std::vector<QueueTicket> tickets;
  for (int i = 0; i < 9; ++i) {
    const auto ticket = must(queue->submit(entries::nop(), in(1_ms)));
    tickets.push_back(ticket);
  }
  ASSERT_THAT(queue->wait(tickets[8], WaitPolicy::kPolling, in(1_ms)), IsOk());
  EXPECT_THAT(queue->is_done(tickets[0]), FailsWith(ErrorCode::kNotFound, "forgotten"));
  for (std::size_t i = 1; i < 9; ++i) EXPECT_THAT(queue->is_done(tickets[i]), IsOk());
}

}  // namespace
}  // namespace npu::driver
