// SPDX-License-Identifier: Apache-2.0
#include "reports/report_text.hpp"

#include <algorithm>

namespace npu::reports {

namespace {

bool looks_like_a_number(const std::string& text) {
  const auto digits = text.find_first_not_of("+-");
  return digits != std::string::npos &&
         text.find_first_not_of("0123456789.%,", digits) == std::string::npos;
}

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::string space(width > text.size() ? width - text.size() : 0, ' ');
  return right ? space + text : text + space;
}

std::string line_text(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                      const std::vector<bool>& right) {
  std::string line;
  for (std::size_t c = 0; c < cells.size() && c < widths.size(); ++c) {
    line += "  " + padded(cells[c], widths[c], right[c]);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

// Breakdowns of one group and with the same parts share a table.
std::vector<Table> breakdown_tables(const Report& report) {
  std::vector<Table> tables;
  for (const auto& breakdown : report.breakdowns()) {
    std::vector<std::string> columns{"", "latency"};
    for (const auto& part : breakdown.parts) columns.push_back(part.name);
    if (breakdown.wait) columns.insert(columns.end(), {"wait", "call"});
    const auto same = std::find_if(tables.begin(), tables.end(), [&](const Table& t) {
      return t.title == breakdown.group && t.columns == columns;
    });
    Table& table =
        same != tables.end() ? *same : tables.emplace_back(Table{breakdown.group, columns, {}});
    std::vector<std::string> row{breakdown.label, Number::nanoseconds(breakdown.total()).text()};
    for (const auto& part : breakdown.parts) row.push_back(Number::nanoseconds(part.time).text());
    if (breakdown.wait) {
      row.push_back(Number::nanoseconds(*breakdown.wait).text());
      row.push_back(Number::nanoseconds(breakdown.call()).text());
    }
    table.rows.push_back(std::move(row));
  }
  return tables;
}

Table metric_table(const Report& report) {
  Table table{"metrics", {"name", "value", "unit"}, {}};
  for (const auto& metric : report.metrics()) {
    table.rows.push_back({metric.name, metric.value.text(), metric.unit});
  }
  return table;
}

std::string limits_text(const Report& report) {
  std::string text;
  std::string subject;
  for (const auto& limit : report.limits()) {
    if (limit.subject != subject) {
      subject = limit.subject;
      text += "\n" + subject + " is limited by\n";
    }
    text += "  " + limit.text + "\n";
  }
  return text;
}

}  // namespace

std::string to_text(const Table& table) {
  std::vector<std::size_t> widths;
  std::vector<bool> right;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    std::size_t width = table.columns[c].size();
    bool numbers = !table.rows.empty();
    for (const auto& row : table.rows) {
      if (c >= row.size()) continue;
      width = std::max(width, row[c].size());
      numbers = numbers && (row[c].empty() || row[c] == "-" || looks_like_a_number(row[c]));
    }
    widths.push_back(width);
    right.push_back(numbers);
  }
  std::string text = table.title + "\n" + line_text(table.columns, widths, right);
  for (const auto& row : table.rows) text += line_text(row, widths, right);
  return text;
}

std::string to_text(const Report& report) {
  std::string text = report.workload + " on " + report.config + ", seed " +
                     std::to_string(report.seed) + ", " +
                     Number::microseconds(report.simulated).text() + " us simulated\n";
  for (const auto& each : report.overrides) {
    text += "with " + each.key.name + "=" + each.key.elements.at(0) + "\n";
  }
  for (const auto& table : breakdown_tables(report)) text += "\n" + to_text(table);
  for (const auto& table : report.tables()) text += "\n" + to_text(table);
  if (report.breakdowns().empty() && report.tables().empty()) {
    text += "\n" + to_text(metric_table(report));
  }
  text += limits_text(report);
  if (!report.notes().empty()) text += "\n";
  for (const auto& note : report.notes()) text += note + "\n";
  return text;
}

}  // namespace npu::reports
