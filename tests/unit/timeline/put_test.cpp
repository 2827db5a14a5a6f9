// SPDX-License-Identifier: Apache-2.0
#include "tools/timeline/put.hpp"

#include <gtest/gtest.h>

#include <charconv>
#include <random>
#include <string>

namespace npu::timeline {
namespace {

std::string converted(std::uint64_t value, int base) {
  std::array<char, 64> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value, base).ptr};
}

// Of every length.
std::vector<std::uint64_t> numbers() {
  std::vector<std::uint64_t> all{0, UINT64_MAX};
  for (std::uint64_t power = 1;; power *= 10) {
    all.insert(all.end(), {power - 1, power, power + 1});
    if (power > UINT64_MAX / 10) break;
  }
  std::mt19937_64 random(3);
  for (int i = 0; i < 20'000; ++i) all.push_back(random() >> random() % 64);
  return all;
}

TEST(Put, WritesNumbersAsTheLibraryDoes) {
  std::array<char, 64> text{};
  for (const auto value : numbers()) {
    EXPECT_EQ(std::string(text.data(), put_number(text.data(), value)), converted(value, 10));
    EXPECT_EQ(std::string(text.data(), put_hex(text.data(), value)), converted(value, 16));
  }
}

TEST(Put, WritesAPicosecondAsTheLastOfSixPlaces) {
  std::array<char, 64> text{};
  for (auto value : numbers()) {
    value >>= 1;
    char* const end = put_microseconds(text.data(), Picoseconds(static_cast<std::int64_t>(value)));
    std::string digits = converted(value, 10);
    if (digits.size() < 7) digits.insert(0, 7 - digits.size(), '0');
    digits.insert(digits.size() - 6, ".");
    EXPECT_EQ(std::string(text.data(), end), digits);
    EXPECT_LE(digits.size(), kLongestTime);
  }
}

TEST(Put, WritesPiecesUpToTheirEnd) {
  std::string text(3 * TextPiece::kMost, '#');
  char* end = put(text.data(), TextPiece("{\"a\":"));
  end = put(put(end, TextPiece(std::string(TextPiece::kMost, 'x'))), "}");
  EXPECT_EQ(std::string(text.data(), end), "{\"a\":" + std::string(TextPiece::kMost, 'x') + "}");
}

}  // namespace
}  // namespace npu::timeline
