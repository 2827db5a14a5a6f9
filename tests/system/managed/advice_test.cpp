// SPDX-License-Identifier: Apache-2.0
// What the user says of managed pages: prefetch, advice, attributes.
#include "tests/system/managed/managed_card.hpp"

namespace npu::test {
namespace {

using driver::ManagedAttributes;

constexpr auto kCard = MemoryLocation::card(0);
constexpr auto kHost = MemoryLocation::host();

class ManagedAdvice : public ManagedTest {
 protected:
  static ManagedAttributes attributes(ManagedCard& card, DeviceAddress at, Bytes size = kPageSize) {
    return must(card.managed->attributes(at, size));
  }
  static void prefetch(ManagedCard& card, DeviceAddress at, Bytes size, MemoryLocation to) {
    const auto ticket = must(card.managed->prefetch(at, size, to));
    EXPECT_THAT(card.managed->wait(ticket, card.host.clock().now() + 1_s), IsOk());
  }
};
NPU_BOTH_POLICIES(ManagedAdvice);

TEST_P(ManagedAdvice, APrefetchMovesWhatIsTouchedAndNoMore) {
  Machine().on<ManagedCard>(options(), [](ManagedCard& card) {
    const auto at = must(card.managed->allocate(40 * kPageSize));
    card.write(at, 3 * kPageSize, 1);
    card.write(at + 20 * kPageSize, 17 * kPageSize, 2);
    prefetch(card, at + 4096, 39 * kPageSize, kCard);
    auto now = card.managed->statistics();
    EXPECT_EQ(now.prefetched, 20U);
    EXPECT_EQ(now.migrated_to_card_bytes, 20 * kPageSize);
    EXPECT_EQ(now.faults, 0U);
    ASSERT_THAT(card.copy(at + 2 * kPageSize, card.plain, 4096), IsOk());
    ASSERT_THAT(card.copy(at + 36 * kPageSize, at, 4096), IsOk());
    EXPECT_EQ(card.managed->statistics().faults, 0U);
    EXPECT_EQ(attributes(card, at).location, kCard);
    EXPECT_EQ(attributes(card, at + 5 * kPageSize).location, MemoryLocation{});
    EXPECT_EQ(attributes(card, at + 5 * kPageSize).last_prefetch, kCard);
    prefetch(card, at, 40 * kPageSize, kHost);
    now = card.managed->statistics();
    EXPECT_EQ(now.prefetched, 40U);
    EXPECT_EQ(now.resident_bytes, 0U);
    card.expect(at + 20 * kPageSize, 17 * kPageSize, 2);
    EXPECT_EQ(card.managed->statistics().host_faults, 20U) << "those that were filled";
  });
}

TEST_P(ManagedAdvice, PagesOfReadMostlyAreInBothPlacesUntilSomebodyWrites) {
  Machine().on<ManagedCard>(options(), [](ManagedCard& card) {
    const auto at = must(card.managed->allocate(2 * kPageSize));
    card.write(at, 2 * kPageSize, 1);
    ASSERT_THAT(card.managed->advise(at, 2 * kPageSize, MemoryAdvice::kReadMostly, true), IsOk());
    const auto faults = card.managed->statistics().host_faults;
    for (unsigned i = 0; i < 3; ++i) {
      ASSERT_THAT(card.copy(at, card.plain, 4096), IsOk());
      ASSERT_THAT(card.copy(at + kPageSize, card.plain, 4096), IsOk());
      card.expect(at, 2 * kPageSize, 1);
    }
    auto now = card.managed->statistics();
    EXPECT_EQ(now.faults, 2U);
    EXPECT_EQ(now.host_faults, faults);
    EXPECT_EQ(now.resident_bytes, 2 * touched_bytes());
    EXPECT_THAT(card.managed->prefetch(at, kPageSize, kHost),
                FailsWith(ErrorCode::kInvalidArgument));

    // The card writes one, the card.host the other.
    ASSERT_THAT(card.copy(card.plain, at, 4096), IsOk());
    card.write(at + kPageSize, kPageSize, 7);
    now = card.managed->statistics();
    EXPECT_EQ(now.upgrades, 1U);
    EXPECT_EQ(now.resident_bytes, touched_bytes());
    EXPECT_FALSE(attributes(card, at).read_mostly);
    EXPECT_FALSE(attributes(card, at + kPageSize).read_mostly);
    EXPECT_EQ(attributes(card, at).location, kCard);
    EXPECT_EQ(attributes(card, at + kPageSize).location, kHost);
    card.expect(at + kPageSize, kPageSize, 7);
    EXPECT_EQ(now.migrated_to_host_bytes, 0U) << "the card.host's copy was good until then";
  });
}

TEST_P(ManagedAdvice, APreferredLocationThatAccessesMakesPagesAtOnce) {
  Machine().on<ManagedCard>(options(), [](ManagedCard& card) {
    const auto at = must(card.managed->allocate(4 * kPageSize));
    card.write(at, kPageSize, 1);
    auto& managed = *card.managed;
    ASSERT_THAT(managed.advise(at, 4 * kPageSize, MemoryAdvice::kAccessedBy, true, kCard), IsOk());
    EXPECT_EQ(managed.statistics().created_on_card_bytes, 0U);
    ASSERT_THAT(managed.advise(at, 2 * kPageSize, MemoryAdvice::kPreferredLocation, true, kCard),
                IsOk());
    ASSERT_THAT(managed.advise(at, 4 * kPageSize, MemoryAdvice::kAccessedBy, true, kCard), IsOk());
    EXPECT_EQ(managed.statistics().created_on_card_bytes, kPageSize) << "the second alone";
    EXPECT_EQ(attributes(card, at).location, kHost) << "what is elsewhere stays there";
    EXPECT_EQ(attributes(card, at, 2 * kPageSize).preferred, kCard);
    EXPECT_EQ(attributes(card, at, 3 * kPageSize).preferred, MemoryLocation{}) << "mixed";
    EXPECT_EQ(attributes(card, at, 4 * kPageSize).accessed_by, 1U);
    ASSERT_THAT(managed.advise(at, kPageSize, MemoryAdvice::kAccessedBy, false, kCard), IsOk());
    EXPECT_EQ(attributes(card, at).accessed_by, 0U);
    EXPECT_THAT(managed.advise(at, kPageSize, MemoryAdvice::kPreferredLocation, true,
                               MemoryLocation::card(7)),
                FailsWith(ErrorCode::kInvalidArgument));
    EXPECT_THAT(managed.attributes(at, 5 * kPageSize), FailsWith(ErrorCode::kOutOfRange));
    EXPECT_TRUE(managed.contains(at + kPageSize));
    EXPECT_FALSE(managed.contains(card.plain));
  });
}

TEST_P(ManagedAdvice, APrefetchOfWhatIsFreedMeanwhileEnds) {
  Machine().on<ManagedCard>(options(), [](ManagedCard& card) {
    const auto at = must(card.managed->allocate(40 * kPageSize));
    card.write(at, 40 * kPageSize, 1);
    const auto ticket = must(card.managed->prefetch(at, 40 * kPageSize, kCard));
    card.host.clock().sleep_until(card.host.clock().now() + 2_ms);
    ASSERT_THAT(card.managed->free(at), IsOk());
    EXPECT_THAT(card.managed->wait(ticket, card.host.clock().now() + 1_s), IsOk());
    EXPECT_THAT(card.managed->wait(ticket, card.host.clock().now() + 1_s),
                FailsWith(ErrorCode::kInvalidArgument));
    EXPECT_EQ(card.managed->statistics().resident_bytes, 0U);
    const auto other = must(card.managed->allocate(20 * kPageSize));
    card.write(other, 20 * kPageSize, 1);
    static_cast<void>(must(card.managed->prefetch(other, 20 * kPageSize, kCard)));
    EXPECT_THAT(card.managed->close(), IsOk());
  });
}

}  // namespace
}  // namespace npu::test
