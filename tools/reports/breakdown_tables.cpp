// SPDX-License-Identifier: Apache-2.0
#include "tools/reports/breakdown_tables.hpp"

#include <algorithm>

namespace npu::reports {

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

Table metric_table(const std::string& title, const std::vector<Metric>& metrics) {
  Table table{title, {"name", "value", "unit"}, {}};
  for (const auto& metric : metrics) {
    table.rows.push_back({metric.name, metric.value.text(), metric.unit});
  }
  return table;
}

}  // namespace npu::reports
