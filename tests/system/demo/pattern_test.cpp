// SPDX-License-Identifier: Apache-2.0
#include "apps/demo/pattern.hpp"

#include <gmock/gmock.h>

#include <set>
#include <vector>

#include "tests/support/matchers.hpp"

namespace npu::test {
namespace {

ByteSpan span(std::vector<std::byte>& bytes) {
  return {bytes.data(), bytes.size()};
}

TEST(Pattern, EveryByteCounts) {
  for (std::size_t size : {1U, 7U, 8U, 9U, 65U}) {
    std::vector<std::byte> bytes(size);
    demo::fill_pattern(span(bytes), 5);
    EXPECT_THAT(demo::check_pattern(span(bytes), 5, "x"), IsOk());
    for (std::size_t i = 0; i < size; ++i) {
      bytes[i] ^= std::byte{0x80};
      EXPECT_THAT(demo::check_pattern(span(bytes), 5, "x"),
                  FailsWith(ErrorCode::kBadDevice, "x: 1 of"));
      bytes[i] ^= std::byte{0x80};
    }
  }
}

TEST(Pattern, OtherSeedsAndOtherPlacesGiveOtherBytes) {
  std::vector<std::byte> a(4096), b(4096);
  demo::fill_pattern(span(a), 1);
  demo::fill_pattern(span(b), 2);
  EXPECT_NE(a, b);
  std::set<std::vector<std::byte>> words;
  for (std::size_t at = 0; at < a.size(); at += 8) {
    words.insert(std::vector<std::byte>(&a[at], &a[at] + 8));
  }
  EXPECT_EQ(words.size(), a.size() / 8) << "a word out of place would not be seen";
}

TEST(Pattern, ValuesAreCompared) {
  std::vector<std::byte> bytes(3);
  demo::fill_value(span(bytes), 0xC5);
  EXPECT_THAT(demo::check_value(span(bytes), 0xC5, "y"), IsOk());
  bytes[2] = std::byte{0};
  EXPECT_THAT(demo::check_value(span(bytes), 0xC5, "y"),
              FailsWith(ErrorCode::kBadDevice, "the first at 0x2: 0x00, not 0xc5"));
}

}  // namespace
}  // namespace npu::test
