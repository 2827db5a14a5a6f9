// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/validate/steps.hpp"

#include <algorithm>

#include "tools/cli/validate/validation.hpp"

namespace npu::validate {
namespace {

bool same_kernel(const Measurement& a, const Measurement& b) {
  return a.file == b.file && a.sku == b.sku && a.op == b.op && a.shape == b.shape &&
         a.types == b.types && a.metric == b.metric && a.unit == b.unit && a.cache == b.cache;
}

bool within_noise(const Measurement& a, const Measurement& b) {
  const double unit = microseconds_in(a.unit);
  const double smaller = std::min(a.value, b.value);
  const double noise = unit != 0 && smaller * unit < 5 ? 1.09 : 1.02;
  return std::max(a.value, b.value) <= smaller * noise;
}

}  // namespace

bool Step::same_run() const {
  return before->operation.settings == after->operation.settings;
}

bool Step::right() const {
  const double measured = after->row->value - before->row->value;
  return measured * (after->predicted - before->predicted) > 0;
}

std::vector<Step> steps_of(const std::vector<Compared>& rows) {
  std::vector<Step> steps;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    // Other kernels' rows may stand between two of a ladder.
    for (std::size_t j = i; j-- > 0;) {
      if (!same_kernel(*rows[i].row, *rows[j].row)) continue;
      if (!within_noise(*rows[i].row, *rows[j].row)) steps.push_back({&rows[j], &rows[i]});
      break;
    }
  }
  return steps;
}

}  // namespace npu::validate
