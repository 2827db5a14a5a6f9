// SPDX-License-Identifier: Apache-2.0
// Cards whose bits are in different words of HCCS_LINKS and HCCS_ACCESS, and with numbers of nine
// bits in page tables.
#include <map>

#include "npu/abi/page_table.hpp"
#include "npu/abi/registers.hpp"
#include "tests/driver/device_fixture.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

using abi::HccsWord;

class PeerWords : public testing::Test {
 protected:
  // All but the first two have links to all others; these two have none to each other.
  static constexpr std::array<unsigned, 9> kIndices = {0, 1, 31, 32, 63, 64, 127, 256, 383};

  void SetUp() override {
    for (std::size_t i = 0; i < kIndices.size(); ++i) {
      test::FakeCardConfig config;
      config.bdf = {static_cast<std::uint16_t>(i < 5 ? 1 + i : 0x100 + i), 0, 0};
      config.index = kIndices[i];
      config.hbm_size = 16 * kPageSize;
      config.bar2_size = 256_MiB;
      for (const unsigned other : kIndices) {
        if (other != kIndices[i] && other + kIndices[i] != 1) config.hccs_links.set(other);
      }
      auto& added = fake.add_card(config);
      fakes[kIndices[i]] = &added;
      devices[kIndices[i]] = must(Device::open(fake, config.bdf, {}));
    }
  }

  AddressSpace& space(unsigned card) { return devices.at(card)->address_space(); }
  std::uint64_t access(unsigned card, unsigned of) {
    return fakes.at(card)->read(0, abi::HccsAccess::kOffset + HccsWord::offset_of(of), 8);
  }

  test::FakePlatform fake;
  std::map<unsigned, test::FakeCard*> fakes;
  std::map<unsigned, std::unique_ptr<Device>> devices;
};

TEST_F(PeerWords, ALinkIsFoundInItsWord) {
  for (const unsigned card : kIndices) {
    for (const unsigned other : kIndices) {
      EXPECT_EQ(*devices[card]->has_link_to(other), card != other && card + other != 1)
          << card << " to " << other;
    }
    for (const unsigned other : {2U, 30U, 62U, 65U, 382U, 384U, 4096U}) {
      EXPECT_FALSE(*devices[card]->has_link_to(other)) << card << " to " << other;
    }
  }
  const auto memory = *space(1).create_memory(2_MiB);
  EXPECT_THAT(space(0).import_memory(space(1), memory), FailsWith(ErrorCode::kUnsupported));
}

TEST_F(PeerWords, TheDoorOpensForTheBorrowerAlone) {
  const auto memory = *space(63).create_memory(2_MiB);
  std::map<unsigned, MemoryHandle> borrowed;
  for (const unsigned card : kIndices) {
    if (card == 63) continue;
    borrowed[card] = must(space(card).import_memory(space(63), memory));
    EXPECT_NE(access(63, card) & HccsWord::bit_of(card), 0U) << card;
  }
  EXPECT_EQ(access(63, 0), 0x8000'0003U);
  EXPECT_EQ(access(63, 32), 1U);
  EXPECT_EQ(access(63, 96), 0x8000'0000U);
  EXPECT_EQ(access(63, 128), 0U);
  for (const unsigned card : {0U, 64U, 383U}) {
    ASSERT_THAT(space(card).release_memory(borrowed[card]), IsOk());
  }
  EXPECT_EQ(access(63, 0), 0x8000'0002U);
  EXPECT_EQ(access(63, 64), 0U);
  EXPECT_EQ(access(63, 383), 0U);
  EXPECT_EQ(access(63, 256), 1U);
  ASSERT_THAT(devices[63]->shutdown(), IsOk());
  for (unsigned card = 0; card < abi::kMaxHccsCards; card += HccsWord::kCards) {
    EXPECT_EQ(access(63, card), 0U) << card;
  }
}

TEST_F(PeerWords, PagesNameCardsAbove255) {
  for (const unsigned owner : {256U, 383U}) {
    const auto memory = *space(owner).create_memory(2_MiB);
    const auto borrowed = must(space(0).import_memory(space(owner), memory));
    const auto at = *space(0).reserve(2_MiB);
    ASSERT_THAT(space(0).map(at, 2_MiB, borrowed), IsOk());
    ASSERT_THAT(space(0).set_access(at, 2_MiB, Access::kReadWrite), IsOk());
    const auto place = fakes[0]->mmu().translate(space(0).vmid(), at.value, true);
    EXPECT_EQ(place.fault, abi::FaultCode::kNone);
    EXPECT_EQ(place.card, owner);
  }
}

}  // namespace
}  // namespace npu::driver
