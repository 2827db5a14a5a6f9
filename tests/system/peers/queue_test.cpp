// SPDX-License-Identifier: Apache-2.0
// Compute queues and another card's memory: who has it in his address space reaches it, others do
// not.
#include <algorithm>

#include "tests/system/peers/peer_bench.hpp"
#include "tests/system/queues/queue_card.hpp"

namespace npu::test {
namespace {

using abi::FaultCode;

constexpr Bytes kBlock = 4_MiB;

// Card 1, which lends a block to the first of two processes of card 0.
struct PeerQueues {
  explicit PeerQueues(platform::Platform& machine_host)
      : host(machine_host), lender(open_card(host, 1)), card(host), borrower(card), stranger(card) {
    auto& lent = lender->address_space();
    memory = must(lent.create_memory(kBlock));
    block = PeerBench::map(lent, memory);
    stream = must(lender->create_stream());
    bytes = must(lender->allocate_host(kBlock));
    auto& space = borrower.process->space();
    peer = PeerBench::map(space, must(space.import_memory(lent, memory)));
    queue = &borrower.add();
    strangers_queue = &stranger.add();
  }
  Status copy_of_lender(const DmaCommand& command) {
    return lender->copy(stream, command, WaitPolicy::kPolling, host.clock().now() + 1_s);
  }
  void fill_block(unsigned value) {
    std::fill_n(bytes->cpu().data, kBlock, std::byte(value));
    ASSERT_TRUE(copy_of_lender(DmaCommand::host_to_device(bytes->bus(), block, kBlock)));
  }
  bool block_holds(Bytes begin, Bytes end, unsigned value) {
    EXPECT_TRUE(copy_of_lender(DmaCommand::device_to_host(block, bytes->bus(), kBlock)));
    return std::all_of(bytes->cpu().data + begin, bytes->cpu().data + end,
                       [value](std::byte b) { return b == std::byte(value); });
  }
  // The entry ends with `code`, told to its process alone, whose queue is replaced.
  void expect_fault(QueueProcess& process, driver::Queue& culprit, const abi::QueueEntry& entry,
                    FaultCode code) {
    EXPECT_EQ(card.run(culprit, entry).error().code, ErrorCode::kDeviceFault);
    const auto faults = process.process->take_faults();
    ASSERT_EQ(faults.size(), 1U);
    EXPECT_EQ(faults[0].code, code);
    auto& neighbour = &process == &borrower ? stranger : borrower;
    EXPECT_TRUE(neighbour.process->take_faults().empty());
    EXPECT_TRUE(card.run(neighbour.add(), entries::nop()));
  }

  driver::Queue& vector_queue() {
    driver::QueueOptions options;
    options.core_mask[0] = 0;  // those behind are vector cores
    return borrower.add(options);
  }

  platform::Platform& host;
  std::unique_ptr<driver::Device> lender;
  QueueCard card;
  QueueProcess borrower, stranger;
  driver::MemoryHandle memory;
  driver::DeviceAddress block, peer;
  driver::StreamId stream;
  std::unique_ptr<platform::DmaMemory> bytes;
  driver::Queue *queue = nullptr, *strangers_queue = nullptr;
};

TEST(PeerQueue, CopiesAndFillsReachABorrowedBlock) {
  Machine({}, kTwoCards).on<PeerQueues>([](PeerQueues& both) {
    both.fill_block(0x11);
    auto& queue = *both.queue;
    const auto mine = both.borrower.memory + 1_MiB;
    ASSERT_TRUE(both.card.run(queue, entries::fill(mine, 1_MiB, 0x22222222)));
    ASSERT_TRUE(both.card.run(queue, entries::copy_to_peer(mine, both.peer + 1_MiB, 1_MiB)));
    ASSERT_TRUE(both.card.run(queue, entries::fill(both.peer + 3_MiB, 64_KiB, 0x33333333)));
    EXPECT_TRUE(both.block_holds(0, 1_MiB, 0x11));
    EXPECT_TRUE(both.block_holds(1_MiB, 2_MiB, 0x22));
    EXPECT_TRUE(both.block_holds(2_MiB, 3_MiB, 0x11));
    EXPECT_TRUE(both.block_holds(3_MiB, 3_MiB + 64_KiB, 0x33));
    EXPECT_TRUE(both.block_holds(3_MiB + 64_KiB, kBlock, 0x11));
  });
}

// Numbers of fp32 and the same with the other sign.
TEST(PeerQueue, AKernelReachesABorrowedBlock) {
  Machine({}, kTwoCards).on<PeerQueues>([](PeerQueues& both) {
    both.fill_block(0x11);
    auto& queue = both.vector_queue();
    const auto half = both.borrower.memory + 1_MiB;
    ASSERT_TRUE(both.card.run(queue, entries::fill(half, 128_KiB, 0x91111111)));
    ASSERT_TRUE(both.card.run(queue, both.borrower.add(queue, both.peer + 4, half, 64_KiB, 8)));
    EXPECT_TRUE(both.block_holds(0, 4, 0x11));
    EXPECT_TRUE(both.block_holds(4, 4 + 64_KiB, 0));
    EXPECT_TRUE(both.block_holds(4 + 64_KiB, kBlock, 0x11));
  });
}

TEST(PeerQueue, AKernelsLinkThatIsDownIsItsFault) {
  Machine machine({}, kTwoCards);
  machine.run([&](platform::Platform& host) {
    PeerQueues both(host);
    both.fill_block(0x11);
    machine.system.hccs().set_up(0, false);
    auto& queue = both.vector_queue();
    both.expect_fault(both.borrower, queue,
                      both.borrower.add(queue, both.peer, both.borrower.memory, 64_KiB, 8),
                      FaultCode::kPeerLinkDown);
    EXPECT_TRUE(both.block_holds(0, kBlock, 0x11));
  });
}

TEST(PeerQueue, OnlyWhatIsGrantedIsReached) {
  Machine({}, kTwoCards).on<PeerQueues>([](PeerQueues& both) {
    both.fill_block(0x11);
    const auto to_peer = [&](QueueProcess& process, Bytes offset) {
      return entries::copy_to_peer(process.memory, both.peer + offset, 64_KiB);
    };
    both.expect_fault(both.stranger, *both.strangers_queue, to_peer(both.stranger, 0),
                      FaultCode::kTranslation);
    both.expect_fault(both.borrower, *both.queue, to_peer(both.borrower, kBlock - 32_KiB),
                      FaultCode::kTranslation);
    auto& space = both.borrower.process->space();
    ASSERT_TRUE(space.set_access(both.peer, kBlock, driver::Access::kRead));
    both.expect_fault(both.borrower, both.borrower.add(), to_peer(both.borrower, 0),
                      FaultCode::kDevicePermission);
    ASSERT_TRUE(space.unmap(both.peer, kBlock));
    both.expect_fault(both.borrower, both.borrower.add(), to_peer(both.borrower, 0),
                      FaultCode::kTranslation);
    EXPECT_TRUE(both.block_holds(0, kBlock - 32_KiB, 0x11));
  });
}

TEST(PeerQueue, ALinkThatIsDownIsTheFaultOfWhoUsesIt) {
  Machine machine({}, kTwoCards);
  machine.run([&](platform::Platform& host) {
    PeerQueues both(host);
    machine.system.hccs().set_up(0, false);
    const auto copy = entries::copy_to_peer(both.borrower.memory, both.peer, 64_KiB);
    both.expect_fault(both.borrower, *both.queue, copy, FaultCode::kPeerLinkDown);
    machine.system.hccs().set_up(0, true);
    EXPECT_TRUE(both.card.run(both.borrower.add(), copy));
  });
}

}  // namespace
}  // namespace npu::test
