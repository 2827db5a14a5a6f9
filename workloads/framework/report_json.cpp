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

std::string parameters_text(const Report& report) {
  std::string text;
  for (const auto& [name, value] : report.parameters) {
    text += (text.empty() ? "" : ", ") + quoted(name) + ": " + quoted(value);
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
         ",\n  \"workload\": " + quoted(report.workload) +
         ",\n  \"config\": " + quoted(report.config) +
         ",\n  \"seed\": " + std::to_string(report.seed) +
         ",\n  \"simulated_ps\": " + std::to_string(report.simulated.count()) +
         ",\n  \"parameters\": " + parameters_text(report) +
         ",\n  \"metrics\": " + array_text(report.metrics(), metric_text) +
         ",\n  \"limits\": " + array_text(report.limits(), limit_text) +
         ",\n  \"notes\": " + array_text(report.notes(), quoted) + "\n}\n";
}

}  // namespace npu::workloads
