// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep/stored_report.hpp"

#include <fstream>
#include <sstream>

#include "cli/sweep/decimal.hpp"
#include "cli/sweep/json_text.hpp"

namespace npu::sweep {
namespace {

using nlohmann::json;

// Of npusim.report/2 and later: what is read here is in all of them.
bool is_report_schema(const json& schema) {
  return schema.is_string() && schema.get<std::string>().rfind("npusim.report/", 0) == 0;
}

std::optional<StoredMetric> metric_of(const json& entry) {
  if (!entry.is_object()) return std::nullopt;
  StoredMetric metric;
  for (const auto& [key, text] :
       {std::pair{"name", &metric.name}, {"value", &metric.value}, {"unit", &metric.unit}}) {
    const auto found = entry.find(key);
    if (found == entry.end() || !found->is_string()) return std::nullopt;
    *text = found->get<std::string>();
  }
  if (!is_decimal(metric.value)) return std::nullopt;
  return metric;
}

}  // namespace

std::optional<StoredReport> parse_report(const std::string& text) {
  const auto document = parse_json(text);
  if (!document || !document->is_object()) return std::nullopt;
  if (!is_report_schema(document->value("schema", json()))) return std::nullopt;
  StoredReport report;
  for (const auto* key : {"npusim", "workload", "config_sha256", "seed", "parameters"}) {
    report.identity[key] = document->value(key, json());
  }
  const auto metrics = document->find("metrics");
  if (metrics == document->end() || !metrics->is_array()) return std::nullopt;
  for (const auto& entry : *metrics) {
    auto metric = metric_of(entry);
    if (!metric) return std::nullopt;
    report.metrics.push_back(std::move(*metric));
  }
  return report;
}

std::optional<StoredReport> read_report(const std::string& path) {
  const auto text = read_file(path);
  return text ? parse_report(*text) : std::nullopt;
}

std::optional<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return std::nullopt;
  return text.str();
}

}  // namespace npu::sweep
