// SPDX-License-Identifier: Apache-2.0
// The driver's queues end to end: both memories, all policies, counters, signals, faults.
#include "tests/system/queues/queue_card.hpp"

namespace npu::test {
namespace {

using driver::QueueMemory;
using driver::WaitPolicy;

void bytes_come_back(QueueMemory ring, QueueMemory completions) {
  on_queue_card([&](QueueCard& card, QueueProcess& process) {
    driver::QueueOptions options;
    options.ring.memory = ring;
    options.completion_memory = completions;
    options.ring.log2_entries = 3;
    auto& queue = process.add(options);
    const auto before = queue_statistics(*card.device);
    for (std::uint64_t round = 1; round <= 50; ++round) {
      for (Bytes i = 0; i < 4_KiB; i += 8) process.host->store(i, round * i);
      const auto at = process.memory + (2_MiB - 2_KiB);
      ASSERT_TRUE(card.run(queue, entries::copy_to_device(process.host->bus(), at, 4_KiB)));
      ASSERT_TRUE(card.run(queue, entries::copy_to_host(at, process.host->bus() + 64_KiB, 4_KiB)));
      ASSERT_EQ(std::memcmp(process.host->cpu().data, process.host->cpu().data + 64_KiB, 4_KiB), 0);
    }
    const auto after = queue_statistics(*card.device);
    EXPECT_EQ(after.calls, before.calls);
    EXPECT_EQ(after.commands, before.commands);
    const auto counters = queue.counters();
    EXPECT_EQ(counters.doorbells, 100U);
    EXPECT_EQ(counters.entry_writes, ring == QueueMemory::kDevice ? 100U : 0U);
    EXPECT_EQ(counters.mmio_reads > 0, completions == QueueMemory::kDevice);
  });
}
TEST(DriverQueue, CopiesThroughRingsInHostMemory) {
  bytes_come_back(QueueMemory::kHost, QueueMemory::kHost);
}
TEST(DriverQueue, CopiesThroughARingInDeviceMemory) {
  bytes_come_back(QueueMemory::kDevice, QueueMemory::kHost);
}
TEST(DriverQueue, CopiesThroughRingsInDeviceMemory) {
  bytes_come_back(QueueMemory::kDevice, QueueMemory::kDevice);
}

TEST(DriverQueue, EveryPolicyEndsWithTheEntry) {
  on_queue_card([](QueueCard& card, QueueProcess& process) {
    auto& queue = process.add();
    const auto kernel = process.spin(queue, 185'000);  // 100 us
    for (const auto policy :
         {WaitPolicy::kPolling, WaitPolicy::kInterrupt, WaitPolicy::kAdaptive}) {
      const auto begin = card.in({});
      ASSERT_TRUE(queue.wait(card.submit(queue, kernel), policy, card.in(1_s)));
      EXPECT_GE(card.in({}) - begin, 100_us);
      EXPECT_LT(card.in({}) - begin, 125_us);
    }
    EXPECT_GE(queue.counters().slept, 1U);
    EXPECT_EQ(queue.counters().missed_interrupts, 0U);
  });
}

// A process writes and reads another card's memory by its own queue.
TEST(DriverQueue, CopiesToAndFromAPeersMemory) {
  Machine({}, "system-2x910b2.yaml").run([](platform::Platform& host) {
    QueueCard card(host, 0), other(host, 1);
    QueueProcess process(card), owner(other);
    const auto lent = must(owner.process->space().create_memory(2_MiB));
    const auto map = [&](driver::AddressSpace& space, driver::MemoryHandle memory) {
      const auto at = must(space.reserve(2_MiB));
      EXPECT_TRUE(space.map(at, 2_MiB, memory));
      return at;
    };
    auto& space = process.process->space();
    const auto here = map(space, must(space.import_memory(owner.process->space(), lent)));
    const auto there = map(owner.process->space(), lent);
    ASSERT_TRUE(owner.process->space().set_access(there, 2_MiB, driver::Access::kReadWrite));
    auto& queue = process.add();
    auto& owners = owner.add();
    const auto own = process.memory + 1_MiB;
    ASSERT_TRUE(card.run(queue, entries::fill(own, 64_KiB, 0xC0FFEE)));
    ASSERT_TRUE(space.set_access(here, 2_MiB, driver::Access::kReadWrite));
    EXPECT_TRUE(card.run(queue, entries::copy_to_peer(own, here + 4_KiB, 64_KiB)));
    EXPECT_EQ(owner.read(owners, there + 4_KiB, 64_KiB),
              std::vector<std::uint32_t>(16384, 0xC0FFEE));
    ASSERT_TRUE(other.run(owners, entries::fill(there, 4_KiB, 0xBEEF)));
    EXPECT_TRUE(card.run(queue, entries::copy_to_peer(here, own, 4_KiB)));
    EXPECT_EQ(process.read(queue, own, 4_KiB), std::vector<std::uint32_t>(1024, 0xBEEF));
    ASSERT_TRUE(space.set_access(here, 2_MiB, driver::Access::kRead));
    EXPECT_EQ(card.run(queue, entries::copy_to_peer(own, here, 64)).error().code,
              ErrorCode::kDeviceFault);
    EXPECT_EQ(process.process->take_faults().at(0).code, abi::FaultCode::kDevicePermission);
    EXPECT_TRUE(other.run(owners, entries::nop()));
  });
}

// Rings wrap many times, with and without completions.
TEST(DriverQueue, TenThousandEntriesThroughARingOfFour) {
  on_queue_card([](QueueCard& card, QueueProcess& process) {
    for (const bool indices : {false, true}) {
      driver::QueueOptions options;
      options.ring.log2_entries = 2;
      options.indices_in_memory = indices;
      auto& queue = process.add(options);
      driver::QueueEntryOptions quiet;
      quiet.completion = false;
      for (int i = 0; i < 5'000; ++i)
        ASSERT_TRUE(queue.submit(entries::nop(), card.in(1_ms), quiet));
      for (int i = 0; i < 5'000; ++i) ASSERT_TRUE(queue.submit(entries::nop(), card.in(1_ms)));
      EXPECT_TRUE(card.run(queue, entries::nop()));
      EXPECT_EQ(must(process.process->query(queue.id())).completed, 10'001U);
    }
  });
}

// A long kernel at the head, and short entries that overtake it: the ring has room while
// completions are outstanding. The driver must not have more of those than the ring for them holds.
TEST(DriverQueue, CompletionsAreNotOverwrittenWhenEntriesOvertake) {
  on_queue_card([](QueueCard& card, QueueProcess& process) {
    driver::QueueOptions options;
    options.ring.log2_entries = 2;
    auto& queue = process.add(options);
    const auto kernel = process.spin(queue, 185'000);  // 100 us
    for (int round = 0; round < 20; ++round) {
      const auto head = card.submit(queue, kernel);
      for (int i = 0; i < 3; ++i) ASSERT_TRUE(card.run(queue, entries::nop()));
      EXPECT_FALSE(must(queue.is_done(head))) << "it has been overtaken";
      EXPECT_FALSE(queue.submit(entries::nop(), card.in(5_us))) << "its outcome has no other place";
      ASSERT_TRUE(card.wait(queue, head, 1_ms));
      std::vector<driver::QueueTicket> tickets;
      tickets.reserve(4);
      for (int i = 0; i < 4; ++i) tickets.push_back(card.submit(queue, entries::nop()));
      for (const auto& ticket : tickets) ASSERT_TRUE(card.wait(queue, ticket, 1_ms));
    }
  });
}

// Two queues pass a token to and fro on the device; the host only waits for the end.
TEST(DriverQueue, QueuesWaitForEachOtherWithoutTheHost) {
  on_queue_card([](QueueCard& card, QueueProcess& process) {
    auto& first = process.add();
    auto& second = process.add();
    const auto ping = must(process.process->signals().create());
    const auto pong = must(process.process->signals().create());
    driver::QueueTicket last;
    for (std::uint64_t i = 2; i < 102; ++i) {
      card.submit(second, entries::wait_event(ping, i));
      card.submit(second, entries::record_event(pong, i));
      card.submit(first, entries::record_event(ping, i));
      last = card.submit(first, entries::wait_event(pong, i));
    }
    EXPECT_TRUE(card.wait(first, last));
    EXPECT_EQ(must(process.process->signals().age(pong)), 101U);
  });
}

TEST(DriverQueue, HostAndQueuesSignalEachOther) {
  on_queue_card([](QueueCard& card, QueueProcess& process) {
    driver::QueueOptions options;
    options.process_vector = true;
    auto& queue = process.add(options);
    auto& signals = process.process->signals();
    const auto go = must(signals.create()), done = must(signals.create());
    for (std::uint64_t i = 2; i < 50; ++i) {
      card.submit(queue, entries::wait_event(go, i));
      card.submit(queue, entries::record_event(done, i));
      card.pass(20_us);
      EXPECT_FALSE(must(signals.is_set(done)));
      ASSERT_TRUE(signals.set(go));
      const auto policy = i % 2 == 0 ? WaitPolicy::kInterrupt : WaitPolicy::kPolling;
      const auto begin = card.in({});
      ASSERT_TRUE(signals.wait(done, policy, card.in(1_s)));
      EXPECT_LT(card.in({}) - begin, 30_us);
      EXPECT_EQ(must(signals.age(done)), i);
      ASSERT_TRUE(signals.reset(done));
    }
  });
}

TEST(DriverQueue, AFaultIsItsOwnersAlone) {
  Machine().on<QueueCard>([](QueueCard& card) {
    QueueProcess bad(card), good(card);
    auto& culprit = bad.add();
    auto& sibling = bad.add();
    auto& neighbour = good.add();
    std::vector<driver::QueueFault> heard;
    bad.process->on_fault([&](const driver::QueueFault& fault) { heard.push_back(fault); });
    const auto before = card.submit(culprit, entries::nop());
    const auto ticket = card.submit(culprit, entries::fill(good.memory, 64, 0xBAD));
    driver::QueueEntryOptions barrier;
    barrier.barrier = true;
    const auto behind = must(culprit.submit(entries::nop(), card.in(1_ms), barrier));
    EXPECT_FALSE(card.wait(culprit, behind));
    EXPECT_TRUE(card.wait(culprit, before));
    EXPECT_EQ(card.wait(culprit, ticket).error().code, ErrorCode::kDeviceFault);
    ASSERT_EQ(heard.size(), 1U);
    EXPECT_EQ(heard[0].code, abi::FaultCode::kTranslation);
    EXPECT_EQ(*heard[0].queue, culprit.id());
    EXPECT_EQ(heard[0].address, good.memory.value);
    EXPECT_EQ(must(bad.process->query(culprit.id())).state, abi::QueueState::kFaulted);
    EXPECT_TRUE(card.run(sibling, entries::nop()));
    EXPECT_TRUE(card.run(neighbour, entries::nop()));
    EXPECT_TRUE(good.process->take_faults().empty());
    EXPECT_TRUE(bad.process->destroy(culprit, card.in(1_ms)));
  });
}

// It is not before its turn that an entry stops its queue: a kernel of which only some blocks have
// started is before it.
TEST(DriverQueue, AMalformedEntryOfAnInOrderQueueCutsNothingBeforeItShort) {
  on_queue_card([](QueueCard& card, QueueProcess& process) {
    driver::QueueOptions options;
    options.in_order = true;
    options.core_mask = driver::first_cores(1);
    auto& queue = process.add(options);
    auto kernel = process.spin(queue, 1000);
    auto launch = kernel.get<abi::LaunchPayload>();
    launch.blocks = 8;
    kernel.set(launch);
    const auto before = card.submit(queue, kernel);
    const auto malformed = card.submit(queue, entries::fill(process.memory + 1, 4, 7));
    EXPECT_TRUE(card.wait(queue, before));
    EXPECT_FALSE(card.wait(queue, malformed));
    const auto faults = process.process->take_faults();
    ASSERT_EQ(faults.size(), 1U);
    EXPECT_EQ(faults[0].code, abi::FaultCode::kMalformedEntry);
    EXPECT_EQ(faults[0].index, malformed.index);
  });
}

TEST(DriverQueue, AnotherProcessMemoryIsOutOfReach) {
  Machine().on<QueueCard>([](QueueCard& card) {
    QueueProcess bad(card), good(card);
    const std::vector<abi::QueueEntry> attempts = {
        entries::copy_to_device(good.host->bus(), bad.memory, 64),
        entries::copy_to_host(bad.memory, good.host->bus(), 64),
        entries::copy_on_device(good.memory, bad.memory, 64)};
    good.host->store<std::uint64_t>(0, 0x600D);
    for (const auto& attempt : attempts) EXPECT_FALSE(card.run(bad.add(), attempt));
    EXPECT_EQ(bad.process->take_faults().size(), attempts.size());
    EXPECT_EQ(good.host->load<std::uint64_t>(0), 0x600DU);
    EXPECT_TRUE(card.run(good.add(), entries::nop()));
  });
}

}  // namespace
}  // namespace npu::test
