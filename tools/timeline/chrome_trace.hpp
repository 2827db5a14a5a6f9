// SPDX-License-Identifier: Apache-2.0
// Writes events as they come in the JSON of Chrome's trace viewer, which Perfetto and
// chrome://tracing open (docs/timeline.md has what is in it). Slices with typed arguments, an arrow
// per request from its submission over doorbell, engine and completion to who waited, one per task
// from its producers, and bytes per second of links and memories as counters. Accesses of L2, HBM
// and TLB are counters alone unless the filter names them: they are most of all events. Memory does
// not grow with the number of events.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "npu/platform/trace.hpp"
#include "tools/timeline/arrow_ids.hpp"
#include "tools/timeline/begun_requests.hpp"
#include "tools/timeline/byte_sink.hpp"
#include "tools/timeline/event_text.hpp"
#include "tools/timeline/filter.hpp"
#include "tools/timeline/json_writer.hpp"
#include "tools/timeline/rates.hpp"
#include "tools/timeline/task_flows.hpp"
#include "tools/timeline/threads.hpp"

namespace npu::timeline {

// The name of a track, as TraceSource::track_name().
using TrackName = std::function<std::string(std::uint32_t track)>;

// What stands at the end of the file under "otherData".
using About = std::vector<std::pair<std::string, std::string>>;

class ChromeTrace : public platform::TraceSink {
 public:
  ChromeTrace(ByteSink& out, Filter filter, TrackName track_name);

  // Shown in names of processes and threads; before the first event.
  void set_bus_addresses(BusAddresses addresses) {
    threads_.set_bus_addresses(std::move(addresses));
  }
  void on_event(const platform::TraceEvent& event) override;
  // Once, behind the last event: the counters. The last call of `track_name`.
  void complete();
  // Once, behind complete(): the end of the file. The error that ended writing, if one did: from
  // then on events were dropped.
  Status finish(const About& about);

  std::uint64_t events() const { return events_; }  // written

 private:
  static constexpr std::size_t kBlock = std::size_t{1} << 18;
  enum class Shown : std::uint8_t { kUnknown, kNot, kCounter, kSlice };
  Shown shown(const platform::TraceEvent& event);
  void flow(const platform::TraceEvent& event, Thread thread);
  void begin_flows(const platform::TraceEvent& event, Thread thread);
  void call(const platform::TraceEvent& event, Thread thread);
  void tell(const Threads::News& news);
  void begin_event(char phase, Thread thread);
  void flush_if_full();
  void write(std::size_t bytes);

  ByteSink& out_;
  const Filter filter_;
  const bool is_all_;  // of the filter
  const TrackName track_name_;
  JsonWriter text_;
  EventText event_text_;
  Threads threads_;
  Rates rates_;
  TaskFlows tasks_;
  BegunRequests begun_;
  ArrowIds ids_;
  std::vector<Shown> shown_;  // by track and activity
  Status status_;
  std::uint64_t events_ = 0;
  bool is_first_ = true;
};

}  // namespace npu::timeline
