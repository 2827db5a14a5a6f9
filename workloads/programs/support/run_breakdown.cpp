// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/run_breakdown.hpp"
#include "workloads/framework/figures.hpp"

#include <algorithm>

namespace npu::workloads {

namespace {

using platform::Activity;

constexpr Figure<MeasuredSpan> kOfRun[] = {{"run_us", "us", itself}};

}  // namespace

void RunBreakdown::Span::add(const platform::TraceEvent& event) {
  begin = begin ? std::min(*begin, event.begin) : event.begin;
  end = end ? std::max(*end, event.end) : event.end;
}

void RunBreakdown::on_event(const platform::TraceEvent& event) {
  switch (event.activity) {
    case Activity::kDmaSubmit:
      return submissions_[event.cause].add(event);
    case Activity::kAicpuDispatch:
      return dispatch_.add(event);
    case Activity::kKernelCall:
      return kernels_.add(event);
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
  const auto& submitted = submissions_[run.scheduler_cause];
  if (!submitted.end) return fail(ErrorCode::kNotFound, "no event tells of the submission");
  const auto& first = completions_[run.scheduler_cause];
  const auto& second = completions_[run.executor_cause];
  if (!first.end || !second.end) return fail(ErrorCode::kNotFound, "a launch has no completion");
  const auto complete = std::max(*first.end, *second.end);
  // A graph of which nothing runs on a core has none of the three in the middle.
  const auto sent = dispatch_.begin.value_or(complete);
  const auto begun = kernels_.begin.value_or(complete);
  const auto ended = kernels_.end.value_or(complete);
  const std::pair<const char*, Instant> milestones[] = {{"submit", *submitted.end},
                                                        {"queue", *scheduler.begin},
                                                        {"aicpu", sent},
                                                        {"dispatch", begun},
                                                        {"cores", ended},
                                                        {"completion", complete},
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

void RunBreakdown::report(const std::string& prefix, Context& context) const {
  if (breakdown_.parts.empty()) return;
  report_parts(context, prefix + "breakdown.", "us", breakdown_.parts, called_,
               {"From the host's call to its return"}, cause_);
  report_figures(context, prefix, kOfRun, *run_span());
}

MeasuredTime RunBreakdown::measured_cores() const {
  MeasuredTime time{cores(), {}};
  if (const auto span = cores_span()) time.spans.push_back(*span);
  return time;
}

}  // namespace npu::workloads
