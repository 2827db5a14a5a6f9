// SPDX-License-Identifier: Apache-2.0
// Pages go where they are used.
#include "tests/system/managed/managed_card.hpp"

namespace npu::test {
namespace {

class Migration : public ManagedTest {};
NPU_BOTH_POLICIES(Migration);

TEST_P(Migration, APageThatTheHostHasFilledGoesToTheCardAndBack) {
  Machine().on<ManagedCard>(options(), [](ManagedCard& card) {
    const auto at = must(card.managed->allocate(2 * kPageSize));
    card.write(at, 2 * kPageSize, 1);
    EXPECT_EQ(card.managed->statistics().host_faults, 2U);
    EXPECT_EQ(card.managed->statistics().migrated_to_card_bytes, 0U);
    ASSERT_THAT(card.copy(at + kPageSize, at, kPageSize / 2), IsOk());
    auto now = card.managed->statistics();
    // Half a page is read and half of one written. The pager brings both pages; the driver brings
    // parts, as density has it, of which at least 64 KiB in a row. How many at a time is a matter
    // of when: a copy asks for more while the first ones come.
    EXPECT_GE(now.faults, 2U);
    EXPECT_LE(now.faults, by_pager() ? 2U : 2 * (kPageSize / 2 / 64_KiB));
    EXPECT_EQ(now.migrated_to_card_bytes, by_pager() ? 2 * kPageSize : kPageSize);
    EXPECT_EQ(now.fault_errors, 0U);
    std::vector<std::uint32_t> found(kPageSize / 4), expected(kPageSize / 4);
    const auto both = words(2 * kPageSize, 1);
    std::copy_n(both.begin() + kPageSize / 4, kPageSize / 8, expected.begin());
    std::copy_n(both.begin() + kPageSize / 8, kPageSize / 8, expected.begin() + kPageSize / 8);
    ASSERT_THAT(card.managed->read(at, {reinterpret_cast<std::byte*>(found.data()), kPageSize}),
                IsOk());
    EXPECT_EQ(found, expected);
    now = card.managed->statistics();
    EXPECT_EQ(now.migrated_to_host_bytes, by_pager() ? kPageSize : kPageSize / 2);
    EXPECT_EQ(now.host_faults, 3U);
  });
}

TEST_P(Migration, WhatTheCardTouchesFirstIsMadeThereWithoutACopy) {
  Machine().on<ManagedCard>(options(), [](ManagedCard& card) {
    const auto at = must(card.managed->allocate(kPageSize));
    ASSERT_THAT(card.copy(at, card.plain, 4096), IsOk());
    const auto now = card.managed->statistics();
    EXPECT_EQ(now.faults, 1U);
    EXPECT_EQ(now.migrated_to_card_bytes, 0U);
  });
}

TEST_P(Migration, WhatNobodyHasReservedIsAFaultAsEver) {
  Machine().on<ManagedCard>(options(), [](ManagedCard& card) {
    const auto at = must(card.managed->allocate(kPageSize));
    EXPECT_FALSE(card.copy(at + kPageSize, card.plain, 4096));
    EXPECT_EQ(card.managed->statistics().fault_errors, 1U);
    const auto faults = card.process->take_faults();
    ASSERT_EQ(faults.size(), 1U);
    EXPECT_EQ(faults[0].code, abi::FaultCode::kTranslation);
    EXPECT_EQ(faults[0].address, (at + kPageSize).value);
    EXPECT_EQ(faults[0].pasid, card.process->pasid());
  });
}

TEST_P(Migration, WhatIsFreedIsGoneAndItsMemoryIsBack) {
  Machine().on<ManagedCard>(options(), [](ManagedCard& card) {
    const auto free = card.device->memory_statistics().free;
    const auto at = must(card.managed->allocate(8 * kPageSize));
    card.write(at, 3 * kPageSize, 1);
    ASSERT_THAT(card.copy(at, card.plain, 4096), IsOk());
    EXPECT_EQ(card.device->memory_statistics().free, free - kPageSize);
    ASSERT_THAT(card.managed->free(at), IsOk());
    EXPECT_EQ(card.device->memory_statistics().free, free);
    EXPECT_THAT(card.managed->free(at), FailsWith(ErrorCode::kInvalidArgument));
    std::byte byte{};
    EXPECT_THAT(card.managed->read(at, {&byte, 1}), FailsWith(ErrorCode::kOutOfRange));
    EXPECT_FALSE(card.copy(at, card.plain, 4096));
  });
}

}  // namespace
}  // namespace npu::test
