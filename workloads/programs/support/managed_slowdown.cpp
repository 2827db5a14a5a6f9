// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/managed_slowdown.hpp"

namespace npu::workloads {
namespace {

Number quotient(Picoseconds a, Picoseconds b) {
  return Number::quotient(static_cast<std::uint64_t>(a.count()),
                          static_cast<std::uint64_t>(b.count()), 3);
}

Number share(Picoseconds part, Picoseconds all) {
  return Number::percent(static_cast<std::uint64_t>(part.count()),
                         static_cast<std::uint64_t>(all.count()));
}

}  // namespace

driver::ManagedStatistics done_between(const driver::ManagedStatistics& begin,
                                       const driver::ManagedStatistics& end) {
  auto done = end;
  done.faults -= begin.faults;
  done.migrated_to_card_bytes -= begin.migrated_to_card_bytes;
  done.migrated_to_host_bytes -= begin.migrated_to_host_bytes;
  done.dropped_bytes -= begin.dropped_bytes;
  done.evictions -= begin.evictions;
  done.thrash -= begin.thrash;
  done.copying_to_card -= begin.copying_to_card;
  done.copying_to_host -= begin.copying_to_host;
  return done;
}

SlowdownTable::SlowdownTable(Context& context, const std::string& what, const std::string& title)
    : context_(context),
      table_(context.report.add_table(
          title, {what, "time us", "slowdown", "faults", "of evicted pages", "evictions",
                  "written back", "dropped", "copying in %", "copying out %"})) {}

void SlowdownTable::add(const std::string& prefix, const std::string& name,
                        const ManagedRun& with_room, const ManagedRun& run) {
  const auto& done = run.done;
  const auto slowdown = quotient(run.time(), with_room.time());
  const auto in = share(done.copying_to_card, run.time());
  const auto back = share(done.copying_to_host, run.time());
  auto& out = context_.report;
  out.add_metric(prefix + ".slowdown", slowdown, "");
  out.add_metric(prefix + ".time_us", Number::microseconds(run.time()), "us");
  out.add_metric(prefix + ".time_with_room_us", Number::microseconds(with_room.time()), "us");
  out.add_metric(prefix + ".faults", Number::count(done.faults), "");
  out.add_metric(prefix + ".thrash", Number::count(done.thrash), "");
  out.add_metric(prefix + ".evictions", Number::count(done.evictions), "");
  out.add_metric(prefix + ".written_back_bytes", Number::count(done.migrated_to_host_bytes), "B");
  out.add_metric(prefix + ".dropped_bytes", Number::count(done.dropped_bytes), "B");
  out.add_metric(prefix + ".copying_in_percent", in, "%");
  out.add_metric(prefix + ".copying_out_percent", back, "%");
  auto& tracer = context_.platform.tracer();
  mark(tracer, prefix + ".time_us", {run.span}, platform::Statistic::kSum);
  mark(tracer, prefix + ".time_with_room_us", {with_room.span}, platform::Statistic::kSum);
  table_.rows.push_back({name, Number::microseconds(run.time()).text(), slowdown.text(),
                         std::to_string(done.faults), std::to_string(done.thrash),
                         std::to_string(done.evictions), size_name(done.migrated_to_host_bytes),
                         size_name(done.dropped_bytes), in.text(), back.text()});
}

}  // namespace npu::workloads
