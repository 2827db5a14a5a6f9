// SPDX-License-Identifier: Apache-2.0
// Memory under keys and names, on one card and between two; its end in every order.
#include "npu/driver/sharing.hpp"

#include <algorithm>
#include <random>

#include "tests/driver/peer_fixture.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

constexpr ProcessId kAnne{11}, kBert{22}, kCarl{33};

class SharingTest : public PeerTest {
 protected:
  std::unique_ptr<AddressSpace> open_space(unsigned card, ProcessId process) {
    auto space = devices[card]->create_address_space(process);
    EXPECT_THAT(space, IsOk());
    return std::move(*space);
  }
  Bytes used(unsigned card) const {
    return kPages * kPageSize - devices[card]->memory_statistics().free;
  }

  MemoryShares shares{fake};
};

TEST_F(SharingTest, AKeyOpensToWhoIsAdmitted) {
  const auto anne = open_space(0, kAnne), bert = open_space(0, kBert);
  EXPECT_EQ(bert->process(), kBert);
  const auto memory = *anne->create_memory(2_MiB);
  const auto key = *shares.share(*anne, memory);
  EXPECT_THAT(shares.open(*bert, key),
              FailsWith(ErrorCode::kPermissionDenied, "process 22 is not admitted to share 1"));
  ASSERT_THAT(shares.admit(*anne, key, kBert), IsOk());
  const auto opened = must(shares.open(*bert, key));
  const auto here = map(*anne, memory, 2_MiB), there = map(*bert, opened, 2_MiB);
  EXPECT_EQ(fakes[0]->mmu().locate(anne->vmid(), here.value),
            fakes[0]->mmu().locate(bert->vmid(), there.value));
  EXPECT_THAT(shares.open(*bert, key), FailsWith(ErrorCode::kAlreadyExists));
}

TEST_F(SharingTest, WhoIsDismissedKeepsWhatHeHasOpened) {
  const auto anne = open_space(0, kAnne), bert = open_space(0, kBert), again = open_space(0, kBert);
  const auto memory = *anne->create_memory(2_MiB);
  const auto key = *shares.share(*anne, memory, {"block", false});
  ASSERT_THAT(shares.admit(*anne, key, kBert), IsOk());
  const auto opened = must(shares.open(*bert, "block"));
  ASSERT_THAT(shares.dismiss(*anne, key, kBert), IsOk());
  EXPECT_THAT(shares.open(*again, "block"), FailsWith(ErrorCode::kPermissionDenied));
  ASSERT_THAT(shares.withdraw(*anne, key), IsOk());
  ASSERT_THAT(anne->release_memory(memory), IsOk());
  map(*bert, opened, 2_MiB);
  EXPECT_EQ(used(0), 2_MiB);
}

TEST_F(SharingTest, AnotherSpaceOfTheOwnersProcessNeedsNoAdmission) {
  const auto here = open_space(0, kAnne), there = open_space(1, kAnne), nobody = open_space(1, {});
  const auto memory = *here->create_memory(2_MiB);
  const auto key = *shares.share(*here, memory);
  EXPECT_THAT(shares.open(*there, key), IsOk());
  EXPECT_THAT(shares.open(*nobody, key), FailsWith(ErrorCode::kPermissionDenied));
  const auto for_all = *shares.share(*here, memory, {"", true});
  EXPECT_NE(for_all, key);
  EXPECT_THAT(shares.open(*nobody, for_all), IsOk());
  const auto far = open_space(2, kAnne);
  EXPECT_THAT(shares.open(*far, for_all),
              FailsWith(ErrorCode::kUnsupported, "card 2 has no HCCS link to card 0"));
}

TEST_F(SharingTest, TheOwnerAloneChangesAShareAndSharesTheMemory) {
  const auto anne = open_space(0, kAnne), bert = open_space(0, kBert);
  const auto memory = *anne->create_memory(2_MiB);
  const auto key = *shares.share(*anne, memory, {"", true});
  const auto opened = *shares.open(*bert, key);
  EXPECT_THAT(shares.admit(*bert, key, kCarl), FailsWith(ErrorCode::kPermissionDenied));
  EXPECT_THAT(shares.withdraw(*bert, key), FailsWith(ErrorCode::kPermissionDenied));
  EXPECT_THAT(shares.share(*bert, opened, {"mine", true}),
              FailsWith(ErrorCode::kPermissionDenied, "is shared by its owner alone"));
  EXPECT_THAT(shares.admit(*anne, key, {}), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(shares.admit(*anne, ShareKey{99}, kBert),
              FailsWith(ErrorCode::kNotFound, "no share 99"));
}

TEST_F(SharingTest, NamesAreTakenUntilTheirShareEnds) {
  const auto anne = open_space(0, kAnne), bert = open_space(0, kBert);
  const auto first = *anne->create_memory(2_MiB), second = *bert->create_memory(2_MiB);
  const std::string longest(MemoryShares::kLongestName, 'n');
  ASSERT_THAT(shares.share(*anne, first, {longest, true}), IsOk());
  EXPECT_THAT(shares.share(*bert, second, {longest, true}),
              FailsWith(ErrorCode::kAlreadyExists, longest));
  EXPECT_THAT(shares.share(*bert, second, {longest + "n", true}),
              FailsWith(ErrorCode::kInvalidArgument, "65 bytes; the longest has 64"));
  EXPECT_THAT(shares.share(*bert, second, {std::string("a\0b", 3), true}),
              FailsWith(ErrorCode::kInvalidArgument, "zero byte"));
  EXPECT_THAT(shares.open(*bert, "other"), FailsWith(ErrorCode::kNotFound, "no share 'other'"));
  ASSERT_THAT(anne->release_memory(first), IsOk());
  EXPECT_EQ(shares.count(), 0U);
  ASSERT_THAT(shares.share(*bert, second, {longest, true}), IsOk());
  EXPECT_EQ(*shares.open(*anne, longest), second);
}

TEST_F(SharingTest, WhatASpaceDoesNotHoldIsNotShared) {
  const auto anne = open_space(0, kAnne), bert = open_space(0, kBert);
  const auto memory = *anne->create_memory(2_MiB);
  EXPECT_THAT(shares.share(*bert, memory), FailsWith(ErrorCode::kInvalidArgument, "holds no"));
  EXPECT_THAT(shares.share(*anne, {}), FailsWith(ErrorCode::kInvalidArgument));
  ASSERT_THAT(shares.share(*anne, memory), IsOk());
  MemoryShares others(fake);
  EXPECT_THAT(others.share(*anne, memory), FailsWith(ErrorCode::kInvalidArgument, "elsewhere"));
  test::FakePlatform another;
  MemoryShares elsewhere(another);
  EXPECT_THAT(elsewhere.share(*bert, *bert->create_memory(2_MiB)),
              FailsWith(ErrorCode::kInvalidArgument, "another machine"));
  ASSERT_THAT(anne->close(), IsOk());
  EXPECT_THAT(shares.share(*anne, memory), FailsWith(ErrorCode::kInvalidArgument));
}

// Four ends in each of the 24 orders: the owner gives the memory up, the owner's space ends, the
// other unmaps, the other gives up.
class SharingEnds : public SharingTest, public testing::WithParamInterface<unsigned> {};

TEST_P(SharingEnds, TheMemoryLivesAsLongAsSomebodyHasIt) {
  auto anne = open_space(1, kAnne), bert = open_space(GetParam(), kBert);
  const auto owner_tables = used(1), other_tables = used(0);
  std::array<unsigned, 4> order{0, 1, 2, 3};
  do {
    if (!anne) anne = open_space(1, kAnne);
    const auto memory = *anne->create_memory(2_MiB);
    const auto key = *shares.share(*anne, memory, {"name", true});
    const auto opened = *shares.open(*bert, key);
    const auto at = map(*bert, opened, 2_MiB);
    bool owned = true, held = true, mapped = true;
    for (const auto end : order) {
      if (end == 0 && anne) {
        ASSERT_THAT(anne->release_memory(memory), IsOk());
      } else if (end == 1) {
        anne.reset();
      } else if (end == 2) {
        ASSERT_THAT(bert->unmap(at, 2_MiB), IsOk());
        mapped = false;
      } else if (end == 3) {
        ASSERT_THAT(bert->release_memory(opened), IsOk());
        held = false;
      }
      owned = owned && end > 1;
      EXPECT_EQ(shares.count(), owned ? 1U : 0U);
      EXPECT_EQ(used(1), owner_tables + (owned || held || mapped ? 2_MiB : 0)) << end;
    }
    ASSERT_THAT(bert->release(at), IsOk());
    EXPECT_THAT(shares.open(*bert, key), FailsWith(ErrorCode::kNotFound));
    EXPECT_THAT(shares.open(*bert, "name"), FailsWith(ErrorCode::kNotFound));
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_EQ(used(0), other_tables);
}

INSTANTIATE_TEST_SUITE_P(Cards, SharingEnds, testing::Values(1U, 0U), [](const auto& instance) {
  return instance.param == 1 ? "SameCard" : "AnotherCard";
});

// Whatever processes of two cards do, a model says what they may.
class SharingStorm : public SharingTest, public testing::WithParamInterface<unsigned> {
 protected:
  struct Block {
    unsigned owner = 0;  // space
    MemoryHandle memory;
    bool owned = true;
    std::map<unsigned, MemoryHandle> opened;  // by space
    bool live() const { return owned || !opened.empty(); }
  };
  struct Offer {
    unsigned block = 0;
    ShareKey key;
    bool everyone = false;
    std::set<unsigned> admitted;  // spaces; each is a process of its own
  };
  static constexpr unsigned kSpaces = 6;

  unsigned any(std::size_t count) { return static_cast<unsigned>(random() % count); }
  // Most of the older ones have ended.
  unsigned recent(std::size_t count) {
    return static_cast<unsigned>(count - 1 - any(std::min<std::size_t>(count, 12)));
  }
  void end_space(unsigned which) {
    spaces[which] = open_space_after_end(which);
    for (auto& block : blocks) {
      if (block.owner == which) block.owned = false;
      block.opened.erase(which);
    }
  }
  std::unique_ptr<AddressSpace> open_space_after_end(unsigned which) {
    if (spaces[which] && any(2) == 0) {
      EXPECT_THAT(spaces[which]->close(), IsOk());
    }
    spaces[which].reset();
    return open_space(which % 2, ProcessId{which + 1});
  }
  void open(const Offer& offer, unsigned who) {
    auto& block = blocks[offer.block];
    const auto opened = shares.open(*spaces[who], offer.key);
    if (!block.owned) {
      EXPECT_THAT(opened, FailsWith(ErrorCode::kNotFound));
    } else if (!offer.everyone && who != block.owner && offer.admitted.count(who) == 0) {
      EXPECT_THAT(opened, FailsWith(ErrorCode::kPermissionDenied));
    } else if (who == block.owner || block.opened.count(who) != 0) {
      EXPECT_THAT(opened, FailsWith(ErrorCode::kAlreadyExists));
    } else {
      ASSERT_THAT(opened, IsOk());
      block.opened[who] = *opened;
      ++opens;
    }
  }
  void step();
  void check() {
    Bytes expected[2] = {};
    for (const auto& block : blocks) expected[block.owner % 2] += block.live() ? 2_MiB : 0;
    for (unsigned card = 0; card < 2; ++card) {
      EXPECT_EQ(used(card), idle[card] + expected[card]) << card;
    }
  }

  std::mt19937 random{GetParam()};
  std::array<std::unique_ptr<AddressSpace>, kSpaces> spaces;
  std::vector<Block> blocks;
  std::vector<Offer> offers;
  Bytes idle[2] = {};
  unsigned opens = 0;
};

void SharingStorm::step() {
  const unsigned who = any(kSpaces);
  switch (any(8)) {
    case 0:
      if (const auto memory = spaces[who]->create_memory(2_MiB)) {
        blocks.push_back({who, *memory, true, {}});
      }
      return;
    case 1: {
      if (blocks.empty()) return;
      const unsigned which = recent(blocks.size());
      const auto& block = blocks[which];
      const bool everyone = any(2) == 0;
      const auto key = shares.share(*spaces[block.owner], block.memory, {"", everyone});
      ASSERT_EQ(key.has_value(), block.owned);
      if (key) offers.push_back({which, *key, everyone, {}});
      return;
    }
    case 2:
    case 3:
      if (!offers.empty()) open(offers[recent(offers.size())], who);
      return;
    case 4: {
      if (offers.empty()) return;
      auto& offer = offers[recent(offers.size())];
      const auto& block = blocks[offer.block];
      const ProcessId process{who + 1};
      const bool may = any(3) != 0;
      const auto done = may ? shares.admit(*spaces[block.owner], offer.key, process)
                            : shares.dismiss(*spaces[block.owner], offer.key, process);
      ASSERT_EQ(done.has_value(), block.owned);
      if (may) offer.admitted.insert(who);
      if (!may) offer.admitted.erase(who);
      return;
    }
    case 5: {
      if (blocks.empty()) return;
      auto& block = blocks[recent(blocks.size())];
      if (block.owned && any(2) == 0) {
        ASSERT_THAT(spaces[block.owner]->release_memory(block.memory), IsOk());
        block.owned = false;
      }
      return;
    }
    case 6: {
      if (blocks.empty()) return;
      auto& block = blocks[recent(blocks.size())];
      if (block.opened.empty()) return;
      const auto first = block.opened.begin();
      ASSERT_THAT(spaces[first->first]->release_memory(first->second), IsOk());
      block.opened.erase(first);
      return;
    }
    default:
      if (any(8) == 0) end_space(who);
  }
}

TEST_P(SharingStorm, HoldsWhatAModelSays) {
  for (unsigned i = 0; i < kSpaces; ++i) spaces[i] = open_space(i % 2, ProcessId{i + 1});
  for (unsigned card = 0; card < 2; ++card) idle[card] = used(card);
  for (unsigned i = 0; i < 3000 && !HasFailure(); ++i) {
    step();
    check();
  }
  for (unsigned i = 0; i < kSpaces; ++i) end_space(i);
  check();
  EXPECT_EQ(shares.count(), 0U);
  EXPECT_GT(opens, 100U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, SharingStorm, testing::Range(0U, 20U));

}  // namespace
}  // namespace npu::driver
