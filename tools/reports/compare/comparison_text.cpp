// SPDX-License-Identifier: Apache-2.0
#include "tools/reports/compare/comparison_text.hpp"

#include <array>

#include "tools/reports/compare/amounts.hpp"
#include "tools/reports/markdown.hpp"
#include "tools/reports/report_text.hpp"

namespace npu::reports {
namespace {

constexpr std::size_t kMostTold = 20;  // of what differs besides; the rest is counted

constexpr std::array<std::pair<Verdict, const char*>, 5> kHeadings{
    {{Verdict::kRegression, "regressions, worst first"},
     {Verdict::kLook, "changed: look at it; fewer of these is no gain by itself"},
     {Verdict::kWorse, "worse, but no regression"},
     {Verdict::kChanged, "changed"},
     {Verdict::kBetter, "better"}}};

std::string counted(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

Table table_of(const Comparison& comparison, Verdict verdict, const char* heading) {
  Table table{heading, {"metric", "base", "new", "change", "%", "unit", "allowed", "why"}, {}};
  for (const auto& change : comparison.changes) {
    if (change.verdict != verdict) continue;
    std::string percent = change.percent();
    if (!percent.empty()) percent.resize(percent.size() - 2);
    table.rows.push_back({change.name, change.base.text(), change.now.text(),
                          signed_text(change.difference()), percent, change.unit,
                          allowed_text(change.judgement), change.why});
  }
  return table;
}

std::vector<std::string> told(const Comparison& comparison) {
  std::vector<std::string> lines;
  if (!comparison.failed.empty())
    lines.push_back("the new run is not complete: " + comparison.failed);
  const auto name = [](const Lone& lone) {
    return (lone.counter ? "counter " : "metric ") + lone.name;
  };
  for (const auto& lone : comparison.missing) {
    lines.push_back("only in the base: " + name(lone) +
                    (lone.regression ? ", which a threshold names: a regression" : ""));
  }
  for (const auto& lone : comparison.added)
    lines.push_back("only in the new report: " + name(lone));
  for (const auto& each : comparison.differs) lines.push_back("differs: " + each);
  if (lines.size() > kMostTold) {
    const std::size_t more = lines.size() - kMostTold;
    lines.resize(kMostTold);
    lines.push_back("and " + std::to_string(more) + " more, which --format json lists");
  }
  return lines;
}

std::string heading(const Comparison& comparison) {
  const std::string configs = comparison.base_config == comparison.new_config
                                  ? comparison.base_config
                                  : comparison.base_config + " and " + comparison.new_config;
  return comparison.workload + " on " + configs + ": " + summary(comparison);
}

}  // namespace

std::string summary(const Comparison& comparison) {
  const std::string compared =
      std::to_string(comparison.compared) + " metrics and counters compared";
  const std::size_t regressions = comparison.regressions();
  const std::size_t looks = comparison.looks();
  if (comparison.identical && regressions == 0) return "identical, " + compared;
  const std::size_t others = comparison.changes.size() + comparison.missing.size() +
                             comparison.added.size() + (comparison.failed.empty() ? 0 : 1) -
                             regressions - looks;
  return (regressions == 0 ? "no regression" : counted(regressions, "regression")) + ", " +
         (looks == 0 ? "" : counted(looks, "change") + " to look at, ") +
         counted(others, "other change") + ", " + compared;
}

std::string allowed_text(const Judgement& judgement) {
  return judgement.tolerance ? judgement.tolerance->text() : "any";
}

std::string line_text(const Change& change) {
  const std::string unit = change.unit.empty() ? "" : " " + change.unit;
  const std::string percent = change.percent();
  return change.name + ": " + change.base.text() + " -> " + change.now.text() + unit + " (" +
         signed_text(change.difference()) + (percent.empty() ? "" : ", " + percent) +
         "; allowed: " + allowed_text(change.judgement) + ")" +
         (change.why.empty() ? "" : "; " + change.why);
}

std::string to_text(const Comparison& comparison) {
  std::string text = heading(comparison) + "\n";
  for (const auto& [verdict, title] : kHeadings) {
    const Table table = table_of(comparison, verdict, title);
    if (!table.rows.empty()) text += "\n" + to_text(table);
  }
  const auto lines = told(comparison);
  if (!lines.empty()) text += "\n";
  for (const auto& line : lines) text += line + "\n";
  return text;
}

std::string to_markdown(const Comparison& comparison) {
  std::string text = "# " + markdown_text(heading(comparison)) + "\n";
  for (const auto& [verdict, title] : kHeadings) {
    const Table table = table_of(comparison, verdict, title);
    if (table.rows.empty()) continue;
    text += "\n## " + std::string(title) + "\n\n" + markdown_table(table);
  }
  const auto lines = told(comparison);
  if (!lines.empty()) text += "\n## besides\n\n";
  for (const auto& line : lines) text += "- " + markdown_text(line) + "\n";
  return text;
}

}  // namespace npu::reports
