// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/run_breakdown.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "npu/platform/core_events.hpp"
#include "workloads/framework/measurement.hpp"

namespace npu::workloads {

namespace {

using platform::Activity;

// In the order of platform::Pipe.
constexpr std::array<const char*, platform::kPipes> kPipeNames = {
    "scalar", "vector", "cube", "mte1", "mte2", "mte3", "fixpipe"};

}  // namespace

void RunBreakdown::Span::add(const platform::TraceEvent& event) {
  begin = begin ? std::min(*begin, event.begin) : event.begin;
  end = end ? std::max(*end, event.end) : event.end;
}

void RunBreakdown::on_event(const platform::TraceEvent& event) {
  switch (event.activity) {
    case Activity::kAicpuDispatch:
      return dispatch_.add(event);
    case Activity::kKernelCall:
      cores_.insert(event.track);
      return kernels_.add(event);
    case Activity::kPipe:
      if (const auto pipe = platform::pipe_of(event.detail); pipe != platform::Pipe::kAll) {
        busy_[static_cast<std::size_t>(pipe)] += event.end - event.begin;
      }
      return;
    case Activity::kKernelBlock:
      return blocks_[event.cause].add(event);
    case Activity::kQueueComplete:
    case Activity::kHostWrite:
      return completions_[event.cause].add(event);
    default:
      return;
  }
}

Status RunBreakdown::finish(const driver::RunReport& run) {
  const auto& scheduler = blocks_[run.scheduler_cause];
  if (!scheduler.begin) return fail(ErrorCode::kNotFound, "no event tells of the scheduler");
  const auto& first = completions_[run.scheduler_cause];
  const auto& second = completions_[run.executor_cause];
  if (!first.end || !second.end) return fail(ErrorCode::kNotFound, "a launch has no completion");
  const auto complete = std::max(*first.end, *second.end);
  // A graph of which nothing runs on a core has none of the three in the middle.
  const auto sent = dispatch_.begin.value_or(complete);
  const auto begun = kernels_.begin.value_or(complete);
  const auto ended = kernels_.end.value_or(complete);
  const std::pair<const char*, Instant> milestones[] = {
      {"submit", run.launched}, {"queue", *scheduler.begin},
      {"aicpu", sent},          {"dispatch", begun},
      {"cores", ended},         {"completion", complete},
      {"wait", run.returned}};
  Instant last = run.called;
  for (const auto& [name, when] : milestones) {
    // What was passed earlier costs nothing more, and nothing costs more than the run.
    const Instant moment = std::min(std::max(when, last), run.returned);
    breakdown_.parts.push_back({name, moment - last});
    last = moment;
  }
  called_ = run.called;
  run_ = run.returned - run.called;
  cause_ = run.scheduler_cause;
  return {};
}

Picoseconds RunBreakdown::cores() const {
  if (!kernels_.begin) return {};
  return *kernels_.end - *kernels_.begin;
}

std::optional<MeasuredSpan> RunBreakdown::cores_span() const {
  if (!kernels_.begin) return std::nullopt;
  return MeasuredSpan{*kernels_.begin, *kernels_.end, cause_};
}

std::optional<MeasuredSpan> RunBreakdown::run_span() const {
  if (breakdown_.parts.empty()) return std::nullopt;
  return MeasuredSpan{called_, called_ + run_, cause_};
}

void RunBreakdown::mark_cores(platform::Tracer& tracer, const std::string& metric) const {
  if (kernels_.begin) mark(tracer, metric, {*kernels_.begin, *kernels_.end, cause_});
}

void RunBreakdown::report(const std::string& prefix, Report& out, platform::Tracer& tracer) const {
  if (breakdown_.parts.empty()) return;
  mark_parts(tracer, prefix + ".breakdown.", "_us", breakdown_.parts, called_, cause_);
  mark(tracer, prefix + ".run_us", {called_, called_ + run_, cause_});
  auto& table = out.add_table("From the host's call to its return", {"part", "us"});
  for (const auto& part : breakdown_.parts) {
    const auto time = Number::microseconds(part.time);
    out.add_metric(fmt::format("{}.breakdown.{}_us", prefix, part.name), time, "us");
    table.rows.push_back({part.name, time.text()});
  }
  const auto total = Number::microseconds(run_);
  out.add_metric(prefix + ".run_us", total, "us");
  table.rows.push_back({"total", total.text()});
  report_pipes(prefix, out);
}

void RunBreakdown::report_pipes(const std::string& prefix, Report& out) const {
  const auto whole = static_cast<std::uint64_t>(cores().count()) * cores_.size();
  if (whole == 0) return;
  for (std::size_t i = 0; i < busy_.size(); ++i) {
    if (busy_[i] == Picoseconds{}) continue;
    out.add_metric(fmt::format("{}.pipe.{}_percent", prefix, kPipeNames[i]),
                   Number::percent(static_cast<std::uint64_t>(busy_[i].count()), whole), "%");
  }
}

}  // namespace npu::workloads
