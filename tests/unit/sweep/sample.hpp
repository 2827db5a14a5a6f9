// SPDX-License-Identifier: Apache-2.0
// A small sweep, its points, and reports as `npusim run` writes them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/cli/sweep/planned_point.hpp"
#include "tools/reports/report.hpp"

namespace npu::sweep {

inline RunIdentity sample_identity(std::uint64_t seed = 1) {
  RunIdentity run;
  run.version = "0.1.0";
  run.workload = "dma_latency";
  run.config_sha256 = std::string(64, 'a');
  run.overrides = {{"link.generation", {"5"}}};
  run.seed = seed;
  run.parameters = {{"sizes", {"64", "4096"}, false, true}, {"waiting", {"polling"}, true, false}};
  run.build = std::string(64, 'b');
  return run;
}

using Metrics = std::vector<std::pair<std::string, reports::Number>>;

// A whole report of that run, with metrics in ns.
inline reports::Report sample_report(const RunIdentity& run, const Metrics& metrics) {
  reports::Report report;
  report.version = run.version;
  report.workload = run.workload;
  report.config = "910b";
  report.config_sha256 = run.config_sha256;
  report.seed = run.seed;
  report.parameters = run.parameters;
  for (const auto& [name, value] : metrics) report.add_metric(name, value, "ns");
  report.add_counter("host.mmio_reads", reports::Number::integer(7));
  return report;
}

inline reports::Number hundredths(std::int64_t value) {
  return reports::Number::scaled(value, 2);
}

// A point of the axes configuration, size (B), seed.
inline PlannedPoint sample_point(std::size_t number, const std::string& size) {
  PlannedPoint point;
  point.number = number;
  point.label = "size=" + size;
  point.cells = {{"910b", ""}, {size + "B", size}, {"1", "1"}};
  point.identity = sample_identity(number);
  return point;
}

}  // namespace npu::sweep
