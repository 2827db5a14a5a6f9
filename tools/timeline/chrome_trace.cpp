// SPDX-License-Identifier: Apache-2.0
#include "tools/timeline/chrome_trace.hpp"

#include <algorithm>
#include <utility>

#include "tools/timeline/cause.hpp"

namespace npu::timeline {
namespace {

using platform::Activity;
using platform::Category;
using platform::Flow;
using Arrow = EventText::Arrow;

constexpr unsigned kBeforeShift = 32;  // of kDmaSubmit's detail

bool is_wait_that_timed_out(const platform::TraceEvent& event) {
  return event.activity == Activity::kEventWait &&
         (event.detail >> platform::kWaitTimedOut & 1U) != 0;
}

bool is_fine(Activity activity) {
  const Category category = platform::row_of(activity).category;
  return category == Category::kL2 || category == Category::kHbm ||
         activity == Activity::kTranslation || activity == Activity::kCopyPath;
}

}  // namespace

ChromeTrace::ChromeTrace(ByteSink& out, Filter filter, TrackName track_name)
    : out_(out),
      filter_(std::move(filter)),
      is_all_(filter_.is_all()),
      track_name_(std::move(track_name)),
      event_text_(text_) {
  text_.raw("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
}

ChromeTrace::Shown ChromeTrace::shown(const platform::TraceEvent& event) {
  const std::size_t index =
      event.track * platform::kActivities + static_cast<std::size_t>(event.activity);
  if (index >= shown_.size()) shown_.resize((event.track + 1) * platform::kActivities);
  auto& known = shown_[index];
  if (known == Shown::kUnknown) {
    const bool wanted = filter_.covers(track_name_(event.track), event.activity);
    const bool named = !filter_.units.empty() || !is_fine(event.activity);
    known = !wanted ? Shown::kNot : named ? Shown::kSlice : Shown::kCounter;
  }
  return filter_.covers(event) ? known : Shown::kNot;
}

void ChromeTrace::on_event(const platform::TraceEvent& event) {
  if (event.activity == Activity::kTask || event.activity == Activity::kTaskEdge) {
    tasks_.declare(event);
  }
  if (event.activity == Activity::kDmaSubmit &&
      ids_.submitted(event.cause, event.detail >> kBeforeShift)) {
    begun_.forget(event.cause);
  }
  if (!status_) return;
  const Shown as = shown(event);
  if (as == Shown::kNot) return;
  ++events_;
  rates_.add(event);
  if (as == Shown::kCounter) return;
  const Thread thread =
      threads_.of(event, track_name_, [this](const Threads::News& news) { tell(news); });
  if (event.activity == Activity::kKernelCall) {
    call(event, thread);
  } else {
    event_text_.slice(event, thread, 0);
    flow(event, thread);
  }
  flush_if_full();
}

void ChromeTrace::begin_event(char phase, Thread thread) {
  text_.raw(is_first_ ? "\n{\"ph\":\"" : ",\n{\"ph\":\"");
  is_first_ = false;
  text_.raw(std::string_view(&phase, 1));
  text_.raw("\",\"pid\":");
  text_.number(thread.process);
  if (thread.number == 0) return;
  text_.raw(",\"tid\":");
  text_.number(thread.number);
}

// Viewers bind an arrow to the slice that its time lies in.
void ChromeTrace::flow(const platform::TraceEvent& event, Thread thread) {
  const Flow flow = platform::row_of(event.activity).flow;
  if (flow == Flow::kNone || event.cause == 0 || event.begin == event.end) return;
  if (flow == Flow::kBegin) return begin_flows(event, thread);
  if (!is_all_ && !begun_.holds(event.cause)) return;
  switch (flow) {
    case Flow::kStep:
      return event_text_.arrow('t', Arrow::kRequest, ids_.of(event.cause), thread, event.begin);
    case Flow::kEnd:
      if (is_wait_that_timed_out(event)) {
        return event_text_.arrow('t', Arrow::kRequest, ids_.of(event.cause), thread, event.begin);
      }
      return event_text_.arrow('f', Arrow::kRequest, ids_.of(event.cause), thread,
                               event.end - Picoseconds(1));
    default:
      return;
  }
}

// One arrow for each entry that the call submits.
void ChromeTrace::begin_flows(const platform::TraceEvent& event, Thread thread) {
  const std::uint64_t before = std::min(event.detail >> kBeforeShift, cause_index(event.cause));
  for (std::uint64_t cause = event.cause - before; cause <= event.cause; ++cause) {
    if (!filter_.covers_cause(cause)) continue;
    if (!is_all_) begun_.add(cause);
    event_text_.arrow('s', Arrow::kRequest, ids_.of(cause), thread, event.begin);
  }
}

// A kernel_call: an arrow from each task whose result its task needs.
void ChromeTrace::call(const platform::TraceEvent& event, Thread thread) {
  auto* const task = tasks_.find(event);
  event_text_.slice(event, thread, task == nullptr ? 0 : task->cause);
  if (task == nullptr || event.begin == event.end) return;
  for (const auto producer : task->producers) {
    const auto* const from = tasks_.find(*task, producer);
    if (from == nullptr || from->ended.number == 0) continue;
    const std::uint64_t id = tasks_.new_arrow();
    event_text_.arrow('s', Arrow::kTask, id, from->ended, from->end - Picoseconds(1));
    event_text_.arrow('f', Arrow::kTask, id, thread, event.begin);
  }
  task->ended = thread;
  task->end = event.end;
}

void ChromeTrace::tell(const Threads::News& news) {
  const bool is_process = news.thread.number == 0;
  if (!is_process) event_text_.learn(news.thread);
  begin_event('M', news.thread);
  text_.raw(is_process ? ",\"name\":\"process_name\",\"args\":{\"name\":"
                       : ",\"name\":\"thread_name\",\"args\":{\"name\":");
  text_.string(is_process ? news.process_name : news.thread_name);
  text_.raw("}}");
  begin_event('M', news.thread);
  text_.raw(is_process ? ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":"
                       : ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":");
  text_.number(is_process ? news.sort_index : news.thread.number);
  text_.raw("}}");
}

void ChromeTrace::complete() {
  rates_.for_each([this](const Rates::Sample& sample) {
    const auto track = track_name_(sample.track);
    const auto process = threads_.process(track.substr(0, track.find('.')), sample.category,
                                          [this](const Threads::News& news) { tell(news); });
    begin_event('C', {process, 0});
    text_.raw(",\"ts\":");
    text_.microseconds(sample.when.since_power_up());
    text_.raw(",\"name\":");
    text_.string(track + sample.what);
    text_.raw(",\"args\":{\"");
    text_.raw(sample.unit);
    text_.raw("\":");
    text_.number(sample.value);
    text_.raw("}}");
    flush_if_full();
  });
}

Status ChromeTrace::finish(const About& about) {
  text_.raw("\n],\"otherData\":{");
  const char* comma = "";
  for (const auto& [name, value] : about) {
    text_.raw(comma);
    text_.string(name);
    text_.raw(":");
    text_.string(value);
    comma = ",";
  }
  text_.raw("}}\n");
  write(text_.size());
  if (status_) status_ = out_.finish();
  return status_;
}

// Whole blocks: a file system takes them with less work than what begins or ends amid a page.
void ChromeTrace::flush_if_full() {
  if (text_.size() >= kBlock) write(text_.size() / kBlock * kBlock);
}

void ChromeTrace::write(std::size_t bytes) {
  if (status_) {
    status_ = out_.append({reinterpret_cast<const std::byte*>(text_.text().data()), bytes});
  }
  text_.drop_front(bytes);
}

}  // namespace npu::timeline
