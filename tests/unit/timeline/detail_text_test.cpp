// SPDX-License-Identifier: Apache-2.0
#include "tools/timeline/detail_text.hpp"

#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <random>

namespace npu::timeline {
namespace {

using platform::DetailField;
using platform::DetailFormat;

std::string detail_of(const DetailField& field, std::uint64_t detail) {
  std::array<char, kLongestField> text{};
  return {text.data(), put_field(text.data(), field, detail)};
}

TEST(DetailText, IsTheFieldAlone) {
  EXPECT_EQ(detail_of({"a", 8, 4}, 0xABC), "10");
  EXPECT_EQ(detail_of({"a", 0, 64}, UINT64_MAX), "18446744073709551615");
  EXPECT_EQ(detail_of({"a", 4, 60, DetailFormat::kHex}, 0x1F0), "\"0x1f\"");
}

TEST(DetailText, NamesWhatHasAName) {
  EXPECT_EQ(detail_of({"a", 0, 16, DetailFormat::kBdf}, 0x81 << 8 | 0x1F << 3 | 7), "\"81:1f.7\"");
  EXPECT_EQ(detail_of({"a", 0, 8, DetailFormat::kPipe}, 2), "\"cube\"");
  EXPECT_EQ(detail_of({"a", 0, 32, DetailFormat::kTask}, UINT32_MAX), "\"none\"");
  EXPECT_EQ(detail_of({"a", 0, 32, DetailFormat::kTask}, 4), "\"4\"");
  EXPECT_EQ(detail_of({"a", 0, 8, DetailFormat::kStatistic}, 2), "\"median\"");
  EXPECT_EQ(detail_of({"a", 0, 8, DetailFormat::kBlockState}, 3), "\"moved\"");
}

TEST(DetailText, OfAnUnknownValueIsItsNumber) {
  EXPECT_EQ(detail_of({"a", 0, 8, DetailFormat::kStatistic}, 200), "\"200\"");
  EXPECT_EQ(detail_of({"a", 0, 8, DetailFormat::kPipe}, 99), "\"99\"");
  EXPECT_EQ(detail_of({"a", 0, 8, DetailFormat::kDriverCall}, 250), "\"250\"");
}

TEST(DetailText, IsJsonWhateverTheDetail) {
  std::mt19937_64 random(2);
  for (const auto& row : platform::kActivityTable) {
    for (const auto& field : row.fields) {
      if (field.bits == 0) continue;
      EXPECT_LE(field.shift + field.bits, 64) << row.name;
      for (int i = 0; i < 50; ++i) {
        const auto text = detail_of(field, random() >> random() % 64);
        EXPECT_TRUE(nlohmann::json::accept(text)) << row.name << ": " << text;
      }
    }
  }
}

}  // namespace
}  // namespace npu::timeline
