// SPDX-License-Identifier: Apache-2.0
// The figures of a workload, each declared once: a row says what the figure is called, its unit,
// where it comes from, its column of the table and how `npusim compare` judges it. From the rows
// come the metrics of the report, a row of a table, the spans (framework/measurement.hpp) and the
// rules of compare.
//
//   struct Pass { std::string order; std::uint64_t faults; MeasuredSpan span; };
//   constexpr Figure<Pass> kFigures[] = {{"faults", "", from<&Pass::faults>, {"faults"}},
//                                        {"time_us", "us", from<&Pass::span>, {"time us"}}};
//   auto& table = add_figure_table(report, "passes", {"order"}, kFigures);
//   report_figures(context, "touch.random.", kFigures, pass, &table, {pass.order});
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tools/reports/compare/thresholds.hpp"
#include "workloads/framework/context.hpp"
#include "workloads/framework/measurement.hpp"

namespace npu::workloads {

// A time and the spans that it was computed from; its value is `statistic` over them.
struct MeasuredTime {
  Picoseconds time;
  std::vector<MeasuredSpan> spans;
  platform::Statistic statistic = platform::Statistic::kSum;
};

// What a figure is in one measurement: a number, a time (in the unit of its row), a text that only
// tables have, or nothing, which leaves the figure out.
class FigureValue {
 public:
  FigureValue() = default;
  FigureValue(Number number) : number_(number) {}
  FigureValue(Picoseconds time) : time_(time) {}
  // Its length; with a count their mean.
  FigureValue(const MeasuredSpan& span);
  FigureValue(MeasuredTime time)
      : time_(time.time), spans_(std::move(time.spans)), statistic_(time.statistic) {}
  FigureValue(Number number, std::vector<MeasuredSpan> spans, platform::Statistic statistic)
      : number_(number), spans_(std::move(spans)), statistic_(statistic) {}
  FigureValue(std::string text) : text_(std::move(text)) {}
  template <class T, class = std::enable_if_t<std::is_integral_v<T>>>
  FigureValue(T count) : number_(Number::integer(static_cast<std::int64_t>(count))) {}
  template <class T>
  FigureValue(const std::optional<T>& value)
      : FigureValue(value ? FigureValue(*value) : FigureValue()) {}

  // `unit`: "ns", "us" or "ms" of a time. None: the figure is left out.
  std::optional<Number> number(std::string_view unit) const;
  const std::string& text() const { return text_; }
  const std::vector<MeasuredSpan>& spans() const { return spans_; }
  platform::Statistic statistic() const { return statistic_; }

 private:
  std::optional<Number> number_;
  std::optional<Picoseconds> time_;
  std::vector<MeasuredSpan> spans_;
  platform::Statistic statistic_ = platform::Statistic::kSum;
  std::string text_;
};

// A column of a table; without a heading there is none.
struct FigureColumn {
  const char* heading = "";
  int place = 0;             // columns stand in their order, those of one place in that of the rows
  const char* absent = "-";  // of a figure that is left out
};

// How compare judges a figure, where its unit does not say: docs/reports.md, "Comparing".
struct FigureRule {
  reports::Worse worse;
  std::optional<reports::Tolerance> allowed;
};
inline constexpr reports::Tolerance kNothingWorse{Number::integer(0), true};
inline constexpr reports::Tolerance kOnePercentWorse{Number::integer(1), true};
inline constexpr FigureRule kNoMore{reports::Worse::kUp, kNothingWorse};
inline constexpr FigureRule kHardlyMore{reports::Worse::kUp, kOnePercentWorse};
inline constexpr FigureRule kHardlyLess{reports::Worse::kDown, kOnePercentWorse};
inline constexpr FigureRule kFewerIsNoGain{reports::Worse::kUpFewerIsNoGain, kNothingWorse};
inline constexpr FigureRule kNotJudged{reports::Worse::kNever, std::nullopt};

// What a row says without knowing where the figure comes from.
struct FigureRow {
  const char* name;  // behind the prefix; "": a column that is no metric
  const char* unit;  // "us", "GB/s", "%", "B" (sizes in tables), "" for counts
  FigureColumn column;
  std::optional<FigureRule> compared;
};

// A row of figures of a T.
template <class T>
struct Figure {
  const char* name;
  const char* unit;
  FigureValue (*of)(const T&);
  FigureColumn column = {};
  std::optional<FigureRule> compared = {};

  FigureRow row() const { return {name, unit, column, compared}; }
};

// A member of a T, or what a member function returns; with several, a member of that, and so on.
template <auto kMember, auto... kMembers, class T>
FigureValue from(const T& result) {
  if constexpr (sizeof...(kMembers) == 0) {
    return std::invoke(kMember, result);
  } else {
    return from<kMembers...>(std::invoke(kMember, result));
  }
}
// The T itself.
template <class T>
FigureValue itself(const T& value) {
  return value;
}

void report_figure_values(Context& context, const std::string& prefix,
                          const std::vector<FigureRow>& rows,
                          const std::vector<FigureValue>& values, Table* table,
                          std::vector<std::string> labels);
Table& add_figure_table(Report& report, std::string title, std::vector<std::string> labels,
                        const std::vector<FigureRow>& rows);

// Rows of several arrays, as one list.
template <class... T, std::size_t... kRows>
std::vector<FigureRow> figure_rows(const Figure<T> (&... rows)[kRows]) {
  std::vector<FigureRow> all;
  const auto add = [&all](const auto& figures) {
    for (const auto& figure : figures) all.push_back(figure.row());
  };
  (add(rows), ...);
  return all;
}

// What compare makes of those that say how they are judged.
std::vector<reports::Rule> compare_rules(const std::vector<FigureRow>& rows);

// The table of these figures, with the headings `labels` in front.
template <class T, std::size_t kRows>
Table& add_figure_table(Report& report, std::string title, std::vector<std::string> labels,
                        const Figure<T> (&rows)[kRows]) {
  return add_figure_table(report, std::move(title), std::move(labels), figure_rows(rows));
}

// What a table of parts looks like.
struct PartTable {
  std::string title;
  const char* heading = "part";
  const char* total = "total";  // of its last row; "": there is none
  bool percent = false;         // with a column for the part of the total
};
// Parts that follow each other from `begin` on, as the metrics PREFIX<part>_UNIT, with their spans;
// with a title also rows of a table.
void report_parts(Context& context, const std::string& prefix, const char* unit,
                  const std::vector<Breakdown::Part>& parts, Instant begin,
                  const PartTable& look = {}, std::uint64_t cause = 0);

// A call from `begin` on: PREFIX.latency_ns, PREFIX.breakdown.<part>_ns, and a row of the report's
// table `breakdown.group`; with a wait also PREFIX.breakdown.wait_ns and PREFIX.call_ns, of all.
void report_latency(Context& context, const std::string& prefix, const Breakdown& breakdown,
                    Instant begin, std::uint64_t cause = 0);

// Metrics PREFIX<name>, their spans and a row of `table` with `labels` in front. The prefix ends
// with what stands in front of a name, "." mostly.
template <class T, std::size_t kRows>
void report_figures(Context& context, const std::string& prefix, const Figure<T> (&rows)[kRows],
                    const std::common_type_t<T>& result, Table* table = nullptr,
                    std::vector<std::string> labels = {}) {
  std::vector<FigureValue> values;
  for (const auto& row : rows) values.push_back(row.of(result));
  report_figure_values(context, prefix, figure_rows(rows), values, table, std::move(labels));
}

}  // namespace npu::workloads
