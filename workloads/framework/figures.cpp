// SPDX-License-Identifier: Apache-2.0
#include "workloads/framework/figures.hpp"

#include <algorithm>
#include <cassert>

namespace npu::workloads {
namespace {

constexpr Figure<MeasuredSpan> kLatency[] = {{"latency_ns", "ns", itself}};
constexpr Figure<MeasuredSpan> kWait[] = {{"breakdown.wait_ns", "ns", itself}};
constexpr Figure<MeasuredSpan> kCall[] = {{"call_ns", "ns", itself}};

// Of the rows that have a column, in the order of the columns.
std::vector<std::size_t> columns_of(const std::vector<FigureRow>& rows) {
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (*rows[i].column.heading != '\0') columns.push_back(i);
  }
  std::stable_sort(columns.begin(), columns.end(), [&rows](std::size_t a, std::size_t b) {
    return rows[a].column.place < rows[b].column.place;
  });
  return columns;
}

std::string cell(const FigureRow& row, const FigureValue& value) {
  if (!value.text().empty()) return value.text();
  const auto number = value.number(row.unit);
  if (!number) return row.column.absent;
  const bool size = std::string_view(row.unit) == "B";
  return size ? size_name(static_cast<Bytes>(number->value())) : number->text();
}

}  // namespace

FigureValue::FigureValue(const MeasuredSpan& span)
    : time_(mean(span.end - span.begin, span.count)),
      spans_{span},
      statistic_(span.count == 1 ? platform::Statistic::kSum : platform::Statistic::kMean) {}

std::optional<Number> FigureValue::number(std::string_view unit) const {
  if (!time_) return number_;
  if (unit == "ns") return Number::nanoseconds(*time_);
  if (unit == "us") return Number::microseconds(*time_);
  assert(unit == "ms");
  return Number::scaled(time_->count(), 9);
}

std::vector<reports::Rule> compare_rules(const std::vector<FigureRow>& rows) {
  std::vector<reports::Rule> rules;
  for (const auto& row : rows) {
    if (!row.compared) continue;
    rules.push_back(
        {false, std::string("*") + row.name, row.unit, row.compared->worse, row.compared->allowed});
  }
  // A name that ends with another's comes before that.
  std::stable_sort(rules.begin(), rules.end(), [](const auto& a, const auto& b) {
    return a.pattern.size() > b.pattern.size();
  });
  return rules;
}

void report_figure_values(Context& context, const std::string& prefix,
                          const std::vector<FigureRow>& rows,
                          const std::vector<FigureValue>& values, Table* table,
                          std::vector<std::string> labels) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto number = values[i].number(rows[i].unit);
    if (!number || *rows[i].name == '\0') continue;
    const auto metric = prefix + rows[i].name;
    context.report.add_metric(metric, *number, rows[i].unit);
    mark(context.platform.tracer(), metric, values[i].spans(), values[i].statistic());
  }
  if (table == nullptr) return;
  for (const auto i : columns_of(rows)) labels.push_back(cell(rows[i], values[i]));
  table->rows.push_back(std::move(labels));
}

Table& add_figure_table(Report& report, std::string title, std::vector<std::string> labels,
                        const std::vector<FigureRow>& rows) {
  for (const auto i : columns_of(rows)) labels.emplace_back(rows[i].column.heading);
  return report.add_table(std::move(title), std::move(labels));
}

void report_parts(Context& context, const std::string& prefix, const char* unit,
                  const std::vector<Breakdown::Part>& parts, Instant begin, const PartTable& look,
                  std::uint64_t cause) {
  const Picoseconds total = Breakdown{"", "", parts}.total();
  const auto percent = [&](Picoseconds part) {
    return Number::quotient(static_cast<std::uint64_t>(part.count()) * 100,
                            static_cast<std::uint64_t>(total.count()), 1);
  };
  std::vector<std::string> columns{look.heading, unit};
  if (look.percent) columns.emplace_back("%");
  Table* table = look.title.empty() ? nullptr : &context.report.add_table(look.title, columns);
  const auto add_row = [&](const std::string& label, Picoseconds time) {
    if (table == nullptr) return;
    table->rows.push_back({label, FigureValue(time).number(unit)->text()});
    if (look.percent) table->rows.back().push_back(percent(time).text());
  };
  Instant last = begin;
  for (const auto& part : parts) {
    const FigureRow row{unit, unit, {}, {}};
    report_figure_values(context, prefix + part.name + "_", {row},
                         {MeasuredSpan{last, last + part.time, cause}}, nullptr, {});
    add_row(part.name, part.time);
    last += part.time;
  }
  if (*look.total != '\0') add_row(look.total, total);
}

void report_latency(Context& context, const std::string& prefix, const Breakdown& breakdown,
                    Instant begin, std::uint64_t cause) {
  const Instant end = begin + breakdown.total();
  report_figures(context, prefix + ".", kLatency, {begin, end, cause});
  report_parts(context, prefix + ".breakdown.", "ns", breakdown.parts, begin, {}, cause);
  if (breakdown.wait) {
    const Instant returned = end + *breakdown.wait;
    report_figures(context, prefix + ".", kWait, {end, returned, cause});
    report_figures(context, prefix + ".", kCall, {begin, returned, cause});
  }
  context.report.add_breakdown(breakdown);
}

}  // namespace npu::workloads
