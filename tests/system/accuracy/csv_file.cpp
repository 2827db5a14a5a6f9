// SPDX-License-Identifier: Apache-2.0
#include "tests/system/accuracy/csv_file.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace npu::accuracy {
namespace {

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

}  // namespace

std::vector<CsvRow> read_csv(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::vector<CsvRow> rows;
  std::vector<std::string> names;
  for (std::string line; std::getline(file, line);) {
    const auto fields = fields_of(line);
    if (names.empty()) {
      names = fields;
      continue;
    }
    EXPECT_EQ(fields.size(), names.size()) << path << ": " << line;
    if (fields.size() != names.size()) continue;
    auto& row = rows.emplace_back();
    for (std::size_t i = 0; i < names.size(); ++i) row[names[i]] = fields[i];
  }
  return rows;
}

}  // namespace npu::accuracy
