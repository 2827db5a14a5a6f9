// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/kernels/built_in.hpp"

#include <gtest/gtest.h>

#include "kernels/device/shipped/elementwise.hpp"

namespace npu::exec {
namespace {

struct Arguments {
  std::uint64_t to = 0x1000, a = 0x2000, b = 0x3000, count = 1000, type = 0;

  ConstByteSpan bytes() const { return {reinterpret_cast<const std::byte*>(this), sizeof *this}; }
};

TEST(BuiltIn, MakesTheKernelsWordsOfArguments) {
  const auto* const kernel = find_built_in("add");
  ASSERT_NE(kernel, nullptr);
  const Arguments arguments;
  std::uint32_t blocks = 48;
  const auto words = kernel->words(*kernel, arguments.bytes(), &blocks);
  ASSERT_TRUE(words);
  kernels::vector::Elementwise expected;
  expected.to = 0x1000, expected.a = 0x2000, expected.b = 0x3000, expected.count = 1000;
  const auto all = kernels::vector::to_words(expected);
  EXPECT_EQ(*words, std::vector<std::uint64_t>(all.begin(), all.end()));
  EXPECT_EQ(blocks, 7U);  // 4000 bytes, 512 at least for each
}

TEST(BuiltIn, RefusesOtherArgumentsAndTypes) {
  const auto* const kernel = find_built_in("mul");
  ASSERT_NE(kernel, nullptr);
  Arguments arguments;
  std::uint32_t blocks = 1;
  EXPECT_FALSE(kernel->words(*kernel, {arguments.bytes().data, 8}, &blocks));
  arguments.type = 3;  // int32
  EXPECT_FALSE(kernel->words(*kernel, arguments.bytes(), &blocks));
}

TEST(BuiltIn, KnowsNoOtherNames) {
  EXPECT_EQ(find_built_in("none"), nullptr);
  EXPECT_EQ(find_built_in(""), nullptr);
}

}  // namespace
}  // namespace npu::exec
