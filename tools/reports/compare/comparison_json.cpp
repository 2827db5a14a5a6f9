// SPDX-License-Identifier: Apache-2.0
#include "tools/reports/compare/comparison_json.hpp"

#include "tools/reports/compare/amounts.hpp"
#include "tools/reports/compare/comparison_text.hpp"
#include "tools/reports/json_text.hpp"

namespace npu::reports {
namespace {

const char* kind_text(bool counter) {
  return counter ? "counter" : "metric";
}

const char* worse_text(Worse worse) {
  switch (worse) {
    case Worse::kUp:
    case Worse::kUpFewerIsNoGain:
      return "up";
    case Worse::kDown:
      return "down";
    case Worse::kNever:
      return "never";
  }
  return "";
}

const char* verdict_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::kRegression:
      return "regression";
    case Verdict::kLook:
      return "look";
    case Verdict::kWorse:
      return "worse";
    case Verdict::kChanged:
      return "changed";
    case Verdict::kBetter:
      return "better";
  }
  return "";
}

std::string percent_text(const Change& change) {
  if (change.base.value() == 0) return "null";
  const std::string sign = change.difference().value() < 0 ? "-" : "";
  return sign + Number::scaled(share(change.base, change.now), 2).text();
}

std::string change_text(const Change& change) {
  return "{\"name\": " + json_string(change.name) + ", \"kind\": \"" + kind_text(change.counter) +
         "\", \"unit\": " + json_string(change.unit) + ", \"base\": " + change.base.text() +
         ", \"new\": " + change.now.text() + ", \"change\": " + change.difference().text() +
         ", \"percent\": " + percent_text(change) + ", \"worse\": \"" +
         worse_text(change.judgement.worse) +
         "\", \"allowed\": " + json_string(allowed_text(change.judgement)) + ", \"verdict\": \"" +
         verdict_text(change.verdict) + "\", \"why\": " + json_string(change.why) + "}";
}

std::string lone_text(const Lone& lone) {
  return "{\"name\": " + json_string(lone.name) + ", \"kind\": \"" + kind_text(lone.counter) +
         "\", \"regression\": " + (lone.regression ? "true" : "false") + "}";
}

}  // namespace

std::string to_json(const Comparison& comparison) {
  const char* const result = comparison.regressions() != 0 ? "regression"
                             : comparison.looks() != 0     ? "look"
                             : comparison.identical        ? "identical"
                                                           : "no regression";
  return std::string("{\n  \"schema\": \"npusim.comparison/1\"") +
         ",\n  \"workload\": " + json_string(comparison.workload) +
         ",\n  \"base_config\": " + json_string(comparison.base_config) +
         ",\n  \"new_config\": " + json_string(comparison.new_config) +
         ",\n  \"result\": " + json_string(result) +
         ",\n  \"compared\": " + std::to_string(comparison.compared) + ",\n  \"failed\": " +
         (comparison.failed.empty() ? std::string("null") : json_string(comparison.failed)) +
         ",\n  \"changes\": " + json_array(comparison.changes, change_text) +
         ",\n  \"missing\": " + json_array(comparison.missing, lone_text) +
         ",\n  \"added\": " + json_array(comparison.added, lone_text) +
         ",\n  \"differs\": " + json_array(comparison.differs, json_string) + "\n}\n";
}

}  // namespace npu::reports
