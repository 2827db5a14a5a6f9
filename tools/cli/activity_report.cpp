// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/activity_report.hpp"

#include <algorithm>
#include <string>

#include "model/host/host_memory.hpp"

namespace npu::cli {

using reports::Number;

namespace {

Picoseconds as_time(model::SimTime time) {
  return Picoseconds(static_cast<std::int64_t>(time));
}

Picoseconds mean(Picoseconds total, std::uint64_t count) {
  return count == 0 ? Picoseconds(0)
                    : Picoseconds(total.count() / static_cast<std::int64_t>(count));
}

// A function and what its client did with it.
void add_export(reports::Report& report, reports::Table& table,
                const model::ExportedFunction& function, std::uint64_t faults) {
  const auto& done = function.statistics();
  const std::string name = to_string(function.bdf());
  const std::pair<const char*, Number> figures[] = {
      {"config_reads", Number::count(done.config_reads)},
      {"config_writes", Number::count(done.config_writes)},
      {"bar_reads", Number::count(done.reads)},
      {"bar_read_mean_ns", Number::nanoseconds(mean(as_time(done.read_time), done.reads))},
      {"bar_read_longest_ns", Number::nanoseconds(as_time(done.longest_read))},
      {"bar_writes", Number::count(done.writes)},
      {"interrupts", Number::count(done.interrupts)},
      {"resets", Number::count(done.resets)},
      {"iommu_faults", Number::count(faults)},
  };
  for (const auto& [what, value] : figures) {
    const std::string text = what;
    const bool is_time = text.size() > 3 && text.compare(text.size() - 3, 3, "_ns") == 0;
    report.add_metric("serve." + name + "." + text, value, is_time ? "ns" : "");
    table.rows.push_back({name, text, value.text()});
  }
}

}  // namespace

ActivityReport::ActivityReport(workloads::TraceSource& source) : source_(source) {
  source_.add(*this);
}

ActivityReport::~ActivityReport() {
  source_.remove(*this);
}

void ActivityReport::on_event(const platform::TraceEvent& event) {
  auto& sum = sums_[static_cast<std::size_t>(event.activity)];
  const Picoseconds time = event.end - event.begin;
  ++sum.count;
  sum.total += time;
  sum.longest = std::max(sum.longest, time);
}

void ActivityReport::add_to(reports::Report& report) const {
  auto& table = report.add_table("what happened, in simulated time",
                                 {"activity", "count", "mean ns", "longest ns"});
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const Sum& sum = sums_[i];
    if (sum.count == 0) continue;
    const std::string name(platform::kActivityTable[i].name);
    const auto average = Number::nanoseconds(mean(sum.total, sum.count));
    const auto longest = Number::nanoseconds(sum.longest);
    report.add_metric("serve." + name + ".count", Number::count(sum.count), "");
    report.add_metric("serve." + name + ".mean_ns", average, "ns");
    report.add_metric("serve." + name + ".longest_ns", longest, "ns");
    table.rows.push_back({name, std::to_string(sum.count), average.text(), longest.text()});
  }
}

void add_exports(reports::Report& report, const model::Exporter& exporter,
                 const model::HostMemory& memory) {
  auto& table = report.add_table("what the clients did", {"function", "figure", "value"});
  for (const auto& function : exporter.functions()) {
    add_export(report, table, *function, memory.faults().count(function->bdf().packed()));
  }
}

}  // namespace npu::cli
