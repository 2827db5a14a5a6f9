// SPDX-License-Identifier: Apache-2.0
#include "tools/reports/csv_file.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <random>

namespace npu::reports {
namespace {

std::vector<CsvRow> rows_of(const std::string& text) {
  const std::string path = testing::TempDir() + "/table.csv";
  std::ofstream(path, std::ios::binary) << text;
  auto rows = load_csv(path);
  EXPECT_TRUE(rows) << rows.error().context;
  return rows ? *rows : std::vector<CsvRow>{};
}

std::string in_quotes(const std::string& field) {
  std::string text = "\"";
  for (const char c : field) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + "\"";
}

TEST(CsvFileTest, FieldsHaveTheNamesOfTheFirstLine) {
  const auto rows = rows_of("a,b\n1,2\r\n\n3,\n");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].at("b"), "2");
  EXPECT_EQ(rows[1].at("a"), "3");
  EXPECT_EQ(rows[1].at("b"), "");
  EXPECT_EQ(rows[1].at("c"), "");
  EXPECT_EQ(rows[1].line, 4);
}

TEST(CsvFileTest, WhatIsQuotedComesBack) {
  std::mt19937 random(1);
  const std::string letters = "ab,\"\n\r x";
  for (int i = 0; i < 300; ++i) {
    std::string field;
    for (auto length = random() % 12; length > 0; --length) {
      field += letters[random() % letters.size()];
    }
    const auto rows = rows_of("a,b,c\nx," + in_quotes(field) + ",y\nz,z,z\n");
    ASSERT_EQ(rows.size(), 2U) << field;
    EXPECT_EQ(rows[0].at("b"), field);
    EXPECT_EQ(rows[0].at("c"), "y");
    EXPECT_EQ(rows[1].at("a"), "z");
  }
}

}  // namespace
}  // namespace npu::reports
