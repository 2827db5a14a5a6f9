// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep/run_identity.hpp"

#include "cli/sweep/json_text.hpp"
#include "reports/digest.hpp"

namespace npu::sweep {
namespace {

std::string section(const std::vector<workloads::NamedValue>& values) {
  std::string text;
  for (const auto& value : values) {
    text += (text.empty() ? "" : ", ") + json_string(value.name) + ": " + json_value(value);
  }
  return "{" + text + "}";
}

// The part of the text that the name is made from.
std::string point_part(const RunIdentity& run) {
  return "{\n  \"schema\": \"npusim.sweep_point/1\",\n  \"npusim\": " + json_string(run.version) +
         ",\n  \"workload\": " + json_string(run.workload) +
         ",\n  \"config_sha256\": " + json_string(run.config_sha256) +
         ",\n  \"overrides\": " + section(run.overrides) +
         ",\n  \"seed\": " + std::to_string(run.seed) +
         ",\n  \"parameters\": " + section(run.parameters);
}

}  // namespace

std::string RunIdentity::name() const {
  constexpr std::size_t kDigits = 16;
  return reports::sha256_text(point_part(*this)).substr(0, kDigits);
}

std::string RunIdentity::text() const {
  std::string files;
  for (const auto& [file, digest] : inputs) {
    files += (files.empty() ? "" : ", ") + json_string(file) + ": " + json_string(digest);
  }
  return point_part(*this) + ",\n  \"build\": " + json_string(build) + ",\n  \"inputs\": {" +
         files + "}\n}\n";
}

bool is_report_of(const StoredReport& report, const RunIdentity& identity) {
  const auto expected = parse_json(identity.text());
  for (const auto* key : {"npusim", "workload", "config_sha256", "seed", "parameters"}) {
    if (report.identity.value(key, nlohmann::json()) != expected->at(key)) return false;
  }
  return true;
}

}  // namespace npu::sweep
