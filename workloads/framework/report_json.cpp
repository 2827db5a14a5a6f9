// SPDX-License-Identifier: Apache-2.0
#include "workloads/framework/report_json.hpp"

#include <nlohmann/json.hpp>

namespace npu::workloads {

namespace {

// Numbers are written by hand: a floating point writer may print 150.0 where the report says
// 150.000, or, rarely, seventeen digits, and printed parts would no longer add up.
std::string quoted(const std::string& text) {
  return nlohmann::ordered_json(text).dump(-1, ' ', true,
                                           nlohmann::ordered_json::error_handler_t::replace);
}

std::string value_text(const NamedValue& value) {
  std::string text;
  for (const auto& element : value.elements) {
    text += (text.empty() ? "" : ", ") + (value.is_text ? quoted(element) : element);
  }
  return value.is_list ? "[" + text + "]" : text;
}

std::string parameters_text(const Report& report) {
  std::string text;
  for (const auto& parameter : report.parameters) {
    text += (text.empty() ? "" : ", ") + quoted(parameter.name) + ": " + value_text(parameter);
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
  return "{\"given\": " + quoted(each.given) + ", \"key\": " + quoted(each.key.name) +
         ", \"value\": " + value_text(each.key) + "}";
}

std::string program_text(const UsedProgram& program) {
  return "{\"name\": " + quoted(program.name) + ", \"sha256\": " + quoted(program.sha256) + "}";
}

std::string metric_text(const Metric& metric) {
  return "{\"name\": " + quoted(metric.name) + ", \"value\": " + metric.value.text() +
         ", \"unit\": " + quoted(metric.unit) + "}";
}

std::string limit_text(const Limit& limit) {
  return "{\"subject\": " + quoted(limit.subject) + ", \"name\": " + quoted(limit.name) +
         ", \"percent\": " + limit.percent.text() + ", \"text\": " + quoted(limit.text) + "}";
}

}  // namespace

std::string to_json(const Report& report) {
  return "{\n  \"schema\": " + quoted(kReportSchema) +
         ",\n  \"npusim\": " + quoted(report.version) +
         ",\n  \"workload\": " + quoted(report.workload) +
         ",\n  \"config\": " + quoted(report.config) +
         ",\n  \"config_sha256\": " + quoted(report.config_sha256) +
         ",\n  \"overrides\": " + array_text(report.overrides, override_text) +
         ",\n  \"seed\": " + std::to_string(report.seed) +
         ",\n  \"simulated_ps\": " + std::to_string(report.simulated.count()) +
         ",\n  \"parameters\": " + parameters_text(report) +
         ",\n  \"programs\": " + array_text(report.programs(), program_text) +
         ",\n  \"metrics\": " + array_text(report.metrics(), metric_text) +
         ",\n  \"limits\": " + array_text(report.limits(), limit_text) +
         ",\n  \"notes\": " + array_text(report.notes(), quoted) + "\n}\n";
}

}  // namespace npu::workloads
