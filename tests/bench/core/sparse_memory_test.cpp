// SPDX-License-Identifier: Apache-2.0
// Bytes of sparse memory, and those that were lent.
#include "model/core/sparse_memory.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace npu::test {
namespace {

constexpr Bytes kSize = 8_MiB;

// Keeps what the bytes were when they were recalled.
class Keeper : public model::Borrower {
 public:
  void recall(const std::byte* from, Bytes length) override {
    kept.emplace_back(from, from + length);
  }
  std::vector<std::vector<std::byte>> kept;
};

void put(model::SparseMemory& memory, Bytes address, unsigned char value) {
  memory.write(address, &value, 1);
}

TEST(SparseMemory, TakesUpPagesThatHoldMoreThanZeros) {
  model::SparseMemory memory(kSize);
  const std::array<unsigned char, 3 * 4096> zeros{};
  memory.write(100, zeros.data(), zeros.size());
  EXPECT_EQ(memory.touched(), 0U);
  put(memory, 5 * 4096 - 1, 1);
  put(memory, 4 * 4096, 2);
  EXPECT_EQ(memory.touched(), 4096U);
  std::array<unsigned char, 2> read{};
  memory.read(5 * 4096 - 1, read.data(), 2);
  EXPECT_EQ(read, (std::array<unsigned char, 2>{1, 0}));
}

TEST(SparseMemory, RecallsWhatItLentBeforeItChanges) {
  model::SparseMemory memory(kSize);
  Keeper keeper;
  put(memory, 100, 7);
  const auto* const lent = memory.lend(100, 2, keeper);
  ASSERT_NE(lent, nullptr);
  EXPECT_EQ(lent[0], std::byte{7});
  EXPECT_EQ(lent[1], std::byte{0});
  put(memory, 99, 1);
  put(memory, 102, 1);
  EXPECT_TRUE(keeper.kept.empty()) << "beside it";
  put(memory, 101, 9);
  ASSERT_EQ(keeper.kept.size(), 1U);
  EXPECT_EQ(keeper.kept[0], (std::vector<std::byte>{std::byte{7}, std::byte{0}}));
  put(memory, 101, 10);
  EXPECT_EQ(keeper.kept.size(), 1U) << "the loan has ended";
}

TEST(SparseMemory, RecallsEveryLoanThatIsMet) {
  model::SparseMemory memory(kSize);
  Keeper one, two;
  ASSERT_NE(memory.lend(2_MiB - 8, 4_MiB, one), nullptr);
  ASSERT_NE(memory.lend(4_MiB, 16, two), nullptr);
  ASSERT_NE(memory.lend(4_MiB, 16, two), nullptr) << "twice";
  ASSERT_NE(memory.lend(7_MiB, 16, two), nullptr);
  put(memory, 4_MiB + 15, 1);
  EXPECT_EQ(one.kept.size(), 1U);
  EXPECT_EQ(two.kept.size(), 2U);
  const std::array<unsigned char, 32> many{1};
  memory.write(7_MiB - 16, many.data(), 17);
  EXPECT_EQ(two.kept.size(), 3U);
}

TEST(SparseMemory, WhatWasGivenBackIsNotRecalled) {
  model::SparseMemory memory(kSize);
  Keeper keeper;
  const auto* const first = memory.lend(0, 16, keeper);
  const auto* const second = memory.lend(0, 16, keeper);
  memory.give_back(first, 16, keeper);
  put(memory, 3, 1);
  EXPECT_EQ(keeper.kept.size(), 1U) << "the second loan";
  EXPECT_EQ(first, second);
}

TEST(SparseMemory, LendsWhatItHasAlone) {
  model::SparseMemory memory(kSize);
  Keeper keeper;
  EXPECT_NE(memory.lend(kSize - 1, 1, keeper), nullptr);
  EXPECT_EQ(memory.lend(kSize - 1, 2, keeper), nullptr);
  EXPECT_EQ(memory.lend(kSize, 1, keeper), nullptr);
  EXPECT_EQ(memory.lend(UINT64_MAX, 2, keeper), nullptr);
  EXPECT_EQ(memory.lend(0, 0, keeper), nullptr);
}

}  // namespace
}  // namespace npu::test
