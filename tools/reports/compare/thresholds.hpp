// SPDX-License-Identifier: Apache-2.0
// How much a metric or a counter may get worse, and which way is worse.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "npu/base/result.hpp"
#include "tools/reports/report.hpp"

namespace npu::reports {

// kUpFewerIsNoGain: more of it costs; fewer may be what was needed (a barrier, a look at the card).
enum class Worse { kUp, kDown, kNever, kUpFewerIsNoGain };

// An amount in the metric's unit, or a share of the base.
struct Tolerance {
  Number amount;
  bool percent = false;

  std::string text() const;  // "1 %", "0.5"
};

struct Judgement {
  Worse worse = Worse::kNever;
  std::optional<Tolerance> tolerance = {};  // none: no change of it is a regression
  bool bounded = false;                     // by a threshold
  // By a threshold without a star: a change either way may be too much.
  bool named = false;
};

// A row of the table that judges what no threshold names; the first that fits counts. In front of
// the default rules stand those that a workload declares with its figures.
struct Rule {
  bool counter;
  std::string pattern;
  std::string unit;  // "*": any
  Worse worse;
  std::optional<Tolerance> tolerance;
};
const std::vector<Rule>& default_rules();

// --threshold
struct Threshold {
  std::string pattern;
  Tolerance tolerance;
};
// "dma.*.latency_ns=2%", "host.polls=10": a name or a pattern, in which '*' stands for any text,
// and how much worse is allowed. kInvalidArgument
Result<Threshold> parse_threshold(const std::string& text);

// The last threshold that fits counts, or else a rule: one of `rules`, or a default one.
Judgement judge(const Metric& metric, bool counter, const std::vector<Threshold>& thresholds,
                const std::vector<Rule>& rules = {});

}  // namespace npu::reports
