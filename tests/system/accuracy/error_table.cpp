// SPDX-License-Identifier: Apache-2.0
#include "tests/system/accuracy/error_table.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tests/support/folders.hpp"
#include "tests/system/accuracy/csv_file.hpp"

namespace npu::accuracy {

// Ids of a table's rows have no part in front: "gelu-3" of "operators-910b2" is 910b2-gelu-3.
std::map<std::string, std::string> ErrorTable::uses() {
  std::map<std::string, std::string> uses;
  for (const auto& row : read_csv(source_dir() + "/docs/accuracy/rows.csv")) {
    const auto& table = row.at("table");
    const auto part = table.substr(table.rfind('-') + 1);
    uses.emplace(row.at("id"), row.at("use"));
    uses[part + "-" + row.at("id")] = row.at("use");
  }
  return uses;
}

std::map<std::string, std::string> ErrorTable::lines_of(const std::vector<std::string>& files) {
  std::string command = binary_dir() + "/bin/npusim validate --jobs 1 --report errors.json";
  for (const auto& file : files) command += " " + file;
  const auto result = shell(command);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::map<std::string, std::string> lines;
  if (result.exit_code != 0) return lines;
  const auto labels = uses();
  const auto report = nlohmann::json::parse(text("errors.json"));
  const auto& table = report.at("tables").at(0);
  const auto& columns = table.at("columns");
  for (const auto& cells : table.at("rows")) {
    std::map<std::string, std::string> row;
    for (std::size_t i = 0; i < columns.size(); ++i) row[columns[i]] = cells[i];
    const auto use = labels.find(row["id"]);
    lines[row["id"]] =
        fmt::format("{},{},{},{},{},{}", row["configuration"], row["operator"], row["bound by"],
                    row["id"], use == labels.end() ? "check" : use->second, row["error %"]);
  }
  return lines;
}

}  // namespace npu::accuracy
