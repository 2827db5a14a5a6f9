// SPDX-License-Identifier: Apache-2.0
// Pages of which the card has parts: batches of faults, what density adds.
#include "tests/system/managed/managed_card.hpp"

namespace npu::test {
namespace {

driver::ManagedOptions batch(unsigned density) {
  auto options = managed_options(driver::FaultPolicy::kBatch);
  options.density_percent = density;
  return options;
}

// Reads a page from its beginning, part by part.
void read_in_order(platform::Platform& host, unsigned density, std::uint64_t faults) {
  ManagedCard card(host, batch(density));
  const auto at = must(card.managed->allocate(kPageSize));
  card.write(at, kPageSize, 1);
  for (Bytes i = 0; i < kPageSize; i += 4096) {
    ASSERT_THAT(card.copy(at + i, card.plain, 4096), IsOk());
  }
  const auto now = card.managed->statistics();
  EXPECT_EQ(now.faults, faults);
  EXPECT_EQ(now.batches, faults);
  EXPECT_EQ(now.migrated_to_card_bytes, kPageSize);
  EXPECT_EQ(now.resident_bytes, kPageSize);
}

TEST(PageWithParts, ReadInOrderComesInGrowingPieces) {
  Machine machine;
  machine.run([](platform::Platform& host) { read_in_order(host, 51, 6); });
}
TEST(PageWithParts, WithoutDensityEachPartIsAFault) {
  Machine machine;
  machine.run([](platform::Platform& host) { read_in_order(host, 0, 512); });
}

TEST(PageWithParts, AnAccessAcrossPartsGetsThemOneAfterAnother) {
  Machine().on<ManagedCard>(batch(0), [](ManagedCard& card) {
    const auto at = must(card.managed->allocate(2 * kPageSize));
    card.write(at, 2 * kPageSize, 1);
    ASSERT_THAT(card.copy(at + (kPageSize - 6000), at + 100, 12000), IsOk());
    const auto now = card.managed->statistics();
    // 2 and 2 parts of the source, 3 of the target.
    EXPECT_EQ(now.migrated_to_card_bytes, 7 * 4096U);
    EXPECT_EQ(now.fault_errors, 0U);
    auto expected = words(2 * kPageSize, 1);
    auto* const bytes = reinterpret_cast<std::byte*>(expected.data());
    std::memcpy(bytes + 100, bytes + kPageSize - 6000, 12000);
    std::vector<std::uint32_t> found(expected.size());
    ASSERT_THAT(card.managed->read(at, {reinterpret_cast<std::byte*>(found.data()), 2 * kPageSize}),
                IsOk());
    EXPECT_TRUE(found == expected);
    EXPECT_EQ(card.managed->statistics().resident_bytes, 0U);
  });
}

TEST(PageWithParts, FaultsOfManyCommandsComeInBatches) {
  Machine().on<ManagedCard>(batch(0), [](ManagedCard& card) {
    const auto at = must(card.managed->allocate(8 * kPageSize));
    card.write(at, 8 * kPageSize, 1);
    std::vector<std::unique_ptr<driver::Queue>> queues;
    std::vector<driver::QueueTicket> tickets;
    const auto deadline = card.host.clock().now() + 1_s;
    queues.reserve(8);
    for (unsigned q = 0; q < 8; ++q) queues.push_back(must(card.process->create_queue()));
    for (unsigned i = 0; i < 64; ++i) {
      tickets.reserve(8);
      for (unsigned q = 0; q < 8; ++q) {
        // Two commands for each part.
        const auto from = at + (q * kPageSize + i / 2 * 4096);
        tickets.push_back(must(
            queues[q]->submit(driver::entries::copy_on_device(from, card.plain, 64), deadline)));
      }
    }
    for (std::size_t i = 0; i < tickets.size(); ++i) {
      EXPECT_THAT(queues[i % 8]->wait(tickets[i], driver::WaitPolicy::kInterrupt, deadline),
                  IsOk());
    }
    const auto now = card.managed->statistics();
    EXPECT_GT(now.largest_batch, 1U);
    EXPECT_LE(now.largest_batch, 256U);
    EXPECT_LT(now.batches, now.records);
    EXPECT_EQ(now.migrated_to_card_bytes, 8 * 32 * 4096U);
  });
}

TEST(PageWithParts, APrefetchBringsTheRest) {
  Machine().on<ManagedCard>(batch(51), [](ManagedCard& card) {
    const auto at = must(card.managed->allocate(kPageSize));
    card.write(at, kPageSize, 1);
    ASSERT_THAT(card.copy(at, card.plain, 64), IsOk());
    const auto ticket =
        must(card.managed->prefetch(at, kPageSize, driver::MemoryLocation::card(0)));
    ASSERT_THAT(card.managed->wait(ticket, card.host.clock().now() + 1_s), IsOk());
    ASSERT_THAT(card.copy(at + kPageSize / 2, card.plain, 64), IsOk());
    EXPECT_EQ(card.managed->statistics().faults, 1U);
    EXPECT_EQ(card.managed->statistics().migrated_to_card_bytes, kPageSize);
    card.expect(at, kPageSize, 1);
  });
}

}  // namespace
}  // namespace npu::test
