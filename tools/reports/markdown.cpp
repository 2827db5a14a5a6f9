// SPDX-License-Identifier: Apache-2.0
#include "tools/reports/markdown.hpp"

#include "tools/reports/report_text.hpp"

namespace npu::reports {
namespace {

std::string row_text(const std::vector<std::string>& cells, std::size_t columns) {
  std::string line = "|";
  for (std::size_t c = 0; c < columns; ++c) {
    line += " " + (c < cells.size() ? markdown_text(cells[c]) : std::string()) + " |";
  }
  return line + "\n";
}

}  // namespace

std::string markdown_text(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
    if (c == '<') {
      escaped += "&lt;";
    } else if (c == '&') {
      escaped += "&amp;";
    } else {
      if (std::string("\\`*[]|#~").find(c) != std::string::npos) escaped += '\\';
      escaped += control ? ' ' : c;
    }
  }
  return escaped;
}

std::string markdown_table(const Table& table) {
  const std::size_t columns = table.columns.size();
  if (columns == 0) return {};
  std::string text = row_text(table.columns, columns) + "|";
  for (std::size_t c = 0; c < columns; ++c) text += is_numeric(table, c) ? "---:|" : "---|";
  text += "\n";
  for (const auto& row : table.rows) text += row_text(row, columns);
  return text;
}

}  // namespace npu::reports
