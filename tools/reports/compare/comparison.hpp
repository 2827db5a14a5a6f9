// SPDX-License-Identifier: Apache-2.0
// What is different between two reports of one workload.
#pragma once

#include <string>
#include <vector>

#include "npu/base/result.hpp"
#include "tools/reports/compare/thresholds.hpp"
#include "tools/reports/report.hpp"

namespace npu::reports {

// In the order they are shown. kLook: fewer of what is no gain by itself (Worse::kUpFewerIsNoGain).
enum class Verdict { kRegression, kLook, kWorse, kChanged, kBetter };

// A metric or counter whose value is another one.
struct Change {
  std::string name;
  std::string unit;
  bool counter = false;
  Number base;
  Number now;
  Judgement judgement;
  Verdict verdict = Verdict::kChanged;
  std::string why;  // the part of it, or the counters, that changed most; may be empty

  Number difference() const;    // with the decimals of the finer of the two
  std::string percent() const;  // "+87.39 %"; empty: the base is 0
};

// A thing of one report that the other has not: a metric, a counter.
struct Lone {
  std::string name;
  bool counter = false;
  bool regression = false;  // a threshold names it and the new report has it not
};

struct Comparison {
  std::string workload;
  std::string base_config, new_config;  // as they were named
  bool identical = false;               // byte for byte
  std::size_t compared = 0;             // metrics and counters of both
  std::vector<Change> changes;          // by verdict, the largest share of the base first
  std::vector<Lone> missing;            // of the base alone
  std::vector<Lone> added;              // of the new report alone
  std::vector<std::string> within;      // of both, unchanged, and named by a threshold
  std::vector<std::string> differs;     // "configuration link.generation: 4 -> 5"
  std::string failed;                   // how the new run ended, if not well; a regression

  std::size_t regressions() const;
  std::size_t looks() const;  // changes that somebody is to look at
};

// `rules`: of the workload's own figures. kInvalidArgument: of different workloads, or a threshold
// that names nothing of either.
Result<Comparison> compare(const Report& base, const Report& now,
                           const std::vector<Threshold>& thresholds,
                           const std::vector<Rule>& rules = {});

}  // namespace npu::reports
