// SPDX-License-Identifier: Apache-2.0
#include "tools/reports/compare/thresholds.hpp"

#include "npu/base/shortened.hpp"
#include "npu/base/text.hpp"

namespace npu::reports {
namespace {

constexpr Tolerance kNothing{Number::integer(0), true};
constexpr Tolerance kOnePercent{Number::integer(1), true};

Judgement by_rule(const Metric& metric, bool counter, const std::vector<Rule>& rules) {
  for (const auto* table : {&rules, &default_rules()}) {
    for (const auto& rule : *table) {
      const bool fits = rule.counter == counter && matches(rule.pattern, metric.name) &&
                        (rule.unit == "*" || rule.unit == metric.unit);
      if (fits) return {rule.worse, rule.tolerance};
    }
  }
  return {};
}

// 0..1000 with at most three decimals.
bool is_percentage(Number number) {
  constexpr std::int64_t kLargest[] = {1'000, 10'000, 100'000, 1'000'000};
  return number.decimals() <= 3 && number.value() <= kLargest[number.decimals()];
}

}  // namespace

std::string Tolerance::text() const {
  return amount.text() + (percent ? " %" : "");
}

const std::vector<Rule>& default_rules() {
  static const std::vector<Rule> kRules{
      {true, "host.submissions", "*", Worse::kNever, {}},
      {true, "host.polls_per_submission", "*", Worse::kUp, kOnePercent},
      {true, "host.polls", "*", Worse::kUp, {}},
      {true, "host.instructions_per_submission", "*", Worse::kUp, kOnePercent},
      {true, "host.instructions", "*", Worse::kUp, {}},
      {true, "host.write_barriers*", "*", Worse::kUpFewerIsNoGain, kNothing},
      {true, "host.read_barriers*", "*", Worse::kUpFewerIsNoGain, kNothing},
      {true, "host.config_reads*", "*", Worse::kUpFewerIsNoGain, kNothing},
      {true, "host.*", "*", Worse::kUp, kNothing},
      {true, "*misses", "*", Worse::kUp, {}},
      {true, "*write_backs", "*", Worse::kUpFewerIsNoGain, {}},
      {true, "*page_walks", "*", Worse::kUpFewerIsNoGain, {}},
      {true, "*faults", "*", Worse::kUp, kNothing},
      {false, "*.breakdown.*", "*", Worse::kUp, {}},
      {false, "*.call_ns", "*", Worse::kUp, {}},
      {false, "*", "ps", Worse::kUp, kOnePercent},
      {false, "*", "ns", Worse::kUp, kOnePercent},
      {false, "*", "us", Worse::kUp, kOnePercent},
      {false, "*", "ms", Worse::kUp, kOnePercent},
      {false, "*", "s", Worse::kUp, kOnePercent},
      {false, "*", "GB/s", Worse::kDown, kOnePercent},
      {false, "*", "TFLOP/s", Worse::kDown, kOnePercent},
      {false, "*", "1/s", Worse::kDown, kOnePercent},
      {false, "*.accesses.*", "*", Worse::kUp, kNothing},
      {false, "test.never_freed.*", "*", Worse::kUp, kNothing},
  };
  return kRules;
}

Result<Threshold> parse_threshold(const std::string& text) {
  const auto refused = [&](const std::string& why) {
    return fail(ErrorCode::kInvalidArgument, "--threshold " + shortened(text) + ": " + why);
  };
  const auto equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) return refused("not of the form METRIC=AMOUNT");
  Threshold threshold;
  threshold.pattern = text.substr(0, equals);
  std::string amount = text.substr(equals + 1);
  threshold.tolerance.percent = !amount.empty() && amount.back() == '%';
  if (threshold.tolerance.percent) amount.pop_back();
  const auto number = Number::parse(amount);
  if (!number || number->value() < 0 || (threshold.tolerance.percent && !is_percentage(*number))) {
    return refused(
        "found '" + shortened(amount) +
        "'; allowed: a number that is not negative, in the metric's unit, or 0%..1000% with "
        "at most 3 decimals");
  }
  threshold.tolerance.amount = *number;
  return threshold;
}

Judgement judge(const Metric& metric, bool counter, const std::vector<Threshold>& thresholds,
                const std::vector<Rule>& rules) {
  Judgement judgement = by_rule(metric, counter, rules);
  for (const auto& threshold : thresholds) {
    if (!matches(threshold.pattern, metric.name)) continue;
    judgement.tolerance = threshold.tolerance;
    judgement.bounded = true;
    judgement.named = threshold.pattern == metric.name;
  }
  return judgement;
}

}  // namespace npu::reports
