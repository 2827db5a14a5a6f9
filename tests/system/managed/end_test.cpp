// SPDX-License-Identifier: Apache-2.0
// Managed memory that ends at an inconvenient time: while accesses of the card wait, before what
// uses it, with the card gone.
#include "tests/system/managed/managed_card.hpp"

namespace npu::test {
namespace {

class ManagedEnd : public ManagedTest {};
NPU_ALL_POLICIES(ManagedEnd);

TEST_P(ManagedEnd, AccessesThatWaitFailWhenTheMemoryIsClosed) {
  Machine(settings()).on<ManagedCard>(options(), [](ManagedCard& card) {
    const auto at = must(card.managed->allocate(64 * kPageSize));
    card.write(at, 2 * kPageSize, 1);
    std::vector<driver::QueueTicket> tickets;
    tickets.reserve(8);
    for (unsigned i = 0; i < 8; ++i) {
      tickets.push_back(must(card.queue->submit(
          driver::entries::copy_on_device(at + i * kPageSize, card.plain, kPageSize),
          card.host.clock().now() + 1_s)));
    }
    EXPECT_THAT(card.managed->close(), IsOk());
    EXPECT_THAT(card.managed->close(), IsOk());
    EXPECT_THAT(card.managed->allocate(1), FailsWith(ErrorCode::kInvalidArgument));
    EXPECT_FALSE(card.queue->wait(tickets.back(), driver::WaitPolicy::kInterrupt,
                                  card.host.clock().now() + 1_s));
    const auto faults = card.process->take_faults();
    ASSERT_FALSE(faults.empty());
    EXPECT_EQ(faults[0].code, abi::FaultCode::kTranslation);
  });
}

// Else whoever waits for what never comes would not be told so before the end of time.
TEST_P(ManagedEnd, WhatServesFaultsAndPrefetchesSleepsUntilThereAreSome) {
  Machine machine(settings());
  machine.run([&machine](platform::Platform& host) {
    ManagedCard card(host, options());
    const auto at = must(card.managed->allocate(kPageSize));
    card.write(at, kPageSize, 1);
    ASSERT_THAT(card.copy(at, card.plain, kPageSize), IsOk());
    ASSERT_THAT(card.managed->prefetch(at, kPageSize, driver::MemoryLocation::host()), IsOk());
    host.clock().sleep_until(host.clock().now() + 10_s);
    const auto before = machine.system.cpus().context_switches();
    host.clock().sleep_until(host.clock().now() + 1000_s);
    EXPECT_LE(machine.system.cpus().context_switches() - before, 2U) << "the sleep's own";
    card.expect(at, kPageSize, 1);
  });
}

TEST_P(ManagedEnd, AnotherOneMayBeOpenedBehindIt) {
  Machine(settings()).on<ManagedCard>(options(), [](ManagedCard& card) {
    EXPECT_THAT(ManagedMemory::open(*card.device, card.process->space(), options()),
                FailsWith(ErrorCode::kAlreadyExists));
    for (unsigned i = 0; i < 3; ++i) {
      card.managed.reset();
      card.managed = must(ManagedMemory::open(*card.device, card.process->space(), options()));
      const auto at = must(card.managed->allocate(kPageSize));
      card.write(at, kPageSize, i);
      ASSERT_THAT(card.copy(at, card.plain, kPageSize), IsOk());
      card.expect(at, kPageSize, i);
    }
  });
}

TEST_P(ManagedEnd, TwoProcessesKeepTheirPages) {
  Machine(settings()).on<ManagedCard>(options(), [](ManagedCard& card) {
    auto other = must(driver::ProcessContext::open(*card.device));
    auto theirs = must(ManagedMemory::open(*card.device, other->space(), options()));
    const auto mine = must(card.managed->allocate(kPageSize));
    ASSERT_EQ(must(theirs->allocate(kPageSize)), mine) << "each has the window to itself";
    const auto foreign = must(theirs->allocate(kPageSize));
    card.write(mine, kPageSize, 1);
    const auto bytes = words(kPageSize, 2);
    for (const auto at : {mine, foreign}) {
      EXPECT_THAT(theirs->write(at, {reinterpret_cast<const std::byte*>(bytes.data()), 4096}),
                  IsOk());
    }
    ASSERT_THAT(card.copy(mine, card.plain, kPageSize), IsOk());
    EXPECT_FALSE(card.copy(foreign, card.plain, 4096)) << "an address of the other's";
    EXPECT_EQ(theirs->statistics().migrated_to_card_bytes, 0U);
    EXPECT_THAT(theirs->close(), IsOk());
    EXPECT_THAT(other->close(), IsOk());
    card.expect(mine, kPageSize, 1);
  });
}

TEST_P(ManagedEnd, TheDeviceMayBeShutDownBefore) {
  Machine(settings()).on<ManagedCard>(options(), [](ManagedCard& card) {
    const auto at = must(card.managed->allocate(kPageSize));
    card.write(at, kPageSize, 1);
    static_cast<void>(card.device->shutdown());
    std::byte byte{};
    static_cast<void>(card.managed->read(at, {&byte, 1}));
    static_cast<void>(card.managed->close());
  });
}

TEST_P(ManagedEnd, AResetOfTheFunctionEndsWhatWaits) {
  Machine(settings()).on<ManagedCard>(options(), [](ManagedCard& card) {
    const auto at = must(card.managed->allocate(8 * kPageSize));
    card.write(at, 8 * kPageSize, 1);
    static_cast<void>(
        must(card.queue->submit(driver::entries::copy_on_device(at, card.plain, kPageSize),
                                card.host.clock().now() + 1_s)));
    card.host.clock().sleep_until(card.host.clock().now() + 20_us);
    ASSERT_TRUE(card.host.reset_function(card.device->info().bdf()));
    card.host.clock().sleep_until(card.host.clock().now() + 1_ms);
  });
}

}  // namespace
}  // namespace npu::test
