// SPDX-License-Identifier: Apache-2.0
#include "npu/base/shortened.hpp"

#include <gtest/gtest.h>

namespace npu {
namespace {

TEST(Shortened, ATextThatFitsStaysAsItIs) {
  EXPECT_EQ(shortened("abc", 3), "abc");
  EXPECT_EQ(shortened("", 3), "");
}

TEST(Shortened, ALongerOneSaysHowLongItIs) {
  EXPECT_EQ(shortened("abcd", 3), "abc... (4 bytes)");
}

TEST(Shortened, ACharacterOfSeveralBytesIsNotCut) {
  EXPECT_EQ(shortened("ab\u20AC", 3), "ab... (5 bytes)");
  EXPECT_EQ(shortened("ab\u20AC", 4), "ab... (5 bytes)");
  EXPECT_EQ(shortened("ab\u20AC", 5), "ab\u20AC");
  EXPECT_EQ(shortened(std::string(5, '\x80'), 4), "\x80... (5 bytes)") << "no UTF-8 anyway";
}

TEST(Shortened, AControlCharacterBreaksNoLine) {
  EXPECT_EQ(shortened("a\nb\x7F"
                      "c\t"),
            "a b c ");
}

}  // namespace
}  // namespace npu
