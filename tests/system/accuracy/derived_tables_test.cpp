// SPDX-License-Identifier: Apache-2.0
// The tables of docs/accuracy.md that come out of its other ones: what disagrees most, mean errors,
// and what is not compared. They are computed from the page's text, which other tests hold to the
// program.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "tests/support/folders.hpp"
#include "tests/system/accuracy/csv_file.hpp"
#include "tests/system/accuracy/line.hpp"
#include "tests/system/accuracy/page.hpp"

namespace npu::accuracy {
namespace {

const std::string kPageFolder = source_dir() + "/docs/accuracy/";
constexpr double kDisagrees = 25;  // percent, either way

struct Row {
  std::string table, group, what;
  Line line;
};

// A published figure's cell "published us" and its unit.
std::pair<std::string, std::string> find_unit(const std::map<std::string, std::string>& cells) {
  const std::string column = "published ";
  for (const auto& [name, value] : cells) {
    if (name.rfind(column, 0) == 0) return {value, name.substr(column.size())};
  }
  return {};
}

void append(std::vector<Row>& all, const std::string& table, const std::string& group,
            const std::map<std::string, std::string>& cells) {
  const auto [published, unit] = find_unit(cells);
  const auto metric = cells.count("metric") != 0 ? cells.at("metric") : "";
  const std::string what = metric.empty() ? cells.at("parameters") : metric;
  all.push_back({table,
                 group,
                 what,
                 {cells.at("id"), cells.at("parameters"), metric, published, unit,
                  cells.at("model " + unit), cells.at("use")}});
}

// Every comparison on the page.
std::vector<Row> all_rows() {
  std::vector<Row> all;
  std::map<std::string, std::size_t> next;
  for (const auto& row : read_csv(kPageFolder + "rows.csv")) {
    const auto& table = row.at("table");
    const auto shown = rows_of(on_page(table));
    const auto i = next[table]++;
    if (i < shown.size()) append(all, table, row.at("group"), shown[i]);
  }
  for (const auto& cells : rows_of(on_page("signals-910c"))) {
    append(all, "signals-910c", "", cells);
  }
  return all;
}

TEST(DerivedTable, WhatDisagreesMostComesFirst) {
  auto rows = all_rows();
  const auto error = [](const Row& row) { return std::abs(row.line.error_percent()); };
  // By ratio: a tenth is as far away as ten times.
  const auto distance = [](const Row& row) {
    return std::abs(std::log(std::stod(row.line.model) / std::stod(row.line.published)));
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const Row& a, const Row& b) { return distance(a) > distance(b); });
  std::string text =
      "| id | what | published | model | error % | use |\n|---|---|---|---|---|---|\n";
  for (const auto& row : rows) {
    if (error(row) < kDisagrees) continue;
    text += fmt::format("| {} | {}: {} | {} {} | {} | {} | {} |\n", row.line.id, row.table,
                        row.what, row.line.published, row.line.unit, row.line.model,
                        signed_text(row.line.error_percent()), row.line.use);
  }
  expect_on_page("disagree", text);
}

struct Mean {
  unsigned rows = 0;
  double absolute = 0, bias = 0;
  void add(double error) {
    ++rows;
    absolute += std::abs(error);
    bias += error;
  }
  std::string text() const {
    return fmt::format("{} | {:.1f} | {}", rows, absolute / rows, signed_text(bias / rows));
  }
};

// Of each table by use, and of the groups of one that has some.
TEST(DerivedTable, MeanErrorsKeepFitsApartFromChecks) {
  std::map<std::tuple<std::string, std::string, std::string>, Mean> means;
  for (const auto& row : all_rows()) {
    const double error = row.line.error_percent();
    means[{row.line.use, row.table, ""}].add(error);
    if (!row.group.empty()) means[{row.line.use, row.table, row.group}].add(error);
  }
  std::string text = "| use | table | rows | mean error % | bias % |\n|---|---|---|---|---|\n";
  for (const auto& [key, mean] : means) {
    const auto& [use, table, group] = key;
    text += fmt::format("| {} | {}{} | {} |\n", use, table, group.empty() ? "" : ": " + group,
                        mean.text());
  }
  expect_on_page("errors", text);
}

TEST(DerivedTable, PublishedRowsWithoutAModelAreCounted) {
  std::map<std::tuple<std::string, std::string, std::string>, unsigned> counts;
  for (const auto& row : read_csv(kPageFolder + "not_compared.csv")) {
    ++counts[{row.at("card"), row.at("operator"), row.at("reason")}];
  }
  std::string text = "| card | figure | rows | why |\n|---|---|---|---|\n";
  for (const auto& [key, count] : counts) {
    const auto& [card, name, reason] = key;
    text += fmt::format("| {} | {} | {} | {} |\n", card, name, count, reason);
  }
  expect_on_page("not-compared", text);
}

}  // namespace
}  // namespace npu::accuracy
