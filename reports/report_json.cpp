// SPDX-License-Identifier: Apache-2.0
#include "reports/report_json.hpp"

#include <nlohmann/json.hpp>

namespace npu::reports {

namespace {

// Numbers are written by hand: a floating point writer may print 150.0 where the report says
// 150.000, or, rarely, seventeen digits, and printed parts would no longer add up.
std::string json_string(const std::string& text) {
  return nlohmann::ordered_json(text).dump(-1, ' ', true,
                                           nlohmann::ordered_json::error_handler_t::replace);
}

std::string value_text(const NamedValue& value) {
  std::string text;
  for (const auto& element : value.elements) {
    text += (text.empty() ? "" : ", ") + (value.is_text ? json_string(element) : element);
  }
  return value.is_list ? "[" + text + "]" : text;
}

std::string parameters_text(const Report& report) {
  std::string text;
  for (const auto& parameter : report.parameters) {
    text += (text.empty() ? "" : ", ") + json_string(parameter.name) + ": " + value_text(parameter);
  }
  return "{" + text + "}";
}

// One element per line.
template <class T, class F>
std::string array_text(const std::vector<T>& elements, F element_text) {
  std::string text;
  for (const auto& element : elements) {
    text += (text.empty() ? "\n    " : ",\n    ") + element_text(element);
  }
  return text.empty() ? "[]" : "[" + text + "\n  ]";
}

std::string override_text(const AppliedOverride& each) {
  return "{\"given\": " + json_string(each.given) + ", \"key\": " + json_string(each.key.name) +
         ", \"value\": " + value_text(each.key) + "}";
}

std::string program_text(const UsedProgram& program) {
  return "{\"name\": " + json_string(program.name) +
         ", \"sha256\": " + json_string(program.sha256) + "}";
}

std::string metric_text(const Metric& metric) {
  return "{\"name\": " + json_string(metric.name) + ", \"value\": " + metric.value.text() +
         ", \"unit\": " + json_string(metric.unit) + "}";
}

std::string limit_text(const Limit& limit) {
  return "{\"subject\": " + json_string(limit.subject) + ", \"name\": " + json_string(limit.name) +
         ", \"percent\": " + limit.percent.text() + ", \"text\": " + json_string(limit.text) + "}";
}

}  // namespace

std::string to_json(const Report& report) {
  return "{\n  \"schema\": " + json_string(kReportSchema) +
         ",\n  \"npusim\": " + json_string(report.version) +
         ",\n  \"workload\": " + json_string(report.workload) +
         ",\n  \"config\": " + json_string(report.config) +
         ",\n  \"config_sha256\": " + json_string(report.config_sha256) +
         ",\n  \"overrides\": " + array_text(report.overrides, override_text) +
         ",\n  \"seed\": " + std::to_string(report.seed) +
         ",\n  \"simulated_ps\": " + std::to_string(report.simulated.count()) +
         ",\n  \"parameters\": " + parameters_text(report) +
         ",\n  \"programs\": " + array_text(report.programs(), program_text) +
         ",\n  \"metrics\": " + array_text(report.metrics(), metric_text) +
         ",\n  \"limits\": " + array_text(report.limits(), limit_text) +
         ",\n  \"notes\": " + array_text(report.notes(), json_string) + "\n}\n";
}

}  // namespace npu::reports
