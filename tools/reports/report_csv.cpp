// SPDX-License-Identifier: Apache-2.0
#include "tools/reports/report_csv.hpp"

namespace npu::reports {
namespace {

constexpr const char* kLineEnd = "\r\n";

std::string rows(const Report& report, const char* kind, const std::vector<Metric>& metrics) {
  const std::string run = csv_field(report.workload) + "," + csv_field(report.config) + "," +
                          std::to_string(report.seed) + "," + kind + ",";
  std::string text;
  for (const auto& metric : metrics) {
    text += run + csv_field(metric.name) + "," + metric.value.text() + "," +
            csv_field(metric.unit) + kLineEnd;
  }
  return text;
}

}  // namespace

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string to_csv(const Report& report) {
  return std::string("workload,config,seed,kind,name,value,unit") + kLineEnd +
         rows(report, "metric", report.metrics()) + rows(report, "counter", report.counters());
}

}  // namespace npu::reports
