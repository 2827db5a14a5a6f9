// SPDX-License-Identifier: Apache-2.0
// Where code lies, and which lines of it a core holds. No simulation.
#include "model/aicore/instruction_cache.hpp"

#include <gtest/gtest.h>

namespace npu::test {
namespace {

using model::CodeLayout;
using model::InstructionCache;

constexpr Bytes kWord = 4;  // of an instruction
constexpr int kCallA = 0, kCallB = 0, kCallC = 0;

TEST(CodeLayout, BlocksLieBehindOneAnotherAsTheyAreFirstRun) {
  CodeLayout code;
  const auto first = code.run(nullptr, &kCallA, 3, kWord);
  const auto second = code.run(&kCallA, &kCallB, 0, kWord);
  EXPECT_EQ(first.first, 0U);
  EXPECT_EQ(first.bytes, 4 * kWord) << "three instructions and the call";
  EXPECT_EQ(second.first, 4 * kWord);
  EXPECT_EQ(second.bytes, kWord);
  EXPECT_EQ(code.bytes(), 5 * kWord);
}

TEST(CodeLayout, AWayThatWasGoneBeforeIsNoNewCode) {
  CodeLayout code;
  const auto first = code.run(&kCallA, &kCallB, 3, kWord);
  const auto again = code.run(&kCallA, &kCallB, 7, kWord);
  EXPECT_EQ(again.first, first.first);
  EXPECT_EQ(again.bytes, first.bytes);
  EXPECT_EQ(code.run(&kCallC, &kCallB, 0, kWord).first, first.bytes)
      << "another way to the same call";
}

TEST(CodeLayout, RoundsOfALoopWithoutCallsAreNoCode) {
  CodeLayout code;
  EXPECT_EQ(code.run(&kCallA, &kCallB, 1'000'000, kWord).bytes, (CodeLayout::kLongest + 1) * kWord);
}

TEST(InstructionCache, KeepsTheLastUsedLinesThatFitOfAnyProgram) {
  InstructionCache cache(3 * 64, 64);
  auto& one = cache.at(0, 0x1000, {1});
  auto& other = cache.at(0, 0x2000, {2});
  cache.fill(one, 0);
  cache.fill(one, 1);
  cache.fill(other, 7);
  EXPECT_TRUE(cache.holds(one, 0));
  cache.fill(other, 8);
  EXPECT_TRUE(cache.holds(one, 0));
  EXPECT_FALSE(cache.holds(one, 1)) << "the one that was used least";
  EXPECT_TRUE(cache.holds(other, 7));
  EXPECT_EQ(cache.held(), 3U);
}

TEST(InstructionCache, ForgetsWhatLayWhereAnotherProgramLies) {
  InstructionCache cache(4 * 64, 64);
  auto& before = cache.at(0, 0x1000, {1});
  cache.fill(before, 0);
  before.code.run(&kCallA, &kCallB, 3, kWord);
  EXPECT_TRUE(cache.knows(0, 0x1000));
  EXPECT_FALSE(cache.knows(1, 0x1000)) << "another space";
  auto& after = cache.at(0, 0x1000, {2});
  EXPECT_FALSE(cache.holds(after, 0));
  EXPECT_EQ(after.code.bytes(), 0U);
  EXPECT_EQ(cache.held(), 0U);
}

TEST(InstructionCache, HoldsNothingWhenItIsCleared) {
  InstructionCache cache(4 * 64, 64);
  cache.fill(cache.at(0, 0x1000, {1}), 3);
  cache.clear();
  EXPECT_FALSE(cache.knows(0, 0x1000));
  EXPECT_FALSE(cache.holds(cache.at(0, 0x1000, {1}), 3));
}

}  // namespace
}  // namespace npu::test
