// SPDX-License-Identifier: Apache-2.0
#include "junit.hpp"

#include <cstdio>
#include <cstdlib>

namespace npu::testkit {
namespace {

constexpr char kSimulated[] = "simulated_ps";  // recorded by MachineTest

// Bytes of the character of UTF-8 at `i`; 0: none that XML may contain.
std::size_t character(const std::string& text, std::size_t i) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char first = byte(i);
  if (first < 0x80) return first >= 0x20 || first == '\t' || first == '\n' ? 1 : 0;
  const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || i + size > text.size()) return 0;
  for (std::size_t k = 1; k < size; ++k) {
    if ((byte(i + k) & 0xC0) != 0x80) return 0;
  }
  const bool overlong =
      (first == 0xE0 && byte(i + 1) < 0xA0) || (first == 0xF0 && byte(i + 1) < 0x90);
  const bool beyond =
      (first == 0xED && byte(i + 1) > 0x9F) || (first == 0xF4 && byte(i + 1) > 0x8F);
  const bool no_character = first == 0xEF && byte(i + 1) == 0xBF && byte(i + 2) >= 0xBE;
  return overlong || beyond || no_character ? 0 : size;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t size = character(text, i);
    if (size == 0) {
      out += '?';
    } else if (text[i] == '&') {
      out += "&amp;";
    } else if (text[i] == '<') {
      out += "&lt;";
    } else if (text[i] == '>') {
      out += "&gt;";
    } else if (text[i] == '"') {
      out += "&quot;";
    } else if (text[i] == '\n') {
      out += "&#xA;";
    } else if (text[i] == '\t') {
      out += "&#x9;";
    } else {
      out.append(text, i, size);
    }
    i += size == 0 ? 1 : size;
  }
  return out;
}

std::string attribute(const char* name, const std::string& value) {
  return std::string(" ") + name + "=\"" + escaped(value) + "\"";
}

std::string seconds(std::int64_t picoseconds) {
  char text[48];
  std::snprintf(text, sizeof text, "%lld.%012lld",
                static_cast<long long>(picoseconds / 1'000'000'000'000),
                static_cast<long long>(picoseconds % 1'000'000'000'000));
  return text;
}

struct Sum {
  std::size_t tests = 0, failures = 0, skipped = 0;
  std::int64_t simulated = 0;

  void add(const Outcome& outcome) {
    ++tests;
    failures += outcome.failed ? 1 : 0;
    skipped += outcome.skipped ? 1 : 0;
    simulated += outcome.simulated;
  }
  std::string attributes() const {
    return attribute("tests", std::to_string(tests)) +
           attribute("failures", std::to_string(failures)) + attribute("disabled", "0") +
           attribute("skipped", std::to_string(skipped)) + attribute("errors", "0") +
           attribute("time", seconds(simulated));
  }
};

std::string testcase(const Outcome& outcome) {
  const std::string head =
      "    <testcase" + attribute("name", outcome.name) + attribute("status", "run") +
      attribute("result", outcome.skipped ? "skipped" : "completed") +
      attribute("time", seconds(outcome.simulated)) + attribute("classname", outcome.suite);
  if (outcome.details.empty()) return head + " />\n";
  return head + ">\n" + outcome.details + "    </testcase>\n";
}

}  // namespace

std::string failure_element(const std::string& message) {
  return "      <failure" + attribute("message", message) + attribute("type", "") + ">" +
         escaped(message) + "</failure>\n";
}

Outcome outcome_of(const ::testing::TestInfo& test) {
  const auto& result = *test.result();
  Outcome outcome;
  outcome.suite = test.test_suite_name();
  outcome.name = test.name();
  outcome.failed = result.Failed();
  outcome.skipped = result.Skipped();
  std::string properties;
  for (int i = 0; i < result.test_property_count(); ++i) {
    const auto& property = result.GetTestProperty(i);
    if (std::string(property.key()) == kSimulated) outcome.simulated = std::atoll(property.value());
    properties += "        <property" + attribute("name", property.key()) +
                  attribute("value", property.value()) + " />\n";
  }
  if (!properties.empty()) {
    outcome.details = "      <properties>\n" + properties + "      </properties>\n";
  }
  for (int i = 0; i < result.total_part_count(); ++i) {
    const auto& part = result.GetTestPartResult(i);
    std::string text = part.message();
    if (part.file_name() != nullptr) {
      text = std::string(part.file_name()) + ":" + std::to_string(part.line_number()) + "\n" + text;
    }
    if (part.failed()) outcome.details += failure_element(text);
    if (part.skipped()) {
      outcome.details += "      <skipped" + attribute("message", text) + " />\n";
    }
  }
  return outcome;
}

std::string junit(const std::vector<Outcome>& outcomes) {
  Sum all;
  for (const auto& outcome : outcomes) all.add(outcome);
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + all.attributes() +
                     attribute("name", "AllTests") + ">\n";
  for (std::size_t first = 0; first < outcomes.size();) {
    std::size_t end = first;
    Sum suite;
    std::string cases;
    for (; end < outcomes.size() && outcomes[end].suite == outcomes[first].suite; ++end) {
      suite.add(outcomes[end]);
      cases += testcase(outcomes[end]);
    }
    text += "  <testsuite" + attribute("name", outcomes[first].suite) + suite.attributes() + ">\n" +
            cases + "  </testsuite>\n";
    first = end;
  }
  return text + "</testsuites>\n";
}

}  // namespace npu::testkit
