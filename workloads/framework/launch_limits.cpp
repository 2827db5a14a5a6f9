// SPDX-License-Identifier: Apache-2.0
#include "workloads/framework/launch_limits.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/reports/trust/trust.hpp"
#include "tools/timeline/critical_path.hpp"
#include "workloads/simulator/kernel_time.hpp"
#include "workloads/simulator/kernel_use_report.hpp"
#include "workloads/simulator/track_capacities.hpp"

namespace npu::workloads {

LaunchLimits::LaunchLimits(const Context& context)
    : use_([&trace = context.trace](std::uint32_t track) { return trace.track_name(track); }),
      before_(take_snapshot(context.simulator)) {}

void LaunchLimits::ended(const Context& context) {
  meanwhile_ = difference(before_, take_snapshot(context.simulator));
}

void LaunchLimits::report(const MeasuredLaunches& launches, Instant begin, Instant end,
                          Context& context) {
  const auto name = [&](std::uint32_t track) { return context.trace.track_name(track); };
  const TrackCapacities capacities(context.simulator);
  const auto capacity = [&](const std::string& track) { return capacities.of(track); };
  events_.sort(name);
  const Instant known(Picoseconds(events_.known_from()));
  const auto path = timeline::launch_path(events_, name, std::max(begin, known), end);
  add_kernel_limits(context.report, launches.subject,
                    timeline::kernel_limits(path, false, traffic_, name, capacity));
  if (context.machine == nullptr) return;
  KernelWork work{launches.operations, {}, 0};
  const auto card = context.parameters.integer("card");
  if (meanwhile_ && card < meanwhile_->memories.size()) {
    const auto& memory = meanwhile_->memories[card];
    work.activates = memory.row_misses;
    work.memory_bytes = memory.read + memory.written;
  }
  add_kernel_use(context.report, launches.subject, use_.use(), *context.machine, capacities, work);
  if (card >= context.machine->cards.size()) return;
  reports::add_trust(context.report, {launches.metric, launches.subject, launches.operation,
                                      context.machine->cards[card].name, end - begin});
  if (context.functional) return;
  context.report.add_note(fmt::format(
      "functional=off: {} is not exactly that of functional=on, where operands are copied to the "
      "card before and refreshes of its memory have another phase; of 25 kernels it was off by 6 % "
      "at most, by 2 % on average",
      launches.metric));
}

}  // namespace npu::workloads
