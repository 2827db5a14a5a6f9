// SPDX-License-Identifier: Apache-2.0
// Every table of docs/accuracy.md that compares runs with published figures says what the program
// does; large runs are those of slow_tables_test.
#include <algorithm>
#include <map>
#include <set>

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

// Of a table, the part of an id before the operator is not repeated.
std::string short_id(const std::string& id, const std::string& part) {
  return id.rfind(part + "-", 0) == 0 ? id.substr(part.size() + 1) : id;
}

TEST(AccuracyTables, HaveEveryMeasurementThatIsNotListedAsNotCompared) {
  const std::string folder = source_dir() + "/docs/accuracy/";
  std::multimap<std::string, std::string> compared;
  for (const auto& row : read_csv(folder + "rows.csv")) {
    compared.emplace(row.at("id"), row.at("published"));
  }
  std::set<std::string> listed;
  for (const auto& row : read_csv(folder + "not_compared.csv")) listed.insert(row.at("id"));
  for (const std::string part : {"910b2", "950pr"}) {
    for (const auto& row : read_csv(folder + "measurements/" + part + ".csv")) {
      const auto [begin, end] = compared.equal_range(short_id(row.at("id"), part));
      const bool found = std::any_of(begin, end, [&](const auto& each) {
        return std::stod(each.second) == std::stod(row.at("value"));
      });
      EXPECT_NE(found, listed.count(row.at("id")) != 0) << row.at("id");
    }
  }
}

}  // namespace
}  // namespace npu::accuracy
