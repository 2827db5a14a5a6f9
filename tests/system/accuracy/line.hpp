// SPDX-License-Identifier: Apache-2.0
// A published figure and the model's as docs/accuracy.md shows them.
#pragma once

#include <string>
#include <vector>

namespace npu::accuracy {

// A line of a table: as text, as the page has it.
struct Line {
  std::string id, parameters, metric, published, unit, model, use;
  double error_percent() const;
};

// "| id | parameters | ... |" and its lines; the metric has a column if it is not the same in all.
std::string table_text(const std::vector<Line>& lines);
// Whether all have the same metric.
bool same_metric(const std::vector<Line>& lines);
// "+1.5"
std::string signed_text(double percent);
// With as many decimals as the published figure has, two at least.
std::string number_text(double value, const std::string& published);

}  // namespace npu::accuracy
