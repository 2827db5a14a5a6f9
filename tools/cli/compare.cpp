// SPDX-License-Identifier: Apache-2.0
// npusim compare: what is different between two reports.
#include "npu/base/shortened.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"
#include "tools/reports/compare/comparison_json.hpp"
#include "tools/reports/compare/comparison_text.hpp"
#include "tools/reports/compare/junit.hpp"
#include "tools/reports/report_reader.hpp"
#include "workloads/framework/registry.hpp"

namespace npu::cli {
namespace {

tl::expected<reports::Comparison, Failure> compared(const Options& options) {
  std::vector<reports::Threshold> thresholds;
  for (const auto& text : options.thresholds) {
    auto threshold = reports::parse_threshold(text);
    if (!threshold) return bad_input(threshold.error().context);
    thresholds.push_back(std::move(*threshold));
  }
  const auto base = reports::load_report(options.arguments[0]);
  if (!base) return bad_input(base.error().context);
  const auto now = reports::load_report(options.arguments[1]);
  if (!now) return bad_input(now.error().context);
  // Of a test or another program: no such workload.
  const auto workload = workloads::all_workloads().find(base->workload);
  const auto rules =
      workload ? workloads::compare_rules((*workload)->figures) : std::vector<reports::Rule>();
  auto comparison = reports::compare(*base, *now, thresholds, rules);
  if (!comparison) return bad_input("compare: " + comparison.error().context);
  return std::move(*comparison);
}

std::string rendered(const reports::Comparison& comparison, const std::string& format) {
  if (format == "markdown") return to_markdown(comparison);
  if (format == "json") return to_json(comparison);
  return to_text(comparison);
}

}  // namespace

Outcome compare_reports(const Options& options) {
  if (options.arguments.size() < 2) return bad_input("compare: give two reports, BASE and NEW");
  if (auto ok = expect_at_most(2, "compare", options.arguments); !ok) return ok;
  const std::string& format = options.format;
  if (!format.empty() && format != "text" && format != "markdown" && format != "json") {
    return bad_input("--format: found '" + shortened(format) + "'; allowed: text, markdown, json");
  }
  for (const auto& [option, path] :
       {std::pair("--output", options.output), std::pair("--junit", options.junit)}) {
    if (auto other = check_not_read(option, path, options.arguments); !other) return other;
  }
  const auto comparison = compared(options);
  if (!comparison) return tl::unexpected(comparison.error());
  auto junit = OptionFile::open("--junit", options.junit);
  if (!junit) return tl::unexpected(junit.error());
  const Outcome noted = junit->write(to_junit(*comparison));
  const Outcome written = write_output(options.output, rendered(*comparison, format));
  if (!noted) return noted;
  if (!written) return written;
  if (comparison->regressions() != 0) return failure("compare: " + summary(*comparison));
  if (comparison->looks() == 0) return {};
  return tl::unexpected(Failure{kExitLook, "compare: " + summary(*comparison)});
}

}  // namespace npu::cli
