// SPDX-License-Identifier: Apache-2.0
#include "workloads/simulator/kernel_time.hpp"

#include <fmt/format.h>

namespace npu::workloads {

void add_kernel_limits(reports::Report& report, const std::string& subject,
                       const timeline::KernelTime& kernels) {
  const auto whole = static_cast<std::uint64_t>(kernels.total.count());
  for (const auto& limit : kernels.limits) {
    const auto time = static_cast<std::uint64_t>(limit.time.count());
    if (time == 0) continue;
    const auto percent = reports::Number::percent(time, whole);
    report.add_limit(
        {subject, limit.name, percent,
         fmt::format("{} % of {} us of kernels, {}: {}", percent.text(),
                     reports::Number::microseconds(kernels.total).text(), limit.name, limit.what)});
  }
}

}  // namespace npu::workloads
