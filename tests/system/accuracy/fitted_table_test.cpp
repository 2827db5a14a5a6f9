// SPDX-License-Identifier: Apache-2.0
// The table of docs/accuracy.md with the values that were chosen with published rows in view: each
// is what the configuration, or the source, has today.
#include <fmt/format.h>

#include "tests/support/folders.hpp"
#include "tests/system/accuracy/csv_file.hpp"
#include "tests/system/accuracy/page.hpp"
#include "tests/system/cli/program.hpp"

namespace npu::accuracy {
namespace {

// Values of `npusim config show` by their paths, from the outermost key on.
std::map<std::string, std::string> values_of(const std::string& shown) {
  std::map<std::string, std::string> values;
  std::vector<std::pair<std::size_t, std::string>> path;
  std::istringstream lines(shown);
  for (std::string line; std::getline(lines, line);) {
    const auto indent = line.find_first_not_of(" -");
    const auto colon = line.find(':');
    if (indent == std::string::npos || colon == std::string::npos || line[indent] == '#') continue;
    while (!path.empty() && path.back().first >= indent) path.pop_back();
    path.emplace_back(indent, line.substr(indent, colon - indent));
    std::string name;
    for (const auto& [at, key] : path) name += "." + key;
    if (colon + 2 < line.size()) values[name] = line.substr(colon + 2);
  }
  return values;
}

// The one value whose path ends with `key`.
std::string value_of(const std::map<std::string, std::string>& values, const std::string& key) {
  std::string found = "no such key";
  for (const auto& [path, value] : values) {
    const std::string end = "." + key;
    if (path.size() < end.size()) continue;
    if (path.compare(path.size() - end.size(), end.size(), end) == 0) found = value;
  }
  return found;
}

bool source_has(const std::string& path, const std::string& name, const std::string& value) {
  const std::string text = file_text(source_dir() + "/" + path);
  return text.find(name + " = " + value + ";") != std::string::npos ||
         text.find(name + ": " + value + " ") != std::string::npos;
}

using FittedTable = cli::Program;

TEST_F(FittedTable, HasTheValuesOfTheConfiguration) {
  const auto shown = shell(binary_dir() + "/bin/npusim config show 910b2");
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  const auto values = values_of(shown.out);
  std::string text = "| where | key | value | chosen with |\n|---|---|---|---|\n";
  for (const auto& row : read_csv(source_dir() + "/docs/accuracy/fitted.csv")) {
    const auto &where = row.at("where"), &key = row.at("key"), &value = row.at("value");
    if (where == "910b2") {
      EXPECT_EQ(value_of(values, key), value) << key;
    } else {
      EXPECT_TRUE(source_has(where, key, value)) << where << ": " << key << " " << value;
    }
    text += fmt::format("| {} | {} | {} | {} |\n", where, key, value, row.at("rows"));
  }
  expect_on_page("fitted", text);
}

}  // namespace
}  // namespace npu::accuracy
