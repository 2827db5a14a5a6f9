// SPDX-License-Identifier: Apache-2.0
#include "tools/reports/compare/differs.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace npu::reports {
namespace {

// What is told of a report: a name, and the value it has there.
using Facts = std::vector<std::pair<std::string, std::string>>;

std::string text_of(const NamedValue& value) {
  std::string text;
  for (const auto& element : value.elements) text += (text.empty() ? "" : ",") + element;
  return text.empty() ? "nothing" : text;
}

Facts facts_of(const std::string& what, const std::vector<NamedValue>& values) {
  Facts facts;
  for (const auto& value : values) facts.emplace_back(what + value.name, text_of(value));
  return facts;
}

Facts identity_of(const Report& report) {
  Facts facts{{"npusim", report.version},
              {"outcome", report.outcome},
              {"configuration", report.config},
              {"seed", std::to_string(report.seed)},
              {"simulated us", Number::microseconds(report.simulated).text()}};
  for (auto& fact : facts_of("parameter ", report.parameters)) facts.push_back(std::move(fact));
  for (auto& fact : facts_of("", report.configuration)) facts.push_back(std::move(fact));
  for (const auto& program : report.programs()) {
    facts.emplace_back("program " + program.name, program.sha256.substr(0, 12));
  }
  for (const auto& limit : report.limits()) {
    facts.emplace_back("limit " + limit.subject + " " + limit.name, limit.percent.text() + " %");
  }
  return facts;
}

bool same(const std::vector<Table>& a, const std::vector<Table>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Table& x, const Table& y) {
    return x.title == y.title && x.columns == y.columns && x.rows == y.rows;
  });
}

void add_sections(std::vector<std::string>& lines, const Report& base, const Report& now) {
  const auto json_of = [](const Report& report, const std::string& name) {
    for (const auto& each : report.sections()) {
      if (each.name == name) return each.json;
    }
    return std::string();
  };
  for (const auto& section : base.sections()) {
    const std::string other = json_of(now, section.name);
    if (other == section.json) continue;
    lines.push_back("section " + section.name + (other.empty() ? ": only in the base" : ""));
  }
  for (const auto& section : now.sections()) {
    if (!json_of(base, section.name).empty()) continue;
    lines.push_back("section " + section.name + ": only in the new report");
  }
}

}  // namespace

std::vector<std::string> what_differs(const Report& base, const Report& now) {
  std::vector<std::string> lines;
  const Facts before = identity_of(base);
  const Facts after = identity_of(now);
  const std::map<std::string, std::string> known(before.begin(), before.end());
  const std::map<std::string, std::string> present(after.begin(), after.end());
  for (const auto& [name, value] : before) {
    const auto other = present.find(name);
    if (other != present.end() && other->second == known.at(name)) continue;
    lines.push_back(name + ": " + value + " -> " +
                    (other != present.end() ? other->second : "nothing"));
  }
  for (const auto& [name, value] : after) {
    if (known.count(name) == 0) lines.push_back(name + ": nothing -> " + value);
  }
  if (!same(base.tables(), now.tables())) lines.emplace_back("tables");
  if (base.notes() != now.notes()) lines.emplace_back("notes");
  add_sections(lines, base, now);
  return lines;
}

}  // namespace npu::reports
