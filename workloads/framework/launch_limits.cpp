// SPDX-License-Identifier: Apache-2.0
#include "workloads/framework/launch_limits.hpp"

#include <algorithm>

#include "tools/timeline/critical_path.hpp"
#include "workloads/simulator/kernel_time.hpp"
#include "workloads/simulator/track_capacities.hpp"

namespace npu::workloads {

void LaunchLimits::report(const std::string& subject, Instant begin, Instant end,
                          Context& context) {
  const auto name = [&](std::uint32_t track) { return context.trace.track_name(track); };
  const TrackCapacities capacities(context.simulator);
  const auto capacity = [&](const std::string& track) { return capacities.of(track); };
  events_.sort(name);
  const Instant known(Picoseconds(events_.known_from()));
  const auto path = timeline::launch_path(events_, name, std::max(begin, known), end);
  add_kernel_limits(context.report, subject,
                    timeline::kernel_limits(path, false, traffic_, name, capacity));
}

}  // namespace npu::workloads
