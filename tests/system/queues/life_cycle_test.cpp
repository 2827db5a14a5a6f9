// SPDX-License-Identifier: Apache-2.0
// Queues that are disabled, changed, suspended, evicted and destroyed while they work.
#include "tests/system/queues/queue_card.hpp"

namespace npu::test {
namespace {

using Ring = driver::QueueChange::Ring;

// kfdtest: DisableCpQueueByUpdateWithNullAddress, ...WithZeroPercentage.
TEST(QueueLife, ADisabledQueueRunsItsPacketsOnlyAfterItIsEnabled) {
  on_queue_card([](QueueCard& card, QueueProcess& process) {
    auto& queue = process.add();
    auto& reader = process.add();
    const auto at = process.memory + 1_MiB;
    for (const bool by_ring : {true, false}) {
      ASSERT_TRUE(card.run(queue, entries::fill(at, 4, 0xFFFF'FFFF)));
      driver::QueueChange off, on;
      if (by_ring) {
        off.ring_change = Ring::kNullRing;
        on.ring_change = Ring::kRestore;
      } else {
        off.percentage = 0;
        on.percentage = 100;
      }
      ASSERT_TRUE(process.process->update(queue.id(), off));
      const auto ticket = card.submit(queue, entries::fill(at, 4, 1));
      card.pass(2_s);
      EXPECT_EQ(process.read(reader, at, 4)[0], 0xFFFF'FFFFU);
      ASSERT_TRUE(process.process->update(queue.id(), on));
      EXPECT_TRUE(card.wait(queue, ticket));
      EXPECT_EQ(process.read(reader, at, 4)[0], 1U);
    }
  });
}

// Suspending waits for what runs, but one process at a time: commands of others do not wait with
// it.
TEST(QueueLife, AKernelThatDoesNotEndHoldsUpNobodyElsesQueues) {
  Machine().run([](platform::Platform& host) {
    QueueCard card(host);
    QueueProcess slow(card), other(card);
    auto& queue = slow.add();
    const auto kernel = card.submit(queue, slow.spin(queue, 1'850'000'000));  // 1 s
    card.pass(100_us);
    auto suspender = must(host.tasks().spawn("suspend", [&] {
      const auto begin = host.clock().now();
      EXPECT_EQ(slow.process->suspend({queue.id()}, card.in(50_ms))[0],
                driver::QueueResult::kError);
      EXPECT_LT(host.clock().now() - begin, 200_ms);
      EXPECT_EQ(slow.process->suspend({queue.id()}, card.in(3_s))[0], driver::QueueResult::kDone);
      EXPECT_EQ(slow.process->resume({queue.id()}, card.in(50_ms))[0], driver::QueueResult::kDone);
    }));
    card.pass(1_ms);
    for (int i = 0; i < 10; ++i) {
      const auto begin = host.clock().now();
      auto& quick = other.add();
      EXPECT_TRUE(card.run(quick, entries::nop()));
      EXPECT_LT(host.clock().now() - begin, 5_ms) << i;
    }
    suspender->join();
    EXPECT_TRUE(card.wait(queue, kernel, 2_s));
  });
}

// A chain of additions that every element takes through 200 kernels, with and without 1000 breaks.
std::vector<std::uint32_t> chained_result(unsigned cycles, std::uint64_t& maps) {
  std::vector<std::uint32_t> words;
  on_queue_card([&](QueueCard& card, QueueProcess& process) {
    driver::QueueOptions options;
    options.in_order = true;
    options.core_mask = driver::first_cores(2);
    auto& queue = process.add(options);
    constexpr Bytes kBytes = 64_KiB;
    const auto a = process.memory + 1_MiB, b = process.memory + 2_MiB;
    ASSERT_TRUE(card.run(queue, entries::fill(a, kBytes, 0x3F80'0000)));  // 1.0f
    ASSERT_TRUE(card.run(queue, entries::fill(b, kBytes, 0x3F00'0000)));  // 0.5f
    const auto add = process.add(queue, a, b, kBytes, 16);
    driver::QueueTicket last;
    for (int i = 0; i < 200; ++i) last = card.submit(queue, add);
    for (unsigned i = 0; i < cycles; ++i) {
      EXPECT_EQ(process.process->suspend({queue.id()}, card.in(10_ms))[0],
                driver::QueueResult::kDone);
      EXPECT_EQ(process.process->resume({queue.id()}, card.in(10_ms))[0],
                driver::QueueResult::kDone);
      card.pass(1_us);
    }
    EXPECT_TRUE(card.wait(queue, last));
    maps = must(process.process->query(queue.id())).maps;
    words = process.read(queue, a, kBytes);
  });
  return words;
}
TEST(QueueLife, AThousandSuspendResumeCyclesChangeNoResult) {
  std::uint64_t maps = 0;
  const auto words = chained_result(1000, maps);
  // 1 + 200 * 0.5 = 101, exactly.
  EXPECT_EQ(words, std::vector<std::uint32_t>(16384, 0x42CA'0000));
  EXPECT_GT(maps, 100U) << "it was taken out of its slot while it worked";
}
TEST(QueueLife, WithoutBreaksTheResultIsTheSame) {
  std::uint64_t maps = 0;
  EXPECT_EQ(chained_result(0, maps), std::vector<std::uint32_t>(16384, 0x42CA'0000));
  EXPECT_EQ(maps, 1U);
}

TEST(QueueLife, EvictedProcessesStandStillAndOthersGoOn) {
  Machine().on<QueueCard>([](QueueCard& card) {
    QueueProcess evicted(card), other(card);
    auto& first = evicted.add();
    auto& second = other.add();
    ASSERT_TRUE(evicted.process->evict(card.in(1_ms)));
    auto& born = evicted.add();
    const auto one = card.submit(first, entries::nop()), two = card.submit(born, entries::nop());
    EXPECT_TRUE(card.run(second, entries::nop()));
    card.pass(1_ms);
    EXPECT_FALSE(must(first.is_done(one)) || must(born.is_done(two)));
    ASSERT_TRUE(evicted.process->restore(card.in(1_ms)));
    EXPECT_TRUE(card.wait(first, one));
    EXPECT_TRUE(card.wait(born, two));
  });
}

TEST(QueueLife, ARingIsReplacedWhileEntriesWait) {
  on_queue_card([](QueueCard& card, QueueProcess& process) {
    driver::QueueOptions options;
    options.ring.log2_entries = 4;
    options.log2_completions = 8;
    auto& queue = process.add(options);
    const auto kernel = process.spin(queue, 50'000);
    driver::QueueTicket last;
    for (int i = 0; i < 15; ++i) last = card.submit(queue, kernel);
    driver::QueueChange change;
    change.ring_change = Ring::kReplace;
    for (const auto memory : {driver::QueueMemory::kDevice, driver::QueueMemory::kHost}) {
      change.ring = {memory, 7};
      ASSERT_TRUE(process.process->update(queue.id(), change));
      for (int i = 0; i < 50; ++i) last = card.submit(queue, kernel);
    }
    EXPECT_TRUE(card.wait(queue, last));
    // With the copies of the kernel and of its argument.
    EXPECT_EQ(must(process.process->query(queue.id())).completed, 117U);
  });
}

TEST(QueueLife, ABusyQueueIsDestroyedByDrainOrByReset) {
  on_queue_card([](QueueCard& card, QueueProcess& process) {
    auto& busy = process.add();
    auto& stuck = process.add();
    auto& endless = process.add();
    auto& neighbour = process.add();
    const auto kernel = process.spin(busy, 100'000);
    for (int i = 0; i < 20; ++i) card.submit(busy, kernel);
    EXPECT_EQ(must(process.process->destroy(busy, card.in(1_s))), driver::QueueEnd::kDrained);
    const auto signal = must(process.process->signals().create());
    card.submit(stuck, entries::wait_event(signal, 1'000));
    EXPECT_EQ(must(process.process->destroy(stuck, card.in(1_ms))), driver::QueueEnd::kReset);
    card.submit(endless, process.spin(neighbour, 1'850'000'000, 1));  // a second
    const auto begin = card.in({});
    EXPECT_EQ(must(process.process->destroy(endless, card.in(1_ms))), driver::QueueEnd::kReset);
    EXPECT_LT(card.in({}) - begin, 5_ms);
    EXPECT_TRUE(card.run(neighbour, entries::nop()));
  });
}

// Compaction moves what kernels work on; they stand still meanwhile and go on behind it.
TEST(QueueLife, CompactionMovesMemoryUnderQueuesThatWork) {
  on_queue_card([](QueueCard& card, QueueProcess& process) {
    auto& queue = process.add();
    // Of the last 3 GiB all is free but two blocks of ours, with 2004 MiB at most in one piece.
    auto& space = process.process->space();
    std::vector<driver::DeviceAddress> fillers, blocks;
    for (auto page = space.allocate(1_GiB); page; page = space.allocate(1_GiB)) {
      fillers.push_back(page->address);
    }
    ASSERT_TRUE(space.free(fillers[0]) && space.free(fillers[1]));
    for (auto block = space.allocate(4_MiB); block; block = space.allocate(4_MiB)) {
      blocks.push_back(block->address);
    }
    const auto a = blocks[blocks.size() - 300], b = blocks[blocks.size() - 10];
    for (const auto block : blocks) {
      if (block == a || block == b) continue;
      ASSERT_TRUE(space.free(block));
    }
    const auto half = process.memory + 1_MiB;
    ASSERT_TRUE(card.run(queue, entries::fill(half, 64_KiB, 0x3F00'0000)));  // 0.5f
    driver::QueueEntryOptions barrier;
    barrier.barrier = true;
    std::vector<abi::QueueEntry> kernels;
    for (const auto sum : {a, b}) {
      ASSERT_TRUE(card.run(queue, entries::fill(sum, 64_KiB, 0x3F80'0000)));  // 1.0f
      const auto place = static_cast<unsigned>(kernels.size());
      kernels.push_back(process.add(queue, sum, half, 64_KiB, 16, place));
    }
    driver::QueueTicket last;
    for (int i = 0; i < 200; ++i)
      last = must(queue.submit(kernels[i % 2 == 0 ? 0 : 1], card.in(1_s), barrier));
    const auto report = must(card.device->compact(2560_MiB));
    EXPECT_GT(report.moved, 0U);
    EXPECT_FALSE(must(queue.is_done(last))) << "it came in between";
    EXPECT_TRUE(card.wait(queue, last));
    const std::vector<std::uint32_t> sum(16384, 0x424C'0000);  // 1 + 100 * 0.5
    EXPECT_EQ(process.read(queue, a, 64_KiB), sum);
    EXPECT_EQ(process.read(queue, b, 64_KiB), sum);
  });
}

// kfdtest: CreateQueueStressSingleThreaded, all four orders; one of a process that stays, and one
// that makes the card forget it.
TEST(QueueLife, TenThousandRoundsOfCreatingAndDestroyingLeaveNothing) {
  Machine().on<QueueCard>([](QueueCard& card) {
    const auto process = card.process();
    driver::QueueOptions options;
    options.ring.log2_entries = 2;
    const auto free = card.device->memory_statistics().free;
    for (unsigned round = 0; round < 10'000; ++round) {
      std::unique_ptr<driver::Queue> queues[2];
      for (const unsigned i : {0U, 1U}) {
        queues[i ^ (round & 1)] = must(process->create_queue(options));
      }
      if (round % 16 == 0) {
        ASSERT_TRUE(card.run(*queues[0], entries::nop()));
      }
      for (const unsigned i : {0U, 1U}) queues[i ^ (round >> 1 & 1)].reset();
      ASSERT_EQ(queue_statistics(*card.device).queue_ids, 0U);
    }
    EXPECT_EQ(card.device->memory_statistics().free, free);
    EXPECT_EQ(queue_statistics(*card.device).timeouts, 0U);
  });
}

// Rounds of processes; the card ends where it began.
TEST(QueueLife, ProcessesWithQueuesComeAndGoLeavingNothing) {
  Machine().on<QueueCard>([](QueueCard& card) {
    const auto free = card.device->memory_statistics().free;
    for (int round = 0; round < 100; ++round) {
      const auto process = card.process();
      driver::QueueOptions options;
      if (round % 2 == 1) options.ring.memory = driver::QueueMemory::kDevice;
      auto first = must(process->create_queue(options));
      auto second = must(process->create_queue(options));
      ASSERT_TRUE(card.run(*first, entries::nop()) && card.run(*second, entries::nop()));
      (round / 2 % 2 == 0 ? first : second).reset();
      auto third = must(process->create_queue(options));
      ASSERT_TRUE(card.run(*third, entries::nop()));
    }
    EXPECT_EQ(card.device->memory_statistics().free, free);
    const auto left = queue_statistics(*card.device);
    EXPECT_EQ(left.queue_ids + left.pasids + left.doorbell_pages + left.mapped_processes, 0U);
  });
}

}  // namespace
}  // namespace npu::test
