// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/sweep/run_identity.hpp"

#include <algorithm>

#include "tools/reports/digest.hpp"
#include "tools/reports/json_text.hpp"
#include "tools/reports/report_json.hpp"

namespace npu::sweep {
namespace {

using reports::json_string;
using reports::NamedValue;

std::string section(const std::vector<NamedValue>& values) {
  return "{" + reports::json_members(values, " ") + "}";
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

bool is_report_of(const reports::Report& report, const RunIdentity& run) {
  const auto same = [](const NamedValue& a, const NamedValue& b) {
    const bool same_type = a.elements.empty() || a.is_text == b.is_text;
    return a.name == b.name && a.elements == b.elements && same_type && a.is_list == b.is_list;
  };
  return report.outcome == reports::kComplete && report.version == run.version &&
         report.workload == run.workload && report.config_sha256 == run.config_sha256 &&
         report.seed == run.seed &&
         std::equal(report.parameters.begin(), report.parameters.end(), run.parameters.begin(),
                    run.parameters.end(), same);
}

}  // namespace npu::sweep
