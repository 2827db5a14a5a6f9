// SPDX-License-Identifier: Apache-2.0
#include "workloads/framework/report_json.hpp"

#include <nlohmann/json.hpp>

namespace npu::workloads {

namespace {

// Numbers are written by hand: a floating point writer may print 150.0 where the report says
// 150.000, or, rarely, seventeen digits, and printed parts would no longer add up.
std::string json_string(const std::string& text) {
  return nlohmann::ordered_json(text).dump(-1, ' ', true,
                                           nlohmann::ordered_json::error_handler_t::replace);
}

std::string parameters_text(const Report& report) {
  std::string text;
  for (const auto& [name, value] : report.parameters) {
    text += (text.empty() ? "" : ", ") + json_string(name) + ": " + json_string(value);
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
         ",\n  \"workload\": " + json_string(report.workload) +
         ",\n  \"config\": " + json_string(report.config) +
         ",\n  \"seed\": " + std::to_string(report.seed) +
         ",\n  \"simulated_ps\": " + std::to_string(report.simulated.count()) +
         ",\n  \"parameters\": " + parameters_text(report) +
         ",\n  \"metrics\": " + array_text(report.metrics(), metric_text) +
         ",\n  \"limits\": " + array_text(report.limits(), limit_text) +
         ",\n  \"notes\": " + array_text(report.notes(), json_string) + "\n}\n";
}

}  // namespace npu::workloads
