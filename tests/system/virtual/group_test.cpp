// SPDX-License-Identifier: Apache-2.0
// Virtual functions of a group take turns on its cores: with kernels, from queue to core.
#include "divided_card.hpp"
#include "tests/system/queues/queue_card.hpp"

namespace npu::test {
namespace {

constexpr std::uint32_t kCores = 6, kBlocks = 3000;
constexpr std::uint64_t kSpin = 37'000;  // cycles: 20 us

// A member of group 0 and its driver.
struct Member {
  Member(Owner& owner, const driver::GroupPartition& partition)
      : device(make(owner, partition)),
        card(owner.host, must(driver::Device::open(owner.host, *device.bdf))),
        process(card),
        queue(process.add()) {
    EXPECT_TRUE(card.run(queue, process.spin(queue, 1)));  // the image is there
  }
  static driver::VirtualDevice make(Owner& owner, const driver::GroupPartition& partition) {
    driver::VirtualDeviceOptions options;
    options.partition.ai_cores = kCores;
    options.partition.aicpus = 1;
    options.partition.memory = 4_GiB;
    options.group = partition;
    return must(owner.functions->create(options));
  }
  driver::QueueTicket start(std::uint32_t blocks = kBlocks, std::uint64_t cycles = kSpin) {
    return card.submit(queue, process.launch(queue, "spin", blocks, std::array{cycles}));
  }
  // From `since` to its end.
  Picoseconds wait(const driver::QueueTicket& ticket, platform::Platform& host, Instant since) {
    EXPECT_TRUE(card.wait(queue, ticket));
    return host.clock().now() - since;
  }

  driver::VirtualDevice device;
  QueueCard card;
  QueueProcess process;
  driver::Queue& queue;
};

driver::GroupPartition partition(std::uint32_t token, std::uint32_t token_max,
                                 std::uint32_t task_timeout_us = 0, bool vip = false) {
  return {0, token, token_max, task_timeout_us, vip};
}

double ratio(Picoseconds a, Picoseconds b) {
  return static_cast<double>(a.count()) / static_cast<double>(b.count());
}

// Both have the same to do; the first is at its end when the second has done a part of it.
struct Race {
  Picoseconds first, second;
};
Race race(Owner& owner, Member& first, Member& second) {
  const auto begin = owner.host.clock().now();
  const auto a = first.start();
  const auto b = second.start();
  const auto first_time = first.wait(a, owner.host, begin);
  return {first_time, second.wait(b, owner.host, begin)};
}

TEST(VirtualGroups, TokensDivideTheCoresBetweenKernels) {
  DividedCard().run([](Owner& owner) {
    ASSERT_TRUE(owner.functions->set_count(2));
    Member first(owner, partition(3, 4)), second(owner, partition(1, 4));
    EXPECT_EQ(first.device.first_core, second.device.first_core);
    const auto [a, b] = race(owner, first, second);
    // 300 blocks at 3/4 of the cores, while the other does 100 of its 300.
    EXPECT_NEAR(ratio(a, b), 400.0 / 600, 0.03);
  });
}

TEST(VirtualGroups, EqualTokensEndTogether) {
  DividedCard().run([](Owner& owner) {
    ASSERT_TRUE(owner.functions->set_count(2));
    Member first(owner, partition(1, 2)), second(owner, partition(1, 2));
    const auto [a, b] = race(owner, first, second);
    EXPECT_NEAR(ratio(a, b), 1, 0.03);
  });
}

TEST(VirtualGroups, AVipComesFirst) {
  DividedCard().run([](Owner& owner) {
    ASSERT_TRUE(owner.functions->set_count(2));
    Member first(owner, partition(1, 2, 0, true)), second(owner, partition(1, 2));
    const auto [a, b] = race(owner, first, second);
    EXPECT_NEAR(ratio(a, b), 0.5, 0.03);
  });
}

TEST(VirtualGroups, AMemberAloneHasItsMaximum) {
  DividedCard().run([](Owner& owner) {
    ASSERT_TRUE(owner.functions->set_count(2));
    Member half(owner, partition(1, 1)), all(owner, partition(1, 2));
    const auto begin = owner.host.clock().now();
    const auto a = half.wait(half.start(), owner.host, begin);
    const auto then = owner.host.clock().now();
    const auto b = all.wait(all.start(), owner.host, then);
    EXPECT_NEAR(ratio(a, b), 2, 0.1);
  });
}

// What a member has had of the cores says nothing about its copies. Of five and the physical
// function the third and the fourth have a DMA engine in common.
TEST(VirtualGroups, CopiesAreNotInTurnsOfCores) {
  constexpr std::size_t kQueues = 4, kCopies = 64;
  DividedCard card;
  card.run([](Owner& owner) {
    ASSERT_TRUE(owner.functions->set_count(5));
    std::vector<std::unique_ptr<Member>> members;
    members.reserve(5);
    for (int i = 0; i < 5; ++i) members.push_back(std::make_unique<Member>(owner, partition(1, 5)));
    auto &busy = *members[2], &idle = *members[3];
    EXPECT_TRUE(busy.card.wait(busy.queue, busy.start()));
    for (auto* member : {&busy, &idle}) {
      while (member->process.queues.size() < kQueues) member->process.add();
    }
    const auto begin = owner.host.clock().now();
    std::vector<driver::QueueTicket> tickets;
    tickets.reserve(2 * kCopies);
    for (std::size_t i = 0; i < kCopies; ++i) {
      for (auto* member : {&busy, &idle}) {
        const auto entry = entries::copy_to_device(member->process.host->bus(),
                                                   member->process.memory + 1_MiB, 192_KiB);
        tickets.push_back(member->card.submit(*member->process.queues[i % kQueues], entry));
      }
    }
    const auto end = [&](Member& member, std::size_t first) {
      for (std::size_t i = 0; i < kCopies; ++i) {
        EXPECT_TRUE(member.card.wait(*member.process.queues[i % kQueues], tickets[2 * i + first]));
      }
      return owner.host.clock().now() - begin;
    };
    const auto first = end(idle, 1), second = end(busy, 0);
    EXPECT_NEAR(ratio(first, second), 1, 0.1);
  });
}

TEST(VirtualGroups, ABlockThatRunsTooLongIsStoppedAndItsMatesRunOn) {
  DividedCard card;
  card.run([](Owner& owner) {
    ASSERT_TRUE(owner.functions->set_count(2));
    Member slow(owner, partition(1, 2, 100)), other(owner, partition(1, 2, 100));
    const auto begin = owner.host.clock().now();
    const auto stuck = slow.start(1, 1'850'000);  // 1 ms
    const auto fine = other.start();
    const auto failed = slow.card.wait(slow.queue, stuck);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, ErrorCode::kDeviceFault);
    EXPECT_LT(owner.host.clock().now() - begin, 400_us);
    EXPECT_EQ(must(slow.process.process->query(slow.queue.id())).error,
              abi::FaultCode::kTaskTimeout);
    EXPECT_TRUE(other.card.wait(other.queue, fine));
  });
}

}  // namespace
}  // namespace npu::test
