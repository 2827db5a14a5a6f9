// SPDX-License-Identifier: Apache-2.0
// Bytes that can be recognised, and their comparison.
#include <gmock/gmock.h>

#include <set>
#include <vector>

#include "tests/support/matchers.hpp"
#include "workloads/programs/support/card_session.hpp"

namespace npu::workloads {
namespace {

using test::FailsWith;
using test::IsOk;

ByteSpan span(std::vector<std::byte>& bytes) {
  return {bytes.data(), bytes.size()};
}

TEST(Pattern, EveryByteCounts) {
  for (std::size_t size : {1U, 7U, 8U, 9U, 65U}) {
    std::vector<std::byte> expected(size), bytes(size);
    fill_pattern(span(expected), 5);
    fill_pattern(span(bytes), 5);
    EXPECT_THAT(check_equal(span(expected), span(bytes), "x"), IsOk());
    for (std::size_t i = 0; i < size; ++i) {
      bytes[i] ^= std::byte{0x80};
      EXPECT_THAT(check_equal(span(expected), span(bytes), "x"),
                  FailsWith(ErrorCode::kWrongData, "x: byte " + std::to_string(i) + " of"));
      bytes[i] ^= std::byte{0x80};
    }
  }
}

TEST(Pattern, OtherSeedsAndOtherPlacesGiveOtherBytes) {
  std::vector<std::byte> a(4096), b(4096);
  fill_pattern(span(a), 1);
  fill_pattern(span(b), 2);
  EXPECT_NE(a, b);
  std::set<std::vector<std::byte>> words;
  for (std::size_t at = 0; at < a.size(); at += 8) {
    words.insert(std::vector<std::byte>(&a[at], &a[at] + 8));
  }
  EXPECT_EQ(words.size(), a.size() / 8) << "a word out of place would not be seen";
}

TEST(Pattern, ADifferenceIsToldWithBothValues) {
  std::vector<std::byte> expected(3, std::byte{0xC5});
  auto bytes = expected;
  EXPECT_THAT(check_equal(span(expected), span(bytes), "y"), IsOk());
  bytes[2] = std::byte{0};
  EXPECT_THAT(check_equal(span(expected), span(bytes), "y"),
              FailsWith(ErrorCode::kWrongData, "byte 2 of 3 is 0x00, expected 0xc5"));
}

}  // namespace
}  // namespace npu::workloads
