// SPDX-License-Identifier: Apache-2.0
// Managed memory that several cards have in common: one address, one page, wherever it is.
#include "tests/system/managed/managed_card.hpp"

namespace npu::test {
namespace {

const std::string kTwoCards = "system-2x910b2.yaml";

class ManagedCardsTest : public ManagedTest {};
NPU_BOTH_POLICIES(ManagedCardsTest);

TEST_P(ManagedCardsTest, APageGoesFromCardToCard) {
  Machine({}, kTwoCards).on<ManagedCards>(options(), [](ManagedCards& both) {
    auto& managed = *both.managed;
    const auto at = must(managed.allocate(2 * kPageSize));
    EXPECT_EQ(at.value, 0x900'0000'0000U) << "virtualisation.md S1";
    write(managed, at, kPageSize, 1);
    EXPECT_TRUE(both.sees(0, at, kPageSize, 1));
    EXPECT_EQ(must(managed.attributes(at, kPageSize)).location, MemoryLocation::card(0));
    EXPECT_TRUE(both.sees(1, at, kPageSize, 1));
    EXPECT_EQ(must(managed.attributes(at, kPageSize)).location, MemoryLocation::card(1));
    both.write(1, at, 64_KiB, 2);
    EXPECT_TRUE(both.sees(0, at, 64_KiB, 2));
    both.write(0, at + kPageSize, 64_KiB, 3);  // which nobody has touched before
    EXPECT_TRUE(both.sees(1, at + kPageSize, 64_KiB, 3));
    expect(managed, at + kPageSize, 64_KiB, 3);
    expect(managed, at, 64_KiB, 2);
    EXPECT_EQ(managed.statistics().resident_bytes, 0U);
    EXPECT_THAT(managed.free(at), IsOk());
  });
}

TEST_P(ManagedCardsTest, AWrittenPageGoesToAnotherCardWithoutTheHost) {
  Machine({}, kTwoCards).on<ManagedCards>(options(), [](ManagedCards& both) {
    const auto at = must(both.managed->allocate(kPageSize));
    both.write(0, at, 64_KiB, 1);
    for (std::uint32_t i = 1; i < 6; ++i) {
      EXPECT_TRUE(both.sees(i % 2, at, 64_KiB, i));
      both.write(i % 2, at, 64_KiB, i + 1);
      const auto now = both.managed->statistics();
      EXPECT_EQ(now.migrated_between_cards_bytes, i * kPageSize);
      EXPECT_EQ(now.migrated_over_links_bytes, i * kPageSize) << "the cards have an HCCS link";
      EXPECT_EQ(now.migrated_to_host_bytes + now.migrated_to_card_bytes, 0U);
      EXPECT_EQ(now.resident_bytes, kPageSize);
    }
    expect(*both.managed, at, 64_KiB, 6);
    EXPECT_EQ(both.managed->statistics().migrated_to_host_bytes, kPageSize);
    EXPECT_EQ(both.managed->statistics().resident_bytes, 0U);
  });
}

TEST_P(ManagedCardsTest, WithoutALinkAPageGoesOverTheBus) {
  Machine({"fabric=none"}, kTwoCards).on<ManagedCards>(options(), [](ManagedCards& both) {
    const auto at = must(both.managed->allocate(kPageSize));
    both.write(0, at, 64_KiB, 1);
    EXPECT_TRUE(both.sees(1, at, 64_KiB, 1));
    EXPECT_EQ(both.managed->statistics().migrated_between_cards_bytes, kPageSize);
    EXPECT_EQ(both.managed->statistics().migrated_over_links_bytes, 0U);
  });
}

TEST_P(ManagedCardsTest, ReadersHaveCopiesUntilOneWrites) {
  Machine({}, kTwoCards).on<ManagedCards>(options(), [](ManagedCards& both) {
    auto& managed = *both.managed;
    const auto at = must(managed.allocate(kPageSize));
    write(managed, at, kPageSize, 1);
    ASSERT_THAT(managed.advise(at, kPageSize, MemoryAdvice::kReadMostly, true), IsOk());
    EXPECT_TRUE(both.sees(0, at, 64_KiB, 1));
    EXPECT_TRUE(both.sees(1, at, 64_KiB, 1));
    expect(managed, at, 64_KiB, 1);
    EXPECT_EQ(managed.statistics().resident_bytes, 2 * touched_bytes());
    EXPECT_EQ(must(managed.attributes(at, kPageSize)).location, MemoryLocation::host());
    both.write(1, at, 64_KiB, 2);
    EXPECT_EQ(must(managed.attributes(at, kPageSize)).location, MemoryLocation::card(1));
    EXPECT_FALSE(must(managed.attributes(at, kPageSize)).read_mostly);
    EXPECT_TRUE(both.sees(0, at, 64_KiB, 2));
    expect(managed, at, 64_KiB, 2);
  });
}

TEST_P(ManagedCardsTest, PrefetchAndAdviceMeanOneOfThem) {
  Machine({}, kTwoCards).on<ManagedCards>(options(), [](ManagedCards& both) {
    auto& managed = *both.managed;
    const auto at = must(managed.allocate(3 * kPageSize));
    write(managed, at, 2 * kPageSize, 1);
    const auto prefetch = [&](DeviceAddress from, Bytes size, MemoryLocation to) {
      const auto begun = must(managed.prefetch(from, size, to));
      EXPECT_THAT(managed.wait(begun, both.host.clock().now() + 1_s), IsOk());
    };
    prefetch(at, kPageSize, MemoryLocation::card(1));
    EXPECT_EQ(must(managed.attributes(at, kPageSize)).location, MemoryLocation::card(1));
    prefetch(at, 2 * kPageSize, MemoryLocation::card(0));
    EXPECT_EQ(must(managed.attributes(at, kPageSize)).location, MemoryLocation::card(1))
        << "what another card has stays there";
    EXPECT_EQ(must(managed.attributes(at + kPageSize, kPageSize)).location,
              MemoryLocation::card(0));
    EXPECT_EQ(must(managed.attributes(at, 2 * kPageSize)).location, MemoryLocation{});
    const auto made = at + 2 * kPageSize;
    for (const auto advice : {MemoryAdvice::kPreferredLocation, MemoryAdvice::kAccessedBy}) {
      ASSERT_THAT(managed.advise(made, kPageSize, advice, true, MemoryLocation::card(1)), IsOk());
    }
    EXPECT_EQ(must(managed.attributes(made, kPageSize)).location, MemoryLocation::card(1));
    EXPECT_EQ(must(managed.attributes(made, kPageSize)).accessed_by, 0b10U);
    prefetch(at, 3 * kPageSize, MemoryLocation::host());
    EXPECT_EQ(must(managed.attributes(at, 3 * kPageSize)).location, MemoryLocation::host());
    expect(managed, at, 2 * kPageSize, 1);
    EXPECT_THAT(managed.prefetch(at, kPageSize, MemoryLocation::card(2)),
                FailsWith(ErrorCode::kInvalidArgument));
  });
}

// A page that the lost card alone had is lost; the others, and other processes, go on.
TEST_P(ManagedCardsTest, OneThatIsShutDownEndsItForAll) {
  Machine({}, kTwoCards).on<ManagedCards>(options(), [](ManagedCards& both) {
    auto own = must(driver::ProcessContext::open(*both.cards[1]->device));
    auto neighbour = must(ManagedMemory::open(*both.cards[1]->device, own->space(), options()));
    const auto theirs = must(neighbour->allocate(kPageSize));
    write(*neighbour, theirs, kPageSize, 5);
    auto& managed = *both.managed;
    const auto at = must(managed.allocate(2 * kPageSize));
    both.write(0, at, 64_KiB, 1);
    both.write(1, at + kPageSize, 64_KiB, 2);
    both.cards[0]->queue.reset();
    ASSERT_THAT(both.cards[0]->device->shutdown(), IsOk());
    EXPECT_THAT(both.cards[1]->copy(at, both.cards[1]->plain, 4096),
                FailsWith(ErrorCode::kDeviceFault));
    std::byte byte{};
    EXPECT_THAT(managed.read(at, {&byte, 1}), FailsWith(ErrorCode::kInvalidArgument));
    expect(*neighbour, theirs, kPageSize, 5);
    static_cast<void>(managed.close());
    EXPECT_THAT(neighbour->close(), IsOk());
    both.cards[1]->queue.reset();
    EXPECT_THAT(own->close(), IsOk());
  });
}

TEST_P(ManagedCardsTest, CardsAreThereOnceAndOfAProcessEach) {
  Machine({}, kTwoCards).on<ManagedCards>(options(), [](ManagedCards& both) {
    auto& first = *both.cards[0];
    auto& second = *both.cards[1];
    const driver::ManagedCard one{first.device.get(), &first.process->space()};
    EXPECT_THAT(ManagedMemory::open({one, one}, options()),
                FailsWith(ErrorCode::kInvalidArgument, "card 0 is there twice"));
    EXPECT_THAT(ManagedMemory::open(std::vector<driver::ManagedCard>{}, options()),
                FailsWith(ErrorCode::kInvalidArgument, "0 cards; 1 .. 64"));
    EXPECT_THAT(ManagedMemory::open({{first.device.get(), &second.process->space()}}, options()),
                FailsWith(ErrorCode::kInvalidArgument, "of another card"));
    EXPECT_THAT(ManagedMemory::open({one}, options()), FailsWith(ErrorCode::kAlreadyExists));
    both.managed.reset();
    const auto alone = must(ManagedMemory::open({one}, options()));
    const auto at = must(alone->allocate(kPageSize));
    write(*alone, at, kPageSize, 7);
    ASSERT_THAT(first.copy(at, first.plain, 4096), IsOk());
    EXPECT_THAT(second.copy(at, second.plain, 4096), FailsWith(ErrorCode::kDeviceFault));
  });
}

TEST_P(ManagedCardsTest, ACardThatComesLaterHasThePagesThatAreThereAndOneThatLeavesGivesItsBack) {
  Machine({}, kTwoCards).on<ManagedCards>(options(), [](ManagedCards& both) {
    both.managed.reset();
    auto &first = *both.cards[0], &second = *both.cards[1];
    both.managed = must(ManagedMemory::open(*first.device, first.process->space(), options()));
    auto& managed = *both.managed;
    const auto at = must(managed.allocate(3 * kPageSize));
    write(managed, at, kPageSize, 1);
    both.write(0, at + kPageSize, 64_KiB, 2);
    const driver::ManagedCard later{second.device.get(), &second.process->space()};
    ASSERT_THAT(managed.join(later, options().pager), IsOk());
    EXPECT_THAT(managed.join(later, options().pager), FailsWith(ErrorCode::kAlreadyExists));
    EXPECT_TRUE(both.sees(1, at, kPageSize, 1)) << "which the both.host had";
    EXPECT_TRUE(both.sees(1, at + kPageSize, 64_KiB, 2)) << "which the first card had";
    both.write(1, at + 2 * kPageSize, 64_KiB, 3);
    ASSERT_THAT(managed.leave(*second.device), IsOk());
    EXPECT_EQ(must(managed.attributes(at, 3 * kPageSize)).location, MemoryLocation::host());
    EXPECT_THAT(second.copy(at, second.plain, 4096), FailsWith(ErrorCode::kDeviceFault));
    expect(managed, at + kPageSize, 64_KiB, 2);
    EXPECT_TRUE(both.sees(0, at + 2 * kPageSize, 64_KiB, 3));
    EXPECT_THAT(managed.leave(*second.device), FailsWith(ErrorCode::kInvalidArgument, "no part"));
    EXPECT_THAT(managed.leave(*first.device), FailsWith(ErrorCode::kInvalidArgument, "last card"));
  });
}

TEST_P(ManagedCardsTest, TheFirstMayLeaveAndComeBack) {
  Machine({}, kTwoCards).on<ManagedCards>(options(), [](ManagedCards& both) {
    auto& managed = *both.managed;
    const auto at = must(managed.allocate(2 * kPageSize));
    both.write(0, at, 64_KiB, 1);
    auto& first = *both.cards[0];
    ASSERT_THAT(managed.leave(*first.device), IsOk());
    const auto more = must(managed.allocate(kPageSize));
    write(managed, more, kPageSize, 2);
    EXPECT_TRUE(both.sees(1, at, 64_KiB, 1));
    EXPECT_TRUE(both.sees(1, more, kPageSize, 2));
    first.queue.reset();
    ASSERT_THAT(first.process->close(), IsOk());
    both.cards[0] = std::make_unique<CardProcess>(both.host, first.device);
    auto& again = *both.cards[0];
    ASSERT_THAT(managed.join({again.device.get(), &again.process->space()}, options().pager),
                IsOk());
    EXPECT_TRUE(both.sees(0, at, 64_KiB, 1));
    EXPECT_TRUE(both.sees(0, more, kPageSize, 2));
    EXPECT_EQ(managed.statistics().fault_errors, 0U);
    EXPECT_THAT(managed.free(at), IsOk());
    EXPECT_THAT(managed.free(more), IsOk());
  });
}

class ManagedFork : public ManagedTest {};
NPU_BOTH_POLICIES(ManagedFork);

TEST_P(ManagedFork, ChildAndParentHaveTheirOwnOfWhatOneWrites) {
  Machine({}, kTwoCards).on<ManagedCards>(options(), [](ManagedCards& parent) {
    ManagedCards child(parent, options());
    const auto at = must(parent.managed->allocate(4 * kPageSize));
    write(*parent.managed, at, 3 * kPageSize, 1);
    parent.write(1, at + kPageSize, 64_KiB, 2);  // which comes home
    ASSERT_THAT(parent.managed->fork(at, *child.managed), IsOk());
    EXPECT_EQ(must(child.managed->attributes(at, 3 * kPageSize)).location, MemoryLocation::host());
    EXPECT_FALSE(must(child.managed->attributes(at + 3 * kPageSize, kPageSize)).touched);
    EXPECT_TRUE(child.sees(0, at + kPageSize, 64_KiB, 2));
    child.write(0, at + kPageSize, 64_KiB, 3);
    expect(*parent.managed, at + kPageSize, 64_KiB, 2);
    write(*parent.managed, at, 64_KiB, 4);
    expect(*child.managed, at, 64_KiB, 1);
    parent.write(0, at + 2 * kPageSize, 64_KiB, 5);
    expect(*parent.managed, at + 2 * kPageSize, 64_KiB, 5);
    EXPECT_THAT(parent.managed->free(at), IsOk());
    expect(*child.managed, at + kPageSize, 64_KiB, 3);
    EXPECT_TRUE(child.sees(1, at, 64_KiB, 1));
    std::vector<std::uint32_t> all(kPageSize / 4);
    EXPECT_THAT(child.managed->read(at + 2 * kPageSize,
                                    {reinterpret_cast<std::byte*>(all.data()), kPageSize}),
                IsOk());
    const auto first = words(3 * kPageSize, 1);
    EXPECT_TRUE(std::equal(all.begin(), all.end(), first.begin() + 2 * kPageSize / 4));
  });
}

TEST_P(ManagedFork, NeedsThePlaceInTheChildAndTheSameCards) {
  Machine({}, kTwoCards).on<ManagedCards>(options(), [](ManagedCards& parent) {
    ManagedCards child(parent, options());
    const auto at = must(parent.managed->allocate(2 * kPageSize));
    const auto theirs = must(child.managed->allocate(kPageSize));
    ASSERT_EQ(theirs, at);
    EXPECT_THAT(parent.managed->fork(at, *child.managed), FailsWith(ErrorCode::kAlreadyExists));
    ASSERT_THAT(child.managed->free(theirs), IsOk());
    EXPECT_THAT(parent.managed->fork(at + kPageSize, *child.managed),
                FailsWith(ErrorCode::kInvalidArgument));
    EXPECT_THAT(parent.managed->fork(at, *parent.managed), FailsWith(ErrorCode::kInvalidArgument));
    ASSERT_THAT(parent.managed->fork(at, *child.managed), IsOk());
    const auto next = must(child.managed->allocate(kPageSize));
    EXPECT_NE(next, at);
    auto alone = must(driver::ProcessContext::open(*parent.cards[0]->device));
    const auto other =
        must(ManagedMemory::open(*parent.cards[0]->device, alone->space(), options()));
    EXPECT_THAT(parent.managed->fork(at, *other),
                FailsWith(ErrorCode::kInvalidArgument, "other cards"));
  });
}

}  // namespace
}  // namespace npu::test
