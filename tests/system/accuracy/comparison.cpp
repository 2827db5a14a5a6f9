// SPDX-License-Identifier: Apache-2.0
#include "tests/system/accuracy/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/support/folders.hpp"
#include "tests/system/accuracy/page.hpp"

namespace npu::accuracy {
namespace {

const std::string kFolder = source_dir() + "/docs/accuracy/";

// "a=1 b=2" as " --set 'a=1' --set 'b=2'", for a shell.
std::string settings(const std::string& words) {
  std::string text;
  std::istringstream each(words);
  for (std::string word; each >> word;) text += " --set '" + word + "'";
  return text;
}

std::string command(const CsvRow& table) {
  return "--config " + table.at("config") + " run " + table.at("workload") +
         settings(table.at("parameters"));
}

std::string metric_of(const CsvRow& row) {
  return row.at("metric") + (row.at("minus").empty() ? "" : " - " + row.at("minus"));
}

}  // namespace

std::map<std::string, double> Comparison::run(const std::string& arguments) {
  const auto result = shell(binary_dir() + "/bin/npusim " + arguments + " --report report.json");
  EXPECT_EQ(result.exit_code, 0) << arguments << ": " << result.err;
  std::map<std::string, double> metrics;
  if (result.exit_code != 0) return metrics;
  const auto report = nlohmann::json::parse(text("report.json"));
  for (const auto& metric : report.at("metrics")) {
    metrics[metric.at("name")] = metric.at("value");
  }
  return metrics;
}

std::string Comparison::model(const CsvRow& table, const CsvRow& row) {
  const auto arguments = command(table) + settings(row.at("parameters"));
  auto found = runs_.find(arguments);
  if (found == runs_.end()) found = runs_.emplace(arguments, run(arguments)).first;
  const auto metric = found->second.find(row.at("metric"));
  if (metric == found->second.end()) {
    ADD_FAILURE() << arguments << ": no metric " << row.at("metric");
    return "0";
  }
  const double minus = row.at("minus").empty() ? 0 : std::stod(row.at("minus"));
  return number_text(metric->second - minus, row.at("published"));
}

void Comparison::expect_table(const std::string& name, bool slow_rows) {
  const auto tables = read_csv(kFolder + "tables.csv");
  const auto table = std::find_if(tables.begin(), tables.end(),
                                  [&](const CsvRow& each) { return each.at("table") == name; });
  ASSERT_NE(table, tables.end());
  const auto shown = rows_of(on_page(name));
  std::vector<Line> lines;
  for (const auto& row : read_csv(kFolder + "rows.csv")) {
    if (row.at("table") != name) continue;
    Line line{row.at("id"),        row.at("parameters"), metric_of(row),
              row.at("published"), row.at("unit"),       "",
              row.at("use")};
    if (slow_rows || row.at("slow").empty()) {
      line.model = model(*table, row);
    } else {
      ASSERT_LT(lines.size(), shown.size()) << "run the slow test first";
      line.model = shown[lines.size()].at("model " + line.unit);
    }
    lines.push_back(line);
  }
  ASSERT_FALSE(lines.empty());
  const auto metric = same_metric(lines) ? "`" + lines.front().metric + "` of " : std::string();
  expect_on_page(
      name, fmt::format("{}`npusim {}`, and `--set` before each of a row's parameters:\n\n", metric,
                        command(*table)) +
                table_text(lines));
}

std::vector<std::string> table_names() {
  std::vector<std::string> names;
  for (const auto& table : read_csv(kFolder + "tables.csv")) names.push_back(table.at("table"));
  return names;
}

}  // namespace npu::accuracy
