// SPDX-License-Identifier: Apache-2.0
#include "tools/reports/report_markdown.hpp"

#include "tools/reports/breakdown_tables.hpp"
#include "tools/reports/markdown.hpp"
#include "tools/reports/trust/fidelity.hpp"

namespace npu::reports {
namespace {

std::string cell_of_value(const NamedValue& value) {
  std::string text;
  for (const auto& element : value.elements) text += (text.empty() ? "" : ", ") + element;
  return text;
}

Table identity(const Report& report) {
  Table table{"", {"run", ""}, {}};
  auto& rows = table.rows;
  rows.push_back({"npusim", report.version});
  if (report.outcome != kComplete) rows.push_back({"not complete", report.outcome});
  rows.push_back({"configuration", report.config});
  rows.push_back({"SHA-256 of it", report.config_sha256});
  rows.push_back({"seed", std::to_string(report.seed)});
  rows.push_back({"simulated", Number::microseconds(report.simulated).text() + " us"});
  for (const auto& each : report.parameters) rows.push_back({each.name, cell_of_value(each)});
  for (const auto& each : report.overrides) {
    rows.push_back({"with " + each.key.name, cell_of_value(each.key)});
  }
  if (auto line = fidelity_line(report); !line.empty())
    rows.push_back({"fidelity", std::move(line)});
  return table;
}

std::string titled(const Table& table) {
  if (table.rows.empty()) return {};
  return "\n## " + markdown_text(table.title) + "\n\n" + markdown_table(table);
}

std::string limits_markdown(const Report& report) {
  if (report.limits().empty()) return {};
  std::string text = "\n## limits\n\n";
  for (const auto& limit : report.limits()) {
    text += "- " + markdown_text(limit.subject) + ": " + markdown_text(limit.text) + "\n";
  }
  return text;
}

std::string notes_text(const Report& report) {
  if (report.notes().empty()) return {};
  std::string text = "\n## notes\n\n";
  for (const auto& note : report.notes()) text += "- " + markdown_text(note) + "\n";
  return text;
}

}  // namespace

std::string to_markdown(const Report& report) {
  std::string text = "# " + markdown_text(report.workload + " on " + report.config) + "\n\n" +
                     markdown_table(identity(report));
  for (const auto& table : breakdown_tables(report)) text += titled(table);
  for (const auto& table : report.tables()) text += titled(table);
  text += limits_markdown(report) + notes_text(report);
  return text + titled(metric_table("metrics", report.metrics())) +
         titled(metric_table("counters", report.counters()));
}

}  // namespace npu::reports
