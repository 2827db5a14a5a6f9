// SPDX-License-Identifier: Apache-2.0
// Faults that nobody can serve: who is told, who is not concerned, when there are too many.
#include "tests/system/managed/managed_card.hpp"

namespace npu::test {
namespace {

class ManagedErrors : public ManagedTest {};
NPU_ALL_POLICIES(ManagedErrors);

// A queue stops with its fault, so that each has one of its own.
Status touch(ManagedCard& card, DeviceAddress at) {
  const auto queue = must(card.process->create_queue());
  const auto deadline = card.host.clock().now() + 1_s;
  const auto ticket =
      must(queue->submit(driver::entries::copy_on_device(at, card.plain, 64), deadline));
  return queue->wait(ticket, driver::WaitPolicy::kInterrupt, deadline);
}

TEST_P(ManagedErrors, AreTheirProcessesAlone) {
  Machine(settings()).on<ManagedCard>(options(), [](ManagedCard& card) {
    auto other = must(driver::ProcessContext::open(*card.device));
    auto theirs = must(ManagedMemory::open(*card.device, other->space(), options()));
    auto queue = must(other->create_queue());
    const auto room = must(other->space().allocate(kPageSize)).address;
    const auto pages = must(theirs->allocate(20 * kPageSize));
    const auto latency = [&](unsigned page) {
      const Instant begin = card.host.clock().now();
      const auto ticket = must(queue->submit(
          driver::entries::copy_on_device(pages + page * kPageSize, room, 64), begin + 1_s));
      EXPECT_THAT(queue->wait(ticket, driver::WaitPolicy::kPolling, begin + 1_s), IsOk());
      return card.host.clock().now() - begin;
    };
    latency(0);
    const auto alone = latency(1);
    const auto mine = must(card.managed->allocate(kPageSize));
    for (unsigned i = 0; i < 5; ++i) {
      EXPECT_FALSE(touch(card, mine + (7 + i) * kPageSize)) << "reserved by nobody";
      card.host.clock().sleep_until(card.host.clock().now() + 100_us);
      EXPECT_NEAR(static_cast<double>(latency(2 + i).count()), static_cast<double>(alone.count()),
                  0.05 * static_cast<double>(alone.count()));
    }
    EXPECT_EQ(card.managed->statistics().fault_errors, 5U);
    EXPECT_EQ(theirs->statistics().fault_errors, 0U);
    EXPECT_TRUE(other->take_faults().empty());
    const auto faults = card.process->take_faults();
    ASSERT_EQ(faults.size(), 5U);
    for (unsigned i = 0; i < 5; ++i) {
      EXPECT_EQ(faults[i].pasid, card.process->pasid());
      EXPECT_EQ(faults[i].address, (mine + (7 + i) * kPageSize).value);
      EXPECT_EQ(faults[i].code, abi::FaultCode::kTranslation);
      EXPECT_FALSE(faults[i].write);
    }
    queue.reset();
    EXPECT_THAT(theirs->close(), IsOk());
    EXPECT_THAT(other->close(), IsOk());
  });
}

// The host's memory is full: what nobody has touched cannot be made, or has nowhere to come home
// to.
TEST_P(ManagedErrors, OfAHostWithoutMemoryAreFaultsAndNoMore) {
  auto small = settings();
  small.insert(small.end(), {"memory.numa_nodes=1", "memory.size_per_node_gib=1"});
  Machine(small).run([](platform::Platform& host) {
    auto few = options();
    few.card_limit = 4 * kPageSize;
    ManagedCard card(host, few);
    const auto at = must(card.managed->allocate(12 * kPageSize));
    std::vector<std::unique_ptr<platform::DmaMemory>> taken;
    for (Bytes size = 512_MiB; size >= 1_MiB; size /= 2) {
      while (auto memory = card.process->allocate_host(size)) taken.push_back(std::move(*memory));
    }
    std::byte byte{};
    EXPECT_THAT(card.managed->write(at, {&byte, 1}), FailsWith(ErrorCode::kOutOfMemory));
    unsigned served = 0;
    while (served < 12 && touch(card, at + served * kPageSize)) ++served;
    EXPECT_LT(served, 12U);
    EXPECT_GE(card.managed->statistics().fault_errors, 1U);
    const auto faults = card.process->take_faults();
    ASSERT_FALSE(faults.empty());
    EXPECT_EQ(faults[0].code, abi::FaultCode::kTranslation);
    EXPECT_EQ(faults[0].address, (at + served * kPageSize).value);
    taken.clear();
    EXPECT_THAT(touch(card, at + 11 * kPageSize), IsOk()) << "there is some again";
    EXPECT_THAT(card.managed->write(at, {&byte, 1}), IsOk());
  });
}

TEST_P(ManagedErrors, AHundredMoreAfterTwoSecondsAreToldOnce) {
  Machine(settings()).run([](platform::Platform& host) {
    std::vector<std::uint64_t> told;
    std::vector<Instant> when;
    auto loud = options();
    loud.on_fault_errors = [&](const driver::FaultErrorWarning& warning) {
      told.push_back(warning.fault_errors);
      when.push_back(host.clock().now());
    };
    ManagedCard card(host, loud);
    const auto at = must(card.managed->allocate(kPageSize));
    const Instant begin = host.clock().now();
    for (unsigned i = 0; i < 130; ++i) {
      EXPECT_FALSE(touch(card, at + kPageSize));
      host.clock().sleep_until(begin + (i + 1) * 20_ms);
    }
    ASSERT_EQ(told.size(), 1U);
    EXPECT_NEAR(static_cast<double>(told[0]), 102, 1) << "one error each 20 ms";
    EXPECT_GE(when[0] - begin, 2'000_ms);
    EXPECT_LE(when[0] - begin, 2'060_ms);
    EXPECT_EQ(card.managed->statistics().fault_error_warnings, 1U);
  });
}

}  // namespace
}  // namespace npu::test
