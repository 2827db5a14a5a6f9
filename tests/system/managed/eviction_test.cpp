// SPDX-License-Identifier: Apache-2.0
// More managed pages than the card has memory for.
#include "tests/system/managed/managed_card.hpp"

namespace npu::test {
namespace {

class ManagedEviction : public ManagedTest {
 protected:
  static driver::ManagedOptions with_room_for(Bytes pages) {
    auto all = options();
    all.card_limit = pages * kPageSize;
    return all;
  }
};
NPU_BOTH_POLICIES(ManagedEviction);

TEST_P(ManagedEviction, ReadPagesAreDroppedAndWrittenOnesComeBack) {
  Machine().on<ManagedCard>(with_room_for(8), [](ManagedCard& card) {
    const auto at = must(card.managed->allocate(24 * kPageSize));
    card.write(at, 24 * kPageSize, 1);
    for (unsigned i = 0; i < 24; ++i) {
      ASSERT_THAT(card.copy(at + i * kPageSize, card.plain, 4096), IsOk());
    }
    auto now = card.managed->statistics();
    EXPECT_EQ(now.faults, 24U);
    EXPECT_GE(now.evictions, 16U);
    EXPECT_LE(now.resident_bytes, 8 * kPageSize);
    EXPECT_EQ(now.migrated_to_host_bytes, 0U);
    EXPECT_EQ(now.dropped_bytes, now.evictions * touched_bytes());
    for (unsigned i = 0; i < 24; ++i) {
      ASSERT_THAT(card.copy(at + i * kPageSize, at + i * kPageSize + 8192, 4096), IsOk());
    }
    now = card.managed->statistics();
    EXPECT_GT(now.thrash, 0U);
    EXPECT_GE(now.migrated_to_host_bytes, 16 * touched_bytes());
    EXPECT_EQ(now.migrated_to_card_bytes - now.migrated_to_host_bytes - now.dropped_bytes,
              now.resident_bytes);
    const auto all = words(24 * kPageSize, 1);
    for (unsigned i = 0; i < 24; ++i) {
      std::vector<std::uint32_t> expected(all.begin() + i * std::ptrdiff_t{kPageSize / 4},
                                          all.begin() + (i + 1) * std::ptrdiff_t{kPageSize / 4});
      std::copy_n(expected.begin(), 1024, expected.begin() + 2048);
      std::vector<std::uint32_t> found(expected.size());
      ASSERT_THAT(card.managed->read(at + i * kPageSize,
                                     {reinterpret_cast<std::byte*>(found.data()), kPageSize}),
                  IsOk());
      EXPECT_TRUE(found == expected) << i;
    }
  });
}

TEST_P(ManagedEviction, ASetThatFitsStays) {
  Machine().on<ManagedCard>(with_room_for(12), [](ManagedCard& card) {
    const auto at = must(card.managed->allocate(8 * kPageSize));
    for (unsigned round = 0; round < 5; ++round) {
      for (unsigned i = 0; i < 8; ++i) {
        ASSERT_THAT(card.copy(at + i * kPageSize, at + i * kPageSize + 8192, 4096), IsOk());
      }
    }
    EXPECT_EQ(card.managed->statistics().faults, 8U);
    EXPECT_EQ(card.managed->statistics().evictions, 0U);
  });
}

TEST_P(ManagedEviction, OnePageOfMemoryIsEnough) {
  Machine().run([](platform::Platform& host) {
    auto one = with_room_for(1);
    one.low_pages = one.high_pages = 1;
    ManagedCard card(host, one);
    const auto at = must(card.managed->allocate(4 * kPageSize));
    card.write(at, 4 * kPageSize, 1);
    for (unsigned i = 0; i < 12; ++i) {
      const auto place = at + i % 4 * kPageSize;
      ASSERT_THAT(card.copy(place, place + 4096, 64), IsOk());
    }
    // The driver maps a page that is read for reading alone.
    EXPECT_EQ(card.managed->statistics().faults, by_pager() ? 12U : 24U);
  });
}

// The pager has a few pages, which must do; the driver has none.
TEST_P(ManagedEviction, WithoutMemoryAFaultIsAnError) {
  Machine().on<ManagedCard>(options(), [](ManagedCard& card) {
    const auto at = must(card.managed->allocate(8 * kPageSize));
    const auto all = card.device->memory_statistics().free;
    static_cast<void>(must(card.process->space().allocate(all)));
    unsigned served = 0;
    while (served < 8 && card.copy(at + served * kPageSize, card.plain, 64)) ++served;
    EXPECT_EQ(served, by_pager() ? 8U : 0U);
    EXPECT_EQ(card.managed->statistics().fault_errors, by_pager() ? 0U : 1U);
    if (by_pager()) return;
    const auto faults = card.process->take_faults();
    ASSERT_EQ(faults.size(), 1U);
    EXPECT_EQ(faults[0].code, abi::FaultCode::kTranslation);
    EXPECT_EQ(faults[0].address, at.value);
    EXPECT_EQ(faults[0].pasid, card.process->pasid());
  });
}

// Host and card in turns, as fast as they can.
TEST(ManagedThrash, PagesThatGoToAndFroAreMadeToWait) {
  Machine().run([](platform::Platform& host) {
    for (const bool guarded : {true, false}) {
      auto options = managed_options(driver::FaultPolicy::kBatch);
      if (!guarded) options.thrash_lapse = Picoseconds{};
      ManagedCard card(host, options);
      const auto at = must(card.managed->allocate(kPageSize));
      std::byte byte{};
      for (unsigned i = 0; i < 60; ++i) {
        ASSERT_THAT(card.managed->write(at, {&byte, 1}), IsOk());
        ASSERT_THAT(card.copy(at, at + 64, 64), IsOk());
      }
      const auto now = card.managed->statistics();
      if (!guarded) {
        EXPECT_EQ(now.throttled, 0U);
        continue;
      }
      EXPECT_GT(now.throttled, 5U);
      EXPECT_LE(now.throttled, 60U / 3);
      EXPECT_GT(now.pinned, 0U);
    }
  });
}

TEST(ManagedOptionsOf, MemoryAreChecked) {
  Machine().run([](platform::Platform& host) {
    const auto good = managed_options(driver::FaultPolicy::kMessage);
    ManagedCard card(host, good);
    auto other = must(driver::ProcessContext::open(*card.device));
    const auto refused = [&](const driver::ManagedOptions& options) {
      EXPECT_THAT(ManagedMemory::open(*card.device, other->space(), options),
                  FailsWith(ErrorCode::kInvalidArgument));
    };
    auto options = good;
    options.low_pages = 0;
    refused(options);
    options = good;
    options.low_pages = 5;
    refused(options);
    options = good;
    options.high_pages = 65;
    refused(options);
    options = good;
    options.card_limit = kPageSize + 1;
    refused(options);
    options = good;
    options.card_limit = kPageSize;  // others have it without a limit
    refused(options);
    refused(managed_options(driver::FaultPolicy::kBatch));
    card.managed.reset();
    options = good;
    options.pager = {};
    refused(options);
    // A program, but not for this core; then bytes that are none.
    options.pager = must(workloads::program_image("executor"));
    EXPECT_THAT(ManagedMemory::open(*card.device, other->space(), options),
                FailsWith(ErrorCode::kDeviceFault));
    const std::vector<std::byte> rubbish(4096, std::byte{0x5A});
    options.pager = {rubbish.data(), rubbish.size()};
    EXPECT_THAT(ManagedMemory::open(*card.device, other->space(), options),
                FailsWith(ErrorCode::kDeviceFault));
    EXPECT_TRUE(ManagedMemory::open(*card.device, other->space(), good));
  });
}

}  // namespace
}  // namespace npu::test
