// SPDX-License-Identifier: Apache-2.0
#include "tools/reports/compare/comparison.hpp"

#include <algorithm>
#include <map>

#include "npu/base/shortened.hpp"
#include "npu/base/text.hpp"
#include "tools/reports/compare/amounts.hpp"
#include "tools/reports/compare/differs.hpp"
#include "tools/reports/compare/explain.hpp"
#include "tools/reports/report_json.hpp"

namespace npu::reports {
namespace {

// By name; a second metric of a name is told from the first.
std::map<std::string, const Metric*> by_name(const std::vector<Metric>& metrics) {
  std::map<std::string, const Metric*> all;
  for (const auto& metric : metrics) {
    std::string name = metric.name;
    for (unsigned again = 2; all.count(name) != 0; ++again) {
      name = metric.name + "#" + std::to_string(again);
    }
    all.emplace(std::move(name), &metric);
  }
  return all;
}

Verdict verdict_of(const Change& change) {
  const Judgement& judgement = change.judgement;
  const bool up = change.difference().value() > 0;
  const bool fewer = !up && judgement.worse == Worse::kUpFewerIsNoGain;
  const bool worse = judgement.worse == (up ? Worse::kUp : Worse::kDown) ||
                     (up && judgement.worse == Worse::kUpFewerIsNoGain);
  const bool either = (judgement.named && judgement.worse == Worse::kNever) ||
                      (judgement.bounded && judgement.worse == Worse::kUpFewerIsNoGain);
  const bool exceeded =
      judgement.tolerance && exceeds(change.base, change.now, *judgement.tolerance);
  if ((worse || either) && exceeded) return Verdict::kRegression;
  if (fewer) return exceeded ? Verdict::kLook : Verdict::kChanged;
  if (judgement.worse == Worse::kNever) return Verdict::kChanged;
  return worse ? Verdict::kWorse : Verdict::kBetter;
}

class Comparer {
 public:
  Comparer(const Report& base, const Report& now, const std::vector<Threshold>& thresholds,
           const std::vector<Rule>& rules)
      : base_(base), now_(now), thresholds_(thresholds), rules_(rules) {}

  Comparison compare() {
    result_.workload = now_.workload;
    result_.base_config = base_.config;
    result_.new_config = now_.config;
    result_.identical = to_json(base_) == to_json(now_);
    if (now_.outcome != kComplete) result_.failed = now_.outcome;
    look(base_.metrics(), now_.metrics(), false);
    look(base_.counters(), now_.counters(), true);
    explain(result_.changes);
    std::stable_sort(result_.changes.begin(), result_.changes.end(),
                     [](const Change& a, const Change& b) {
                       if (a.verdict != b.verdict) return a.verdict < b.verdict;
                       return share(a.base, a.now) > share(b.base, b.now);
                     });
    for (auto& each : what_differs(base_, now_)) result_.differs.push_back(std::move(each));
    return std::move(result_);
  }

 private:
  void look(const std::vector<Metric>& of_base, const std::vector<Metric>& of_new, bool counter) {
    const auto before = by_name(of_base);
    const auto after = by_name(of_new);
    for (const auto& [name, metric] : before) {
      const auto found = after.find(name);
      if (found == after.end()) {
        result_.missing.push_back(
            {name, counter, judge(*metric, counter, thresholds_, rules_).bounded});
      } else {
        look(name, *metric, *found->second, counter);
      }
    }
    for (const auto& [name, metric] : after) {
      if (before.count(name) == 0) result_.added.push_back({name, counter, false});
    }
  }

  void look(const std::string& name, const Metric& before, const Metric& after, bool counter) {
    ++result_.compared;
    if (before.unit != after.unit) {
      result_.differs.push_back("unit of " + name + ": '" + before.unit + "' -> '" + after.unit +
                                "'");
    }
    const Judgement judgement = judge(after, counter, thresholds_, rules_);
    if (difference(before.value, after.value).value() == 0) {
      if (judgement.bounded) result_.within.push_back(name);
      return;
    }
    Change change;
    change.name = name;
    change.unit = after.unit;
    change.counter = counter;
    change.base = before.value;
    change.now = after.value;
    change.judgement = judgement;
    change.verdict = verdict_of(change);
    result_.changes.push_back(std::move(change));
  }

  const Report& base_;
  const Report& now_;
  const std::vector<Threshold>& thresholds_;
  const std::vector<Rule>& rules_;
  Comparison result_;
};

std::size_t with(const std::vector<Change>& changes, Verdict verdict) {
  return static_cast<std::size_t>(std::count_if(
      changes.begin(), changes.end(), [&](const Change& each) { return each.verdict == verdict; }));
}

bool names_something(const Threshold& threshold, const Report& report) {
  const auto fits = [&](const Metric& each) { return matches(threshold.pattern, each.name); };
  return std::any_of(report.metrics().begin(), report.metrics().end(), fits) ||
         std::any_of(report.counters().begin(), report.counters().end(), fits);
}

}  // namespace

Number Change::difference() const {
  return reports::difference(base, now);
}

std::string Change::percent() const {
  if (base.value() == 0) return {};
  const std::int64_t hundredths = share(base, now);
  const bool up = difference().value() > 0;
  return (up ? "+" : "-") + Number::scaled(hundredths, 2).text() + " %";
}

std::size_t Comparison::looks() const {
  return with(changes, Verdict::kLook);
}

std::size_t Comparison::regressions() const {
  const auto of_missing = std::count_if(missing.begin(), missing.end(),
                                        [](const Lone& each) { return each.regression; });
  return with(changes, Verdict::kRegression) + static_cast<std::size_t>(of_missing) +
         (failed.empty() ? 0 : 1);
}

Result<Comparison> compare(const Report& base, const Report& now,
                           const std::vector<Threshold>& thresholds,
                           const std::vector<Rule>& rules) {
  if (base.workload != now.workload) {
    return fail(ErrorCode::kInvalidArgument, "reports of different workloads: '" +
                                                 shortened(base.workload) + "' and '" +
                                                 shortened(now.workload) + "'");
  }
  for (const auto& threshold : thresholds) {
    if (names_something(threshold, base) || names_something(threshold, now)) continue;
    return fail(ErrorCode::kInvalidArgument,
                "--threshold " + shortened(threshold.pattern) +
                    ": neither report has a metric or counter of that name");
  }
  Comparison comparison = Comparer(base, now, thresholds, rules).compare();
  if (comparison.compared == 0 && comparison.regressions() == 0) {
    return fail(ErrorCode::kInvalidArgument, "the reports have no metric or counter in common");
  }
  return comparison;
}

}  // namespace npu::reports
