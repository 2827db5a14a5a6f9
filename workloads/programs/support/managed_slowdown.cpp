// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/managed_slowdown.hpp"

#include "workloads/framework/figures.hpp"
#include "workloads/framework/measurement.hpp"

namespace npu::workloads {
namespace {

using Done = driver::ManagedStatistics;

Number quotient(Picoseconds a, Picoseconds b) {
  return Number::quotient(static_cast<std::uint64_t>(a.count()),
                          static_cast<std::uint64_t>(b.count()), 3);
}

Number share(Picoseconds part, Picoseconds all) {
  return Number::percent(static_cast<std::uint64_t>(part.count()),
                         static_cast<std::uint64_t>(all.count()));
}

struct Slowdown {
  ManagedRun with_room, run;

  Number slowdown() const { return quotient(run.time(), with_room.time()); }
  Number in() const { return share(run.done.copying_to_card, run.time()); }
  Number back() const { return share(run.done.copying_to_host, run.time()); }
  const Done& done() const { return run.done; }
};

constexpr Figure<Slowdown> kOfSlowdown[] = {
    {"slowdown", "", from<&Slowdown::slowdown>, {"slowdown"}},
    {"time_us", "us", from<&Slowdown::run, &ManagedRun::span>, {"time us", -1}},
    {"time_with_room_us", "us", from<&Slowdown::with_room, &ManagedRun::span>},
    {"faults", "", from<&Slowdown::done, &Done::faults>, {"faults"}},
    {"thrash", "", from<&Slowdown::done, &Done::thrash>, {"of evicted pages"}},
    {"evictions", "", from<&Slowdown::done, &Done::evictions>, {"evictions"}},
    {"written_back_bytes",
     "B",
     from<&Slowdown::done, &Done::migrated_to_host_bytes>,
     {"written back"}},
    {"dropped_bytes", "B", from<&Slowdown::done, &Done::dropped_bytes>, {"dropped"}},
    {"copying_in_percent", "%", from<&Slowdown::in>, {"copying in %"}},
    {"copying_out_percent", "%", from<&Slowdown::back>, {"copying out %"}}};

}  // namespace

driver::ManagedStatistics done_between(const driver::ManagedStatistics& begin,
                                       const driver::ManagedStatistics& end) {
  return counted_between(begin, end, &Done::faults, &Done::host_faults, &Done::fault_errors,
                         &Done::duplicates, &Done::batches, &Done::upgrades,
                         &Done::migrated_to_card_bytes, &Done::migrated_to_host_bytes,
                         &Done::dropped_bytes, &Done::evictions, &Done::thrash,
                         &Done::copying_to_card, &Done::copying_to_host);
}

SlowdownTable::SlowdownTable(Context& context, const std::string& what, const std::string& title)
    : context_(context), table_(add_figure_table(context.report, title, {what}, kOfSlowdown)) {}

void SlowdownTable::add(const std::string& prefix, const std::string& name,
                        const ManagedRun& with_room, const ManagedRun& run) {
  report_figures(context_, prefix + ".", kOfSlowdown, {with_room, run}, &table_, {name});
}

}  // namespace npu::workloads
