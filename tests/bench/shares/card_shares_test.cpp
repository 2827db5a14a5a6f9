// SPDX-License-Identifier: Apache-2.0
// The books of a divided card.
#include "model/shares/card_shares.hpp"

#include <gtest/gtest.h>

#include <random>

#include "model/config/load.hpp"
#include "tests/support/folders.hpp"

namespace npu::test {
namespace {

using abi::ShareStatus;
using model::CardShares;
using model::FunctionShare;

model::ChipConfig chip() {
  auto system = model::load_system(source_dir() + "/configs/910b2.yaml", {}, {});
  if (!system) std::abort();
  return system->cards[0];
}

// As the first template of six cores, in the place `n`.
FunctionShare share(unsigned n) {
  FunctionShare made;
  made.first_cluster = 6 * n;
  made.clusters = 6;
  made.first_aicpu = n;
  made.aicpus = 1;
  made.memory_base = n * 8_GiB;
  made.memory = 8_GiB;
  made.media.vpc = 2;
  return made;
}

TEST(CardShares, WhatIsLentIsGoneFromThePhysicalFunction) {
  const auto config = chip();
  CardShares shares(config);
  ASSERT_EQ(shares.create(3, share(1)), ShareStatus::kSuccess);
  const auto left = shares.physical();
  EXPECT_EQ(left.own_clusters(), 18U);
  EXPECT_EQ(left.own_aicpus().size(), 6U) << "of 7 while it is divided";
  EXPECT_FALSE(left.has_cluster(6));
  EXPECT_TRUE(left.has_cluster(5) && left.has_cluster(12));
  EXPECT_FALSE(left.has_memory(8_GiB, 1));
  EXPECT_TRUE(left.has_memory(8_GiB - 8, 8) && left.has_memory(16_GiB, 8));
  EXPECT_FALSE(left.has_memory(8_GiB - 8, 9));
}

TEST(CardShares, APartHasItsOwnAddressesFrom0) {
  const auto config = chip();
  CardShares shares(config);
  ASSERT_EQ(shares.create(0, share(2)), ShareStatus::kSuccess);
  const auto part = shares.partition(0);
  EXPECT_EQ(part.memory_base, 16_GiB);
  EXPECT_EQ(part.usable, 8_GiB - CardShares::kReserved);
  EXPECT_TRUE(part.has_memory(8_GiB - 1, 1));
  EXPECT_FALSE(part.has_memory(8_GiB, 1));
  EXPECT_FALSE(part.has_memory(~std::uint64_t{0}, 2)) << "it does not wrap around";
}

TEST(CardShares, AnUndividedCardHasItsOwnNumberOfAicpus) {
  const auto config = chip();
  CardShares shares(config);
  EXPECT_EQ(shares.physical().own_aicpus().size(), 6U);
  ASSERT_EQ(shares.create(0, share(0)), ShareStatus::kSuccess);
  shares.destroy(0);
  EXPECT_EQ(shares.physical().own_aicpus().size(), 6U);
  EXPECT_FALSE(shares.divided());
}

struct Refused {
  const char* why;
  ShareStatus status;
  void (*change)(FunctionShare& share);
};

TEST(CardShares, EachReasonToRefuseHasItsName) {
  const Refused cases[] = {
      {"cores of another", ShareStatus::kCores, [](auto& s) { s.first_cluster = 5; }},
      {"no cores", ShareStatus::kCores, [](auto& s) { s.clusters = 0; }},
      {"a core too many", ShareStatus::kCores, [](auto& s) { s.clusters = 19; }},
      {"an AICPU of another", ShareStatus::kAicpus, [](auto& s) { s.first_aicpu = 0; }},
      {"an AICPU too many", ShareStatus::kAicpus, [](auto& s) { s.aicpus = 7; }},
      {"memory of another", ShareStatus::kMemory, [](auto& s) { s.memory_base = 6_GiB; }},
      {"no whole page", ShareStatus::kMemory, [](auto& s) { s.memory += 4096; }},
      {"too little for a driver", ShareStatus::kMemory, [](auto& s) { s.memory = 96_MiB; }},
      {"beyond the card", ShareStatus::kMemory, [](auto& s) { s.memory_base = 60_GiB; }},
      {"more than the window", ShareStatus::kMemory, [](auto& s) { s.memory = 33_GiB; }},
      {"media", ShareStatus::kMedia, [](auto& s) { s.media.vpc = 9; }},
      {"group 4", ShareStatus::kGroup, [](auto& s) { s.group = 4, s.token = s.token_max = 1; }},
      {"no token", ShareStatus::kToken, [](auto& s) { s.group = 0; }},
      {"token over its maximum", ShareStatus::kToken,
       [](auto& s) { s.group = 0, s.token = 2, s.token_max = 1; }},
      {"weight 0", ShareStatus::kWeight, [](auto& s) { s.link_weight = 0; }}};
  const auto config = chip();
  CardShares shares(config);
  ASSERT_EQ(shares.create(0, share(0)), ShareStatus::kSuccess);
  for (const auto& each : cases) {
    auto wanted = share(1);
    each.change(wanted);
    EXPECT_EQ(shares.create(1, wanted), each.status) << each.why;
    EXPECT_FALSE(shares.of(1).present()) << each.why;
  }
  EXPECT_EQ(shares.create(0, share(1)), ShareStatus::kPresent);
  EXPECT_EQ(shares.create(12, share(1)), ShareStatus::kIndex);
}

TEST(CardShares, AGroupHasOneSetOfCores) {
  const auto config = chip();
  CardShares shares(config);
  auto first = share(0), second = share(1), other = share(2);
  for (auto* each : {&first, &second, &other}) each->group = 2, each->token = each->token_max = 1;
  second.first_cluster = first.first_cluster;
  ASSERT_EQ(shares.create(0, first), ShareStatus::kSuccess);
  EXPECT_EQ(shares.create(1, second), ShareStatus::kSuccess);
  EXPECT_EQ(shares.create(2, other), ShareStatus::kGroup) << "other cores";
  EXPECT_EQ(shares.physical().own_clusters(), 18U) << "lent once";
}

// Against one count per core, AICPU and GiB.
TEST(CardShares, RandomOnesNeverOverlapAndAllComeBack) {
  const auto config = chip();
  CardShares shares(config);
  std::mt19937 engine(11);
  const auto random = [&engine] { return static_cast<unsigned>(engine()); };
  for (int step = 0; step < 4000; ++step) {
    const unsigned index = random() % 12;
    if (random() % 3 == 0) {
      shares.destroy(index);
      continue;
    }
    FunctionShare wanted;
    wanted.first_cluster = random() % 24, wanted.clusters = 1 + random() % 12;
    wanted.first_aicpu = random() % 7, wanted.aicpus = 1 + random() % 3;
    wanted.memory_base = random() % 60 * 1_GiB, wanted.memory = (1 + random() % 16) * 1_GiB;
    static_cast<void>(shares.create(index, wanted));
    unsigned clusters[24] = {}, aicpus[7] = {}, memory[62] = {};
    for (unsigned i = 0; i < shares.functions(); ++i) {
      const auto& has = shares.of(i);
      for (unsigned c = 0; c < has.clusters; ++c) ASSERT_EQ(++clusters[has.first_cluster + c], 1U);
      for (unsigned c = 0; c < has.aicpus; ++c) ASSERT_EQ(++aicpus[has.first_aicpu + c], 1U);
      for (Bytes g = 0; g < has.memory / 1_GiB; ++g) {
        ASSERT_EQ(++memory[has.memory_base / 1_GiB + g], 1U);
      }
    }
  }
  for (unsigned i = 0; i < shares.functions(); ++i) shares.destroy(i);
  EXPECT_EQ(shares.physical().own_clusters(), 24U);
  EXPECT_TRUE(shares.physical().lent_memory.empty());
}

}  // namespace
}  // namespace npu::test
