// SPDX-License-Identifier: Apache-2.0
#include "timeline/chrome_trace.hpp"

#include <algorithm>
#include <utility>

#include "timeline/cause.hpp"
#include "timeline/detail_text.hpp"

namespace npu::timeline {
namespace {

using platform::Activity;
using platform::Category;
using platform::Flow;

constexpr std::uint64_t kRingEntries = 4096;  // of the DMA ring

bool is_fine(Activity activity) {
  const Category category = platform::row_of(activity).category;
  return category == Category::kL2 || category == Category::kHbm ||
         activity == Activity::kTranslation;
}

}  // namespace

ChromeTrace::ChromeTrace(ByteSink& out, Filter filter, TrackName track_name)
    : out_(out), filter_(std::move(filter)), track_name_(std::move(track_name)) {
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
  if (!status_) return;
  const Shown as = shown(event);
  if (as == Shown::kNot) return;
  ++events_;
  rates_.add(event);
  if (as == Shown::kCounter) return;
  const Thread thread =
      threads_.of(event, track_name_, [this](const Threads::News& news) { tell(news); });
  slice(event, thread);
  flow(event, thread);
  if (event.activity == Activity::kKernelCall) task_flow(event, thread);
  flush_if_full();
}

void ChromeTrace::begin_event(char phase, Thread thread) {
  text_.raw(is_first_ ? "\n{\"ph\":\"" : ",\n{\"ph\":\"");
  is_first_ = false;
  text_.raw({&phase, 1});
  text_.raw("\",\"pid\":");
  text_.number(thread.process);
  if (thread.number == 0) return;
  text_.raw(",\"tid\":");
  text_.number(thread.number);
}

void ChromeTrace::slice(const platform::TraceEvent& event, Thread thread) {
  const auto& row = platform::row_of(event.activity);
  begin_event('X', thread);
  text_.raw(",\"ts\":");
  text_.microseconds(event.begin);
  text_.raw(",\"dur\":");
  text_.microseconds(event.end - event.begin);
  text_.raw(",\"name\":\"");
  text_.raw(row.name);
  text_.raw("\",\"cat\":\"");
  text_.raw(platform::to_string(row.category));
  text_.raw("\",\"args\":{");
  arguments(event);
  text_.raw("}}");
}

void ChromeTrace::arguments(const platform::TraceEvent& event) {
  const char* comma = "";
  const auto name = [&](std::string_view key) {
    text_.raw(comma);
    text_.raw("\"");
    text_.raw(key);
    text_.raw("\":");
    comma = ",";
  };
  if (event.cause != 0) {
    name("cause");
    text_.raw("\"");
    write_cause(text_, event.cause);
    text_.raw("\"");
    if (is_dma_cause(event.cause)) {
      name("ring_index");
      text_.number(cause_index(event.cause) % kRingEntries);
    }
  }
  if (event.bytes != 0) {
    name("bytes");
    text_.number(event.bytes);
  }
  for (const auto& field : platform::row_of(event.activity).fields) {
    if (field.bits == 0) break;
    name(field.name);
    write_field(text_, field, event.detail);
  }
  if (event.activity != Activity::kKernelCall) return;
  if (const auto* task = tasks_.find(event)) {
    name("task");
    text_.raw("\"");
    write_cause(text_, task->cause);
    text_.raw("\"");
  }
}

// Viewers bind an arrow to the slice that its time lies in.
void ChromeTrace::flow(const platform::TraceEvent& event, Thread thread) {
  const Flow flow = platform::row_of(event.activity).flow;
  if (flow == Flow::kNone || event.cause == 0 || event.begin == event.end) return;
  if (flow == Flow::kBegin) return begin_flows(event, thread);
  if (!filter_.is_all() && !begun_.holds(event.cause)) return;
  switch (flow) {
    case Flow::kStep:
      return arrow('t', event.cause, "request", thread, event.begin);
    case Flow::kEnd:
      return arrow('f', event.cause, "request", thread, event.end - Picoseconds(1));
    default:
      return;
  }
}

// One arrow for each entry that the call submits.
void ChromeTrace::begin_flows(const platform::TraceEvent& event, Thread thread) {
  constexpr unsigned kBeforeShift = 32;  // of kDmaSubmit's detail
  const std::uint64_t before = std::min(event.detail >> kBeforeShift, cause_index(event.cause));
  for (std::uint64_t cause = event.cause - before; cause <= event.cause; ++cause) {
    if (!filter_.covers_cause(cause)) continue;
    begun_.add(cause);
    arrow('s', cause, "request", thread, event.begin);
  }
}

void ChromeTrace::task_flow(const platform::TraceEvent& event, Thread thread) {
  if (event.begin == event.end) return;
  auto* const task = tasks_.find(event);
  if (task == nullptr) return;
  for (const auto producer : task->producers) {
    const auto* const from = tasks_.find(*task, producer);
    if (from == nullptr || from->ended.number == 0) continue;
    const std::uint64_t id = tasks_.new_arrow();
    arrow('s', id, "task", from->ended, from->end - Picoseconds(1));
    arrow('f', id, "task", thread, event.begin);
  }
  task->ended = thread;
  task->end = event.end;
}

void ChromeTrace::arrow(char phase, std::uint64_t id, const char* category, Thread thread,
                        Picoseconds when) {
  begin_event(phase, thread);
  text_.raw(",\"ts\":");
  text_.microseconds(when);
  text_.raw(",\"name\":\"");
  text_.raw(category);
  text_.raw("\",\"cat\":\"");
  text_.raw(category);
  text_.raw(phase == 'f' ? "\",\"bp\":\"e\",\"id\":\"" : "\",\"id\":\"");
  text_.number(id);
  text_.raw("\"}");
}

void ChromeTrace::tell(const Threads::News& news) {
  const bool is_process = news.thread.number == 0;
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
    text_.microseconds(sample.when);
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
  flush();
  if (status_) status_ = out_.finish();
  return status_;
}

void ChromeTrace::flush_if_full() {
  constexpr std::size_t kFull = 60'000;
  if (text_.size() >= kFull) flush();
}

void ChromeTrace::flush() {
  const auto text = text_.text();
  if (status_) {
    status_ = out_.append({reinterpret_cast<const std::byte*>(text.data()), text.size()});
  }
  text_.clear();
}

}  // namespace npu::timeline
