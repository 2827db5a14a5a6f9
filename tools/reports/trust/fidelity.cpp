// SPDX-License-Identifier: Apache-2.0
#include "tools/reports/trust/fidelity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace npu::reports {
namespace {

bool is_planned(const NamedValue& value) {
  constexpr std::string_view kKey = ".hbm.fidelity";
  return value.name.size() >= kKey.size() &&
         value.name.compare(value.name.size() - kKey.size(), kKey.size(), kKey) == 0 &&
         value.elements == std::vector<std::string>{"run"};
}

}  // namespace

std::string fidelity_line(const Report& report) {
  return fidelity_line(report, known_fidelity());
}

std::string fidelity_line(const Report& report, const std::vector<FidelityError>& errors) {
  const auto& values = report.configuration;
  if (std::none_of(values.begin(), values.end(), is_planned)) return {};
  double percent = -1;
  for (const auto& error : errors) {
    if (error.workload == report.workload) percent = std::max(percent, error.percent);
  }
  const std::string begin = "HBM in closed form (hbm.fidelity: run): ";
  if (percent < 0) return begin + "no comparison of this workload with exact runs exists";
  return begin + fmt::format("durations and bandwidths of {} were within {:g} % of exact ones",
                             report.workload, percent);
}

}  // namespace npu::reports
