// SPDX-License-Identifier: Apache-2.0
// Every table of docs/accuracy.md that compares runs with published figures says what the program
// does; large runs are those of slow_tables_test.
#include <algorithm>

#include "tests/support/folders.hpp"
#include "tests/system/accuracy/comparison.hpp"
#include "tests/system/accuracy/page.hpp"

namespace npu::accuracy {
namespace {

class AccuracyTable : public Comparison, public testing::WithParamInterface<std::string> {};

TEST_P(AccuracyTable, SaysWhatTheProgramDoes) {
  expect_table(GetParam(), false);
}

std::string test_name(const testing::TestParamInfo<std::string>& table) {
  std::string name = table.param;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
}
INSTANTIATE_TEST_SUITE_P(Page, AccuracyTable, testing::ValuesIn(table_names()), test_name);

TEST(AccuracyTables, NameOnlyTablesThatThereAre) {
  const auto names = table_names();
  for (const auto& row : read_csv(source_dir() + "/docs/accuracy/rows.csv")) {
    EXPECT_EQ(std::count(names.begin(), names.end(), row.at("table")), 1) << row.at("id");
    EXPECT_TRUE(row.at("use") == "fit" || row.at("use") == "check") << row.at("id");
  }
}

}  // namespace
}  // namespace npu::accuracy
