// SPDX-License-Identifier: Apache-2.0
// The books of a divided card.
#include "model/partitions/card_partitions.hpp"

#include <gtest/gtest.h>

#include <random>

#include "model/config/load.hpp"
#include "tests/support/folders.hpp"

namespace npu::test {
namespace {

using abi::PartitionStatus;
using model::CardPartitions;
using model::FunctionPartition;

model::ChipConfig chip() {
  auto system = model::load_system(source_dir() + "/configs/910b2.yaml", {}, {});
  if (!system) std::abort();
  return system->cards[0];
}

// As the first template of six cores, in the place `n`.
FunctionPartition partition(unsigned n) {
  FunctionPartition made;
  made.first_cluster = 6 * n;
  made.clusters = 6;
  made.first_aicpu = n;
  made.aicpus = 1;
  made.memory_base = n * 8_GiB;
  made.memory = 8_GiB;
  made.media.vpc = 2;
  return made;
}

TEST(CardPartitions, WhatIsLentIsGoneFromThePhysicalFunction) {
  const auto config = chip();
  CardPartitions partitions(config);
  ASSERT_EQ(partitions.create(3, partition(1)), PartitionStatus::kSuccess);
  const auto left = partitions.physical();
  EXPECT_EQ(left.own_clusters(), 18U);
  EXPECT_EQ(left.own_aicpus().size(), 6U) << "of 7 while it is divided";
  EXPECT_FALSE(left.has_cluster(6));
  EXPECT_TRUE(left.has_cluster(5) && left.has_cluster(12));
  EXPECT_FALSE(left.has_memory(8_GiB, 1));
  EXPECT_TRUE(left.has_memory(8_GiB - 8, 8) && left.has_memory(16_GiB, 8));
  EXPECT_FALSE(left.has_memory(8_GiB - 8, 9));
}

TEST(CardPartitions, APartHasItsOwnAddressesFrom0) {
  const auto config = chip();
  CardPartitions partitions(config);
  ASSERT_EQ(partitions.create(0, partition(2)), PartitionStatus::kSuccess);
  const auto part = partitions.partition(0);
  EXPECT_EQ(part.memory_base, 16_GiB);
  EXPECT_EQ(part.usable, 8_GiB - CardPartitions::kReserved);
  EXPECT_TRUE(part.has_memory(8_GiB - 1, 1));
  EXPECT_FALSE(part.has_memory(8_GiB, 1));
  EXPECT_FALSE(part.has_memory(~std::uint64_t{0}, 2)) << "it does not wrap around";
}

TEST(CardPartitions, AnUndividedCardHasItsOwnNumberOfAicpus) {
  const auto config = chip();
  CardPartitions partitions(config);
  EXPECT_EQ(partitions.physical().own_aicpus().size(), 6U);
  ASSERT_EQ(partitions.create(0, partition(0)), PartitionStatus::kSuccess);
  partitions.destroy(0);
  EXPECT_EQ(partitions.physical().own_aicpus().size(), 6U);
  EXPECT_FALSE(partitions.divided());
}

struct Refused {
  const char* why;
  PartitionStatus status;
  void (*change)(FunctionPartition& partition);
};

TEST(CardPartitions, EachReasonToRefuseHasItsName) {
  const Refused cases[] = {
      {"cores of another", PartitionStatus::kCores, [](auto& s) { s.first_cluster = 5; }},
      {"no cores", PartitionStatus::kCores, [](auto& s) { s.clusters = 0; }},
      {"a core too many", PartitionStatus::kCores, [](auto& s) { s.clusters = 19; }},
      {"an AICPU of another", PartitionStatus::kAicpus, [](auto& s) { s.first_aicpu = 0; }},
      {"an AICPU too many", PartitionStatus::kAicpus, [](auto& s) { s.aicpus = 7; }},
      {"memory of another", PartitionStatus::kMemory, [](auto& s) { s.memory_base = 6_GiB; }},
      {"no whole page", PartitionStatus::kMemory, [](auto& s) { s.memory += 4096; }},
      {"too little for a driver", PartitionStatus::kMemory, [](auto& s) { s.memory = 96_MiB; }},
      {"beyond the card", PartitionStatus::kMemory, [](auto& s) { s.memory_base = 60_GiB; }},
      {"more than the window", PartitionStatus::kMemory, [](auto& s) { s.memory = 33_GiB; }},
      {"media", PartitionStatus::kMedia, [](auto& s) { s.media.vpc = 9; }},
      {"group 4", PartitionStatus::kGroup, [](auto& s) { s.group = 4, s.token = s.token_max = 1; }},
      {"no token", PartitionStatus::kToken, [](auto& s) { s.group = 0; }},
      {"token over its maximum", PartitionStatus::kToken,
       [](auto& s) { s.group = 0, s.token = 2, s.token_max = 1; }},
      {"weight 0", PartitionStatus::kWeight, [](auto& s) { s.link_weight = 0; }}};
  const auto config = chip();
  CardPartitions partitions(config);
  ASSERT_EQ(partitions.create(0, partition(0)), PartitionStatus::kSuccess);
  for (const auto& each : cases) {
    auto wanted = partition(1);
    each.change(wanted);
    EXPECT_EQ(partitions.create(1, wanted), each.status) << each.why;
    EXPECT_FALSE(partitions.of(1).present()) << each.why;
  }
  EXPECT_EQ(partitions.create(0, partition(1)), PartitionStatus::kPresent);
  EXPECT_EQ(partitions.create(12, partition(1)), PartitionStatus::kIndex);
}

TEST(CardPartitions, AGroupHasOneSetOfCores) {
  const auto config = chip();
  CardPartitions partitions(config);
  auto first = partition(0), second = partition(1), other = partition(2);
  for (auto* each : {&first, &second, &other}) each->group = 2, each->token = each->token_max = 1;
  second.first_cluster = first.first_cluster;
  ASSERT_EQ(partitions.create(0, first), PartitionStatus::kSuccess);
  EXPECT_EQ(partitions.create(1, second), PartitionStatus::kSuccess);
  EXPECT_EQ(partitions.create(2, other), PartitionStatus::kGroup) << "other cores";
  EXPECT_EQ(partitions.physical().own_clusters(), 18U) << "lent once";
}

// Against one count per core, AICPU and GiB.
TEST(CardPartitions, RandomOnesNeverOverlapAndAllComeBack) {
  const auto config = chip();
  CardPartitions partitions(config);
  std::mt19937 engine(11);
  const auto random = [&engine] { return static_cast<unsigned>(engine()); };
  for (int step = 0; step < 4000; ++step) {
    const unsigned index = random() % 12;
    if (random() % 3 == 0) {
      partitions.destroy(index);
      continue;
    }
    FunctionPartition wanted;
    wanted.first_cluster = random() % 24, wanted.clusters = 1 + random() % 12;
    wanted.first_aicpu = random() % 7, wanted.aicpus = 1 + random() % 3;
    wanted.memory_base = random() % 60 * 1_GiB, wanted.memory = (1 + random() % 16) * 1_GiB;
    static_cast<void>(partitions.create(index, wanted));
    unsigned clusters[24] = {}, aicpus[7] = {}, memory[62] = {};
    for (unsigned i = 0; i < partitions.functions(); ++i) {
      const auto& has = partitions.of(i);
      for (unsigned c = 0; c < has.clusters; ++c) ASSERT_EQ(++clusters[has.first_cluster + c], 1U);
      for (unsigned c = 0; c < has.aicpus; ++c) ASSERT_EQ(++aicpus[has.first_aicpu + c], 1U);
      for (Bytes g = 0; g < has.memory / 1_GiB; ++g) {
        ASSERT_EQ(++memory[has.memory_base / 1_GiB + g], 1U);
      }
    }
  }
  for (unsigned i = 0; i < partitions.functions(); ++i) partitions.destroy(i);
  EXPECT_EQ(partitions.physical().own_clusters(), 24U);
  EXPECT_TRUE(partitions.physical().lent_memory.empty());
}

}  // namespace
}  // namespace npu::test
