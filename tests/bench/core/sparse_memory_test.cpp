// SPDX-License-Identifier: Apache-2.0
// Bytes of sparse memory, and those that were lent.
#include "model/core/sparse_memory.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <string>
#include <vector>

namespace npu::test {
namespace {

constexpr Bytes kSize = 8_MiB;

// Keeps what the bytes were when they were recalled.
class Keeper : public model::DirectMemoryUser {
 public:
  void invalidate_direct(const std::byte* from, Bytes length) override {
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
  const auto* const lent = memory.direct_pointer(100, 2, keeper);
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
  ASSERT_NE(memory.direct_pointer(2_MiB - 8, 4_MiB, one), nullptr);
  ASSERT_NE(memory.direct_pointer(4_MiB, 16, two), nullptr);
  ASSERT_NE(memory.direct_pointer(4_MiB, 16, two), nullptr) << "twice";
  ASSERT_NE(memory.direct_pointer(7_MiB, 16, two), nullptr);
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
  const auto* const first = memory.direct_pointer(0, 16, keeper);
  const auto* const second = memory.direct_pointer(0, 16, keeper);
  memory.give_back(first, 16, keeper);
  put(memory, 3, 1);
  EXPECT_EQ(keeper.kept.size(), 1U) << "the second loan";
  EXPECT_EQ(first, second);
}

TEST(SparseMemory, LendsWhatItHasAlone) {
  model::SparseMemory memory(kSize);
  Keeper keeper;
  EXPECT_NE(memory.direct_pointer(kSize - 1, 1, keeper), nullptr);
  EXPECT_EQ(memory.direct_pointer(kSize - 1, 2, keeper), nullptr);
  EXPECT_EQ(memory.direct_pointer(kSize, 1, keeper), nullptr);
  EXPECT_EQ(memory.direct_pointer(UINT64_MAX, 2, keeper), nullptr);
  EXPECT_EQ(memory.direct_pointer(0, 0, keeper), nullptr);
}

// Address space of this process, without what is resident.
Bytes reserved_addresses() {
  std::ifstream file("/proc/self/statm");
  Bytes pages = 0;
  file >> pages;
  return pages * static_cast<Bytes>(getpagesize());
}

TEST(SparseMemory, ReservesAddressesForThePiecesThatHoldSomething) {
  const Bytes before = reserved_addresses();
  model::SparseMemory memory(1024 * model::SparseMemory::kPiece);
  EXPECT_LT(reserved_addresses() - before, model::SparseMemory::kPiece / 2);
  put(memory, 1000 * model::SparseMemory::kPiece, 3);
  put(memory, 1000 * model::SparseMemory::kPiece + 2_MiB, 3);
  EXPECT_LT(reserved_addresses() - before, 2 * model::SparseMemory::kPiece);
}

TEST(SparseMemory, KeepsBytesOnBothSidesOfABorderOfPieces) {
  model::SparseMemory memory(2 * model::SparseMemory::kPiece + 4096);
  const std::string text = "across the border";
  const Bytes at = 2 * model::SparseMemory::kPiece - 5;
  memory.write(at, text.data(), text.size());
  std::string read(text.size(), ' ');
  memory.read(at, read.data(), read.size());
  EXPECT_EQ(read, text);
  Keeper keeper;
  EXPECT_EQ(memory.direct_pointer(at, text.size(), keeper), nullptr) << "in two pieces";
  EXPECT_NE(memory.direct_pointer(at, 5, keeper), nullptr);
}

TEST(SparseMemory, SaysWhatItCouldNotHave) {
  model::SparseMemory memory(64 * model::SparseMemory::kPiece);
  const pid_t child = fork();
  if (child == 0) {
    const rlimit none{1, 1};
    setrlimit(RLIMIT_AS, &none);
    try {
      put(memory, 5, 1);
    } catch (const model::OutOfHostMemory& error) {
      _exit(std::string(error.what()).find("ulimit -v") != std::string::npos ? 0 : 2);
    }
    _exit(1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace npu::test
