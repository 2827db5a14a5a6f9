// SPDX-License-Identifier: Apache-2.0
// A small sweep, its points, and reports as `npusim run` writes them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/sweep/planned_point.hpp"
#include "cli/sweep/stored_report.hpp"

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

using Metrics = std::vector<std::pair<std::string, std::string>>;

// A whole report of that run, with metrics in ns.
inline std::string report_text(const RunIdentity& run, const Metrics& metrics) {
  std::string text = "{\n  \"schema\": \"npusim.report/2\",\n  \"npusim\": \"" + run.version +
                     "\",\n  \"workload\": \"" + run.workload +
                     "\",\n  \"config\": \"910b\",\n  \"config_sha256\": \"" + run.config_sha256 +
                     "\",\n  \"seed\": " + std::to_string(run.seed) +
                     ",\n  \"simulated_ps\": 12,\n  \"parameters\": {\"sizes\": [64, 4096], "
                     "\"waiting\": \"polling\"},\n  \"metrics\": [";
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    text += (i == 0 ? "\n    " : ",\n    ");
    text += "{\"name\": \"" + metrics[i].first + "\", \"value\": " + metrics[i].second +
            ", \"unit\": \"ns\"}";
  }
  return text + "\n  ]\n}\n";
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
