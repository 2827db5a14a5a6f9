// SPDX-License-Identifier: Apache-2.0
#include "tools/reports/report_text.hpp"

#include <algorithm>
#include <sstream>

#include "tools/reports/breakdown_tables.hpp"
#include "tools/reports/trust/fidelity.hpp"

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

bool is_numeric(const Table& table, std::size_t column) {
  return !table.rows.empty() &&
         std::all_of(table.rows.begin(), table.rows.end(), [&](const auto& row) {
           if (column >= row.size()) return true;
           const std::string& cell = row[column];
           return cell.empty() || cell == "-" || looks_like_a_number(cell);
         });
}

std::string to_text(const Table& table) {
  std::vector<std::size_t> widths;
  std::vector<bool> right;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    std::size_t width = table.columns[c].size();
    for (const auto& row : table.rows) {
      if (c < row.size()) width = std::max(width, row[c].size());
    }
    widths.push_back(width);
    right.push_back(is_numeric(table, c));
  }
  std::string text = table.title + "\n" + line_text(table.columns, widths, right);
  for (const auto& row : table.rows) text += line_text(row, widths, right);
  return text;
}

// Lines of at most 100 characters, the second and further ones indented; a longer word stands
// alone.
std::string wrapped(const std::string& note) {
  constexpr std::size_t kWidth = 100;
  std::string text;
  std::string line;
  std::istringstream words(note);
  for (std::string word; std::getline(words, word, ' ');) {
    if (line.find_first_not_of(' ') != std::string::npos &&
        line.size() + 1 + word.size() > kWidth) {
      text += line + "\n";
      line = "  " + word;
    } else {
      line += (line.empty() ? "" : " ") + word;
    }
  }
  return text + line + "\n";
}

std::string to_text(const Report& report) {
  std::string text = report.workload + " on " + report.config + ", seed " +
                     std::to_string(report.seed) + ", " +
                     Number::microseconds(report.simulated).text() + " us simulated\n";
  if (report.outcome != kComplete) text += "not complete: " + report.outcome + "\n";
  for (const auto& each : report.overrides) {
    text += "with " + each.key.name + "=" + each.key.elements.at(0) + "\n";
  }
  if (const auto line = fidelity_line(report); !line.empty()) text += wrapped(line);
  for (const auto& table : breakdown_tables(report)) text += "\n" + to_text(table);
  for (const auto& table : report.tables()) text += "\n" + to_text(table);
  if (report.breakdowns().empty() && report.tables().empty() && !report.metrics().empty()) {
    text += "\n" + to_text(metric_table("metrics", report.metrics()));
  }
  text += limits_text(report);
  if (!report.notes().empty()) text += "\n";
  for (const auto& note : report.notes()) text += wrapped(note);
  return text;
}

}  // namespace npu::reports
