// SPDX-License-Identifier: Apache-2.0
#include "tools/reports/report_json.hpp"

#include "tools/reports/json_text.hpp"

namespace npu::reports {

namespace {

std::string value_text(const NamedValue& value) {
  std::string text;
  for (const auto& element : value.elements) {
    text += (text.empty() ? "" : ", ") + (value.is_text ? json_string(element) : element);
  }
  return value.is_list ? "[" + text + "]" : text;
}

std::string configuration_text(const std::vector<NamedValue>& values) {
  return values.empty() ? "{}" : "{\n    " + json_members(values, "\n    ") + "\n  }";
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

std::string part_text(const Breakdown::Part& part) {
  return "{\"name\": " + json_string(part.name) + ", \"ps\": " + std::to_string(part.time.count()) +
         "}";
}

std::string breakdown_text(const Breakdown& breakdown) {
  std::string parts;
  for (const auto& part : breakdown.parts) parts += (parts.empty() ? "" : ", ") + part_text(part);
  return "{\"group\": " + json_string(breakdown.group) +
         ", \"label\": " + json_string(breakdown.label) + ", \"parts\": [" + parts + "]" +
         ", \"wait_ps\": " +
         (breakdown.wait ? std::to_string(breakdown.wait->count()) : std::string("null")) + "}";
}

std::string strings_text(const std::vector<std::string>& strings) {
  std::string text;
  for (const auto& each : strings) text += (text.empty() ? "" : ", ") + json_string(each);
  return "[" + text + "]";
}

std::string table_text(const Table& table) {
  std::string rows;
  for (const auto& row : table.rows) {
    rows += (rows.empty() ? "\n      " : ",\n      ") + strings_text(row);
  }
  return "{\"title\": " + json_string(table.title) +
         ", \"columns\": " + strings_text(table.columns) + ", \"rows\": [" + rows +
         (rows.empty() ? "]}" : "\n    ]}");
}

std::string sections_text(const std::vector<Section>& sections) {
  std::string text;
  for (const auto& section : sections) {
    text += ",\n  " + json_string(section.name) + ": " + section.json;
  }
  return text;
}

}  // namespace

std::string json_members(const std::vector<NamedValue>& values, const std::string& separator) {
  std::string text;
  for (const auto& value : values) {
    text +=
        (text.empty() ? "" : "," + separator) + json_string(value.name) + ": " + value_text(value);
  }
  return text;
}

std::string to_json(const Report& report) {
  return "{\n  \"schema\": " + json_string(kReportSchema) +
         ",\n  \"npusim\": " + json_string(report.version) +
         ",\n  \"workload\": " + json_string(report.workload) +
         ",\n  \"config\": " + json_string(report.config) +
         ",\n  \"config_sha256\": " + json_string(report.config_sha256) +
         ",\n  \"overrides\": " + json_array(report.overrides, override_text) +
         ",\n  \"outcome\": " + json_string(report.outcome) +
         ",\n  \"seed\": " + std::to_string(report.seed) +
         ",\n  \"simulated_ps\": " + std::to_string(report.simulated.count()) +
         ",\n  \"parameters\": {" + json_members(report.parameters, " ") + "}" +
         ",\n  \"configuration\": " + configuration_text(report.configuration) +
         ",\n  \"programs\": " + json_array(report.programs(), program_text) +
         ",\n  \"metrics\": " + json_array(report.metrics(), metric_text) +
         ",\n  \"counters\": " + json_array(report.counters(), metric_text) +
         ",\n  \"breakdowns\": " + json_array(report.breakdowns(), breakdown_text) +
         ",\n  \"tables\": " + json_array(report.tables(), table_text) +
         ",\n  \"limits\": " + json_array(report.limits(), limit_text) +
         ",\n  \"notes\": " + json_array(report.notes(), json_string) +
         sections_text(report.sections()) + "\n}\n";
}

}  // namespace npu::reports
