// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/exec_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

namespace npu::cli {
namespace {

using reports::Number;

void add_calls(reports::Report& report, const exec::ProgramResult& program) {
  auto& table =
      report.add_table(fmt::format("{}: {}", program.name, program.title),
                       {"function", "calls", "failed", "mean ns", "longest ns", "total us"});
  for (const auto& [name, calls] : program.calls) {
    const auto mean = Number::nanoseconds(calls.total / static_cast<std::int64_t>(calls.calls));
    table.rows.push_back({name, std::to_string(calls.calls), std::to_string(calls.failed),
                          mean.text(), Number::nanoseconds(calls.longest).text(),
                          Number::microseconds(calls.total).text()});
  }
  const std::string prefix = "exec." + program.name + ".";
  for (const auto& [name, calls] : program.calls) {
    report.add_metric(prefix + name + ".calls", Number::count(calls.calls), "");
    report.add_metric(prefix + name + ".failed", Number::count(calls.failed), "");
    report.add_metric(prefix + name + ".total_us", Number::microseconds(calls.total), "us");
  }
}

}  // namespace

namespace {

void add_leftovers(reports::Report& report, const exec::ProgramResult& program) {
  const auto& left = program.left;
  const std::string prefix = "exec." + program.name + ".left.";
  report.add_metric(prefix + "memory_bytes", Number::count(left.memory), "B");
  report.add_metric(prefix + "pinned_bytes", Number::count(left.pinned), "B");
  report.add_metric(prefix + "streams", Number::count(left.streams), "");
  report.add_metric(prefix + "events", Number::count(left.events), "");
  // One that was ended from outside had no chance to.
  if (!left.any() || program.exit_code != 0) return;
  std::vector<std::string> parts;
  const auto add = [&](std::uint64_t count, std::string_view thing, Bytes bytes) {
    if (count == 0) return;
    parts.push_back(fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s"));
    if (bytes != 0) parts.back() += fmt::format(" ({} B)", bytes);
  };
  add(left.blocks, "device block", left.memory);
  add(left.pinned_blocks, "pinned block", left.pinned);
  add(left.streams, "stream", 0);
  add(left.events, "event", 0);
  report.add_note(fmt::format("{} never gave back {}", program.name, fmt::join(parts, ", ")));
}

void add_use(reports::Report& report, const exec::ProgramResult& program) {
  const auto& use = program.use;
  const std::string prefix = "exec." + program.name + ".sharing.";
  report.add_metric(prefix + "busy_us", Number::microseconds(use.busy), "us");
  report.add_metric(prefix + "turns", Number::count(use.time_slices), "");
  report.add_metric(prefix + "launches", Number::count(use.launches), "");
  report.add_metric(prefix + "turns_reclaimed", Number::count(use.reclaimed), "");
  report.add_metric(prefix + "most_bytes", Number::count(use.memory.most), "B");
  report.add_metric(prefix + "refused", Number::count(use.memory.refused), "");
  if (use.memory.limit == driver::MemoryQuota::kUnlimited) return;
  report.add_metric(prefix + "quota_bytes", Number::count(use.memory.limit), "B");
}

}  // namespace

void add_programs(reports::Report& report, const std::vector<exec::ProgramResult>& programs,
                  bool works) {
  for (const auto& program : programs) {
    const std::string prefix = "exec." + program.name + ".";
    std::uint64_t calls = 0, failed = 0;
    Picoseconds total;
    for (const auto& [name, each] : program.calls) {
      calls += each.calls;
      failed += each.failed;
      total += each.total;
    }
    report.add_metric(prefix + "exit_code",
                      Number::count(static_cast<std::uint64_t>(program.exit_code)), "");
    report.add_metric(prefix + "threads", Number::count(program.threads), "");
    report.add_metric(prefix + "stalls", Number::count(program.stalls), "");
    report.add_metric(prefix + "calls", Number::count(calls), "");
    report.add_metric(prefix + "failed", Number::count(failed), "");
    report.add_metric(prefix + "in_calls_us", Number::microseconds(total), "us");
    if (works) report.add_metric(prefix + "work_us", Number::microseconds(program.work), "us");
    report.add_metric(prefix + "duration_us",
                      Number::microseconds(program.end - program.first_call), "us");
    if (program.fault_warnings != 0) {
      report.add_metric(prefix + "page_fault_warnings", Number::count(program.fault_warnings), "");
    }
    add_leftovers(report, program);
    if (program.shares) add_use(report, program);
    add_calls(report, program);
  }
}

}  // namespace npu::cli
