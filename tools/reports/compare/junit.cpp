// SPDX-License-Identifier: Apache-2.0
#include "tools/reports/compare/junit.hpp"

#include "tools/reports/compare/comparison_text.hpp"

namespace npu::reports {
namespace {

constexpr const char* kReplacement = "\xEF\xBF\xBD";

struct Case {
  std::string name;
  std::string kind;
  std::string failure;  // empty: it passes
  std::string type = "regression";
};

std::vector<Case> cases_of(const Comparison& comparison) {
  std::vector<Case> cases;
  if (!comparison.failed.empty()) {
    cases.push_back({"outcome", "run", "the new run is not complete: " + comparison.failed});
  }
  for (const auto& change : comparison.changes) {
    const bool looked_at = change.verdict == Verdict::kLook;
    const bool failed = looked_at || change.verdict == Verdict::kRegression;
    cases.push_back({change.name, change.counter ? "counter" : "metric",
                     failed ? line_text(change) : std::string(),
                     looked_at ? "look" : "regression"});
  }
  for (const auto& lone : comparison.missing) {
    cases.push_back({lone.name, lone.counter ? "counter" : "metric",
                     lone.regression ? lone.name + ": missing in the new report" : std::string()});
  }
  for (const auto& name : comparison.within) cases.push_back({name, "threshold", {}});
  if (cases.empty()) cases.push_back({"compare", "run", {}});
  return cases;
}

std::string case_text(const std::string& workload, const Case& each) {
  const std::string head = "    <testcase classname=\"npusim." + xml_text(workload) + "." +
                           each.kind + "\" name=\"" + xml_text(each.name) + "\" time=\"0\"";
  if (each.failure.empty()) return head + "/>\n";
  return head + ">\n      <failure type=\"" + each.type + "\" message=\"" + xml_text(each.failure) +
         "\">" + xml_text(each.failure) + "</failure>\n    </testcase>\n";
}

}  // namespace

std::string xml_text(const std::string& text) {
  std::string escaped;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool no_character = text.compare(i, 3, "\xEF\xBF\xBE") == 0 ||
                              text.compare(i, 3, "\xEF\xBF\xBF") == 0;  // U+FFFE, U+FFFF
    if (no_character) {
      escaped += kReplacement;
      i += 2;
    } else if (byte == '&') {
      escaped += "&amp;";
    } else if (byte == '<') {
      escaped += "&lt;";
    } else if (byte == '>') {
      escaped += "&gt;";
    } else if (byte == '"') {
      escaped += "&quot;";
    } else if (byte == '\n' || byte == '\r' || byte == '\t') {
      escaped += "&#" + std::to_string(byte) + ";";
    } else if (byte < 0x20) {
      escaped += kReplacement;
    } else {
      escaped += text[i];
    }
  }
  return escaped;
}

std::string to_junit(const Comparison& comparison) {
  const auto cases = cases_of(comparison);
  std::string text;
  std::size_t failures = 0;
  for (const auto& each : cases) {
    text += case_text(comparison.workload, each);
    failures += each.failure.empty() ? 0 : 1;
  }
  const std::string counts = "tests=\"" + std::to_string(cases.size()) + "\" failures=\"" +
                             std::to_string(failures) + "\" errors=\"0\" time=\"0\"";
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"npusim compare\" " +
         counts + ">\n  <testsuite name=\"" + xml_text(comparison.workload) + "\" " + counts +
         " skipped=\"0\">\n" + text + "  </testsuite>\n</testsuites>\n";
}

}  // namespace npu::reports
