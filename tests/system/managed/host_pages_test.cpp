// SPDX-License-Identifier: Apache-2.0
// Managed pages that stay on the host, where the card uses them (ATS, PRI).
#include "npu/abi/pci.hpp"
#include "tests/system/managed/managed_card.hpp"

namespace npu::test {
namespace {

using driver::FaultPolicy;

constexpr auto kInPlace = FaultPolicy::kAts;

Machine sharing_machine(const std::string& name = "910b.yaml") {
  return Machine(managed_settings(kInPlace), name);
}

TEST(HostPages, AreUsedWhereTheyAre) {
  sharing_machine().on<ManagedCard>(managed_options(kInPlace), [](ManagedCard& card) {
    const auto at = must(card.managed->allocate(2 * kPageSize));
    card.write(at, kPageSize, 1);
    ASSERT_THAT(card.copy(at, at + kPageSize, kPageSize), IsOk());
    card.expect(at + kPageSize, kPageSize, 1);
    const auto now = card.managed->statistics();
    EXPECT_EQ(now.faults, 1U) << "the page that nobody had touched";
    EXPECT_EQ(now.host_faults, 1U);
    EXPECT_EQ(now.migrated_to_card_bytes + now.migrated_to_host_bytes, 0U);
    EXPECT_EQ(now.resident_bytes, 0U);
    EXPECT_EQ(must(card.managed->attributes(at, 2 * kPageSize)).location, MemoryLocation::host());
  });
}

TEST(HostPages, WhatBothWriteIsSeenByTheOther) {
  sharing_machine().run([](platform::Platform& host) {
    ManagedCards cards(host, managed_options(kInPlace), 1);
    const auto at = must(cards.managed->allocate(kPageSize));
    for (std::uint32_t round = 0; round < 8; ++round) {
      write(*cards.managed, at, 4096, round);
      EXPECT_TRUE(cards.sees(0, at, 4096, round));
      cards.write(0, at + 8192, 4096, round + 100);
      expect(*cards.managed, at + 8192, 4096, round + 100);
    }
    EXPECT_EQ(cards.managed->statistics().faults, 0U);
  });
}

TEST(HostPages, AreOneForTwoCards) {
  sharing_machine("system-2x910b2.yaml").run([](platform::Platform& host) {
    ManagedCards cards(host, managed_options(kInPlace), 2);
    const auto at = must(cards.managed->allocate(kPageSize));
    cards.write(0, at, 4096, 7);
    EXPECT_TRUE(cards.sees(1, at, 4096, 7));
    cards.write(1, at, 4096, 8);
    EXPECT_TRUE(cards.sees(0, at, 4096, 8));
    expect(*cards.managed, at, 4096, 8);
    EXPECT_EQ(cards.managed->statistics().faults, 1U);
  });
}

TEST(HostPages, OfAForkAreCopiedWhenTheCardWrites) {
  sharing_machine().run([](platform::Platform& host) {
    ManagedCards parent(host, managed_options(kInPlace), 1);
    ManagedCards child(parent, managed_options(kInPlace));
    const auto at = must(parent.managed->allocate(kPageSize));
    parent.write(0, at, 4096, 1);
    ASSERT_THAT(parent.managed->fork(at, *child.managed), IsOk());
    EXPECT_TRUE(child.sees(0, at, 4096, 1)) << "in common";
    parent.write(0, at, 4096, 2);
    EXPECT_EQ(parent.managed->statistics().upgrades, 1U);
    EXPECT_TRUE(child.sees(0, at, 4096, 1));
    EXPECT_TRUE(parent.sees(0, at, 4096, 2));
    child.write(0, at, 4096, 3);
    expect(*parent.managed, at, 4096, 2);
    expect(*child.managed, at, 4096, 3);
  });
}

TEST(HostPages, OfReadMostlyAreNoLongerWhenTheCardWrites) {
  sharing_machine().run([](platform::Platform& host) {
    ManagedCards cards(host, managed_options(kInPlace), 1);
    const auto at = must(cards.managed->allocate(kPageSize));
    write(*cards.managed, at, 4096, 1);
    ASSERT_THAT(cards.managed->advise(at, kPageSize, MemoryAdvice::kReadMostly, true), IsOk());
    EXPECT_TRUE(cards.sees(0, at, 4096, 1));
    EXPECT_TRUE(must(cards.managed->attributes(at, kPageSize)).read_mostly);
    cards.write(0, at, 4096, 2);
    EXPECT_FALSE(must(cards.managed->attributes(at, kPageSize)).read_mostly);
    expect(*cards.managed, at, 4096, 2);
  });
}

TEST(HostPages, AreGoneForTheCardWhenTheyAreFreed) {
  sharing_machine().on<ManagedCard>(managed_options(kInPlace), [](ManagedCard& card) {
    const auto at = must(card.managed->allocate(kPageSize));
    ASSERT_THAT(card.copy(at, card.plain, 4096), IsOk());
    ASSERT_THAT(card.managed->free(at), IsOk());
    EXPECT_FALSE(card.copy(at, card.plain, 4096));
    const auto faults = card.process->take_faults();
    ASSERT_EQ(faults.size(), 1U);
    EXPECT_EQ(faults[0].code, abi::FaultCode::kTranslation);
    EXPECT_EQ(faults[0].address, at.value);
    EXPECT_EQ(card.managed->statistics().fault_errors, 1U);
  });
}

// A page goes only when nobody uses it any more, whatever the card has in flight.
TEST(HostPages, AreFreedBehindCopiesThatUseThem) {
  sharing_machine().on<ManagedCard>(managed_options(kInPlace), [](ManagedCard& card) {
    for (unsigned i = 0; i < 20; ++i) {
      const auto from = must(card.managed->allocate(kPageSize));
      const auto to = must(card.managed->allocate(kPageSize));
      card.write(from, kPageSize, i);
      const auto deadline = card.host.clock().now() + 1_s;
      const auto queue = must(card.process->create_queue());
      const auto ticket =
          must(queue->submit(driver::entries::copy_on_device(from, to, kPageSize), deadline));
      card.host.clock().sleep_until(card.host.clock().now() + 7_us * static_cast<std::int64_t>(i));
      ASSERT_THAT(card.managed->free(from), IsOk());
      if (queue->wait(ticket, driver::WaitPolicy::kInterrupt, deadline)) {
        card.expect(to, kPageSize, i);
      }
      ASSERT_THAT(card.managed->free(to), IsOk());
    }
  });
}

TEST(HostPages, AreForCardsThatCanUseThem) {
  Machine().run([](platform::Platform& host) {
    CardProcess card(host, 0);
    EXPECT_THAT(ManagedMemory::open(*card.device, card.process->space(), managed_options(kInPlace)),
                FailsWith(ErrorCode::kUnsupported));
    EXPECT_THAT(host.open_process_addresses(card.device->info().bdf()),
                FailsWith(ErrorCode::kUnsupported));
    card.queue.reset();
  });
}

TEST(HostPages, OfACardCannotBeMixedWithThoseOfAnother) {
  Machine({"cards.0.mmu.fault_policy=ats"}, "system-2x910b2.yaml")
      .run([](platform::Platform& host) {
        CardProcess first(host, 0), second(host, 1);
        driver::ManagedOptions options = managed_options(FaultPolicy::kMessage);
        options.policy = FaultPolicy::kCard;
        EXPECT_THAT(ManagedMemory::open({{first.device.get(), &first.process->space()},
                                         {second.device.get(), &second.process->space()}},
                                        options),
                    FailsWith(ErrorCode::kInvalidArgument));
        first.queue.reset();
        second.queue.reset();
      });
}

TEST(HostPages, AnotherPolicyMayServeTheSameCard) {
  sharing_machine().run([](platform::Platform& host) {
    for (const auto policy : {FaultPolicy::kBatch, kInPlace, FaultPolicy::kMessage, kInPlace}) {
      ManagedCard card(host, managed_options(policy));
      const auto at = must(card.managed->allocate(kPageSize));
      card.write(at, kPageSize, 3);
      ASSERT_THAT(card.copy(at, card.plain, 4096), IsOk());
      EXPECT_EQ(card.managed->statistics().migrated_to_card_bytes == 0, policy == kInPlace);
      card.expect(at, kPageSize, 3);
      EXPECT_THAT(card.managed->close(), IsOk());
    }
  });
}

}  // namespace
}  // namespace npu::test
