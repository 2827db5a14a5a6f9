// SPDX-License-Identifier: Apache-2.0
#include "tests/system/accuracy/line.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace npu::accuracy {

bool same_metric(const std::vector<Line>& lines) {
  return std::all_of(lines.begin(), lines.end(),
                     [&](const Line& line) { return line.metric == lines.front().metric; });
}

double Line::error_percent() const {
  return 100 * (std::stod(model) / std::stod(published) - 1);
}

std::string signed_text(double percent) {
  const auto text = fmt::format("{:+.1f}", percent);
  return text == "-0.0" ? "+0.0" : text;
}

std::string number_text(double value, const std::string& published) {
  const auto point = published.find('.');
  const auto decimals = point == std::string::npos ? 0 : published.size() - point - 1;
  return fmt::format("{:.{}f}", value, std::max<std::size_t>(decimals, 2));
}

std::string table_text(const std::vector<Line>& lines) {
  const bool metrics = !same_metric(lines);
  const auto& unit = lines.front().unit;
  std::string text = fmt::format(
      "| id | parameters | {}published {} | model {} | error % | use |\n|---|---|{}---|"
      "---|---|---|\n",
      metrics ? "metric | " : "", unit, unit, metrics ? "---|" : "");
  for (const auto& line : lines) {
    EXPECT_EQ(line.unit, unit) << line.id;
    text += fmt::format("| {} | {} | {}{} | {} | {} | {} |\n", line.id, line.parameters,
                        metrics ? line.metric + " | " : "", line.published, line.model,
                        signed_text(line.error_percent()), line.use);
  }
  return text;
}

}  // namespace npu::accuracy
