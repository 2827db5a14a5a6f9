// SPDX-License-Identifier: Apache-2.0
#include "tools/timeline/critical_path.hpp"

#include <algorithm>
#include <utility>

#include "tools/timeline/core_path.hpp"

namespace npu::timeline {
namespace {

using platform::Activity;
using platform::Category;
using Index = PathEvents::Index;
using Group = PathEvents::Group;
constexpr Index kNone = PathEvents::kNone;

constexpr int kFar = 16;  // events of a unit that are looked at for one of a kind

class Walk {
 public:
  Walk(const PathEvents& events, const PathEvents::TrackName& track_name, Instant end)
      : events_(events),
        track_name_(track_name),
        trail_(end.since_power_up().count()),
        cores_(events, track_name, trail_) {}

  std::vector<PathSegment> run() {
    host_ = last_host_track();
    while (now() > events_.known_from()) on_host();
    if (now() > 0) take(0, "not recorded: too many events", {});
    return trail_.finish();
  }
  std::vector<PathSegment> run_launches(std::int64_t begin) {
    Index last = static_cast<Index>(events_.size());
    while (last-- > 0) {
      if (is_program(at(last)) && at(last).end <= now() && at(last).end > begin) break;
    }
    if (last != kNone) through_request(last);
    take(begin, "launch", {});
    return trail_.finish();
  }

 private:
  void take(std::int64_t begin, std::string name, std::string unit) {
    trail_.take(begin, std::move(name), std::move(unit));
  }
  std::int64_t now() const { return trail_.now(); }
  const PathEvent& at(Index index) const { return events_[index]; }
  static std::string name_of(const PathEvent& event) {
    return std::string(platform::to_string(event.activity));
  }

  std::uint32_t last_host_track() const {
    std::uint32_t track = 0;
    std::int64_t last = -1;
    for (const auto each : events_.host_tracks()) {
      const Index index = events_.latest({Group::kTrack, each}, now());
      const std::int64_t end = index == kNone ? 0 : at(index).end;
      if (end > last) {
        last = end;
        track = each;
      }
    }
    return track;
  }

  // --- The host ----------------------------------------------------------------------------

  // One wait of the task and the software behind it.
  void on_host() {
    const Index wait = last_wait();
    if (wait == kNone) return software(events_.known_from());
    const PathEvent& event = at(wait);
    if (event.end < now()) software(event.end);
    const std::int64_t before = now();
    const bool is_for_request = event.activity == Activity::kPoll ||
                                (event.activity == Activity::kCpuIdle && event.cause != 0);
    if (is_for_request) through_request(answer_to(event));
    if (now() == before && event.activity == Activity::kCpuIdle && woken_by_task(event)) return;
    if (now() == before) take(event.begin, name_of(event), track_name_(event.track));
  }

  // Of the task's own waits, and accesses that it waits for, the one that ends or ended last.
  Index last_wait() const {
    Index best = kNone;
    for (const std::uint64_t list : {std::uint64_t{host_}, UINT64_MAX}) {
      const Group group{Group::kHostTask, list};
      Index each = events_.around(group, now());
      if (each == kNone) each = events_.latest(group, now());
      while (each != kNone && at(each).begin == at(each).end) {
        each = events_.latest(group, at(each).end, each);
      }
      if (each == kNone || at(each).begin >= now()) continue;
      if (best == kNone || std::min(at(each).end, now()) > std::min(at(best).end, now()))
        best = each;
    }
    return best;
  }

  void software(std::int64_t from) {
    from = std::max<std::int64_t>(from, 0);
    // Of a machine without host programs, or interrupted before they did anything.
    if (events_.host_tracks().empty()) return take(from, "no host task", {});
    while (now() > from) {
      const Group calls{Group::kDriverCalls, 0};
      const Index inside = events_.around(calls, now());
      const Index behind = events_.latest(calls, now() - 1);
      std::int64_t begin = from;
      if (inside != kNone) begin = std::max(begin, at(inside).begin);
      if (behind != kNone) begin = std::max(begin, at(behind).end);
      take(begin, inside == kNone ? "software" : "software in " + call_name(at(inside)),
           track_name_(host_));
    }
  }
  static std::string call_name(const PathEvent& call) {
    constexpr unsigned kCallShift = 56;
    const auto index = static_cast<std::size_t>(call.detail >> kCallShift);
    const bool named =
        call.activity == Activity::kDriverCall && index < platform::kDriverCallNames.size();
    return named ? std::string(platform::kDriverCallNames[index]) : name_of(call);
  }

  // Another task that ran until then has ended, notified or unlocked.
  bool woken_by_task(const PathEvent& idle) {
    Index best = kNone;
    for (const auto track : events_.host_tracks()) {
      if (track == host_) continue;
      const Group group{Group::kTrack, track};
      Index each = events_.latest(group, now());
      if (each == kNone || at(each).end <= idle.begin) continue;
      if (best == kNone || at(each).end > at(best).end) best = each;
    }
    if (best == kNone) return false;
    take(at(best).end, "wake-up", track_name_(host_));
    // Tasks that woke each other at one time do not go round.
    if (std::exchange(woken_at_, now()) != now()) turns_ = 0;
    if (++turns_ > events_.host_tracks().size()) return false;
    host_ = at(best).track;
    return true;
  }

  // --- A request ---------------------------------------------------------------------------

  // What the card did last for the request that `wait` is for. As long as that has only been
  // submitted, the waiter was woken by what came of another one.
  Index answer_to(const PathEvent& wait) const {
    const Index own = events_.latest({Group::kCause, wait.cause}, now());
    if (own != kNone && at(own).activity != Activity::kMmioWrite) return own;
    const Index signal = events_.latest({Group::kSignals, 0}, now());
    const bool is_in_wait = signal != kNone && at(signal).end > wait.begin;
    return is_in_wait ? signal : own;
  }

  void through_request(Index last) {
    if (last == kNone) return;
    take(at(last).end, name_of(at(last)) + " to waiter", {});
    for (Index index = last; index != kNone;) {
      const PathEvent& event = at(index);
      if (is_program(event) && cores_.knows(index)) {
        index = step_before(cores_.through(index));
        continue;
      }
      if (const Index inner = inside_of(index); inner != kNone) {
        take(at(inner).end, name_of(at(inner)) + " to end of " + name_of(event), {});
        index = inner;
        continue;
      }
      if (const Index ahead = ahead_of(index); ahead != kNone) {
        take(at(ahead).end, name_of(event), track_name_(event.track));
        index = ahead;
        continue;
      }
      index = step_before(index);
    }
  }
  // To what the event began after.
  Index step_before(Index index) {
    const PathEvent& event = at(index);
    take(event.begin, name_of(event), track_name_(event.track));
    const Index before = before_of(index);
    if (before != kNone) {
      take(at(before).end, name_of(at(before)) + " to " + name_of(event), {});
    }
    return before;
  }
  static bool is_program(const PathEvent& event) {
    return event.activity == Activity::kKernelBlock || event.activity == Activity::kKernelCall;
  }

  // What ended while the event waited, and ended its wait.
  Index ahead_of(Index index) const {
    switch (at(index).activity) {
      case Activity::kEngineStart:
        return ahead_in_engine(index);
      case Activity::kQueueWait:
        return ahead_in_queue(index);
      case Activity::kQueueDispatch:
        return ahead_on_core(index);
      default:
        return kNone;
    }
  }
  // A command that is dispatched to an engine begins when those before it are done there.
  Index ahead_in_engine(Index index) const {
    const PathEvent& event = at(index);
    const Group engine{Group::kTrack, event.track};
    Index each = events_.latest(engine, std::min(event.end, now()), index);
    while (each != kNone && at(each).end > event.begin &&
           (at(each).cause == event.cause || !is_work(at(each).activity))) {
      each = events_.latest(engine, at(each).end, each);
    }
    const bool is_ahead = each != kNone && at(each).end > event.begin && at(each).begin < now();
    return is_ahead ? each : kNone;
  }
  // An entry waits for those before it in its queue, or for a signal, which is written when what
  // the other queue has before it is done: the program or copy that ended last.
  Index ahead_in_queue(Index index) const {
    const PathEvent& event = at(index);
    const std::int64_t end = std::min(event.end, now());
    Index best = kNone;
    for (const auto activity : {Activity::kKernelBlock, Activity::kCompletion,
                                Activity::kAicpuDrain, Activity::kQueueComplete}) {
      const Index each = events_.latest(on_card(event, activity), end, index);
      if (each != kNone && at(each).end > event.begin) best = later(best, each);
    }
    return best;
  }
  // A launch waits until a core is free.
  Index ahead_on_core(Index index) const {
    const PathEvent& event = at(index);
    const Index block = events_.latest(on_card(event, Activity::kKernelBlock), event.end, index);
    const bool is_ahead = block != kNone && at(block).end == event.end &&
                          at(block).end > event.begin && event.end <= now();
    return is_ahead ? block : kNone;
  }
  static bool is_work(Activity activity) {
    return activity == Activity::kDataRead || activity == Activity::kDataWrite ||
           activity == Activity::kEnginePath || activity == Activity::kCompletion;
  }

  Index before_of(Index index) const {
    const PathEvent& event = at(index);
    switch (platform::row_of(event.activity).category) {
      case Category::kAicore:
        return before_on_core(index);
      case Category::kAicpu:
        return before_on_aicpu(index);
      default:
        break;
    }
    // That the host has issued.
    if (event.activity == Activity::kMmioWrite) return kNone;
    const Index ended = program_of(index);
    if (ended != kNone) return ended;
    const Index same = events_.latest({Group::kCause, event.cause}, event.begin, index);
    // An entry is not decoded before the one in front of it has been taken.
    if (event.activity == Activity::kQueueDecode) {
      return later(same, later(before_in_slot(index, Activity::kQueueDispatch),
                               before_in_slot(index, Activity::kQueueWait)));
    }
    // What is no request's own must not lead away from it.
    const bool is_unit =
        event.activity == Activity::kDataRead || event.activity == Activity::kDataWrite ||
        event.activity == Activity::kEnginePath || event.activity == Activity::kEngineStart;
    if (!is_unit) return same;
    return later(same, events_.latest({Group::kTrack, event.track}, event.begin, index));
  }

  // A launch is complete when its program has ended: there the way goes into the cores.
  Index program_of(Index index) const {
    const PathEvent& event = at(index);
    if (event.activity != Activity::kQueueComplete) return kNone;
    return events_.latest({Group::kPhases, event.cause}, event.begin, index);
  }

  // What a program, or a call of one, did last.
  Index inside_of(Index index) const {
    const PathEvent& event = at(index);
    if (event.activity != Activity::kKernelBlock && event.activity != Activity::kKernelCall) {
      return kNone;
    }
    const Index on_core =
        events_.latest({Group::kCore, events_.core_of(event.track)}, event.end, index);
    const Index phase = events_.latest({Group::kTrack, event.track}, event.end, index);
    const bool is_phase =
        phase != kNone && platform::row_of(at(phase).activity).category == Category::kAicpu;
    const Index inner = is_phase ? phase : on_core;
    const bool is_inside = inner != kNone && at(inner).begin >= event.begin &&
                           at(inner).begin < now() && at(inner).cause == event.cause;
    return is_inside ? inner : kNone;
  }

  Index before_on_core(Index index) const {
    const PathEvent& event = at(index);
    if (event.activity == Activity::kTaskSetup) {
      // The scheduler is busy with the task a little longer than the core waits for it.
      const Group dispatches = on_card(event, Activity::kAicpuDispatch);
      Index sent = events_.around(dispatches, event.begin);
      if (sent == kNone) sent = events_.latest(dispatches, event.begin, index);
      if (sent != kNone) return sent;
    }
    const Index dispatched = events_.latest({Group::kCause, event.cause}, event.begin, index);
    if (event.activity != Activity::kKernelBlock) return dispatched;
    // The block before on this core, if it had to wait for that.
    return later(dispatched, events_.latest({Group::kTrack, event.track}, event.begin, index));
  }
  // Between two phases a thread had nothing to do until a core told it that a task had ended.
  Index before_on_aicpu(Index index) const {
    const PathEvent& event = at(index);
    const Index own = events_.latest({Group::kTrack, event.track}, event.begin, index);
    if (own != kNone && at(own).end == event.begin) return own;
    const Index call = events_.latest(on_card(event, Activity::kKernelCall), event.begin, index);
    const Index best = later(own, call);
    if (best != kNone && (best == call || at(best).cause == event.cause)) return best;
    return events_.latest({Group::kCause, event.cause}, event.begin, index);
  }

  Index before_in_slot(Index index, Activity activity) const {
    const PathEvent& event = at(index);
    Index each = events_.latest({Group::kTrack, event.track}, event.begin, index);
    for (int i = 0; i < kFar && each != kNone && at(each).activity != activity; ++i) {
      each = events_.latest({Group::kTrack, event.track}, at(each).end, each);
    }
    return each != kNone && at(each).activity == activity ? each : kNone;
  }
  Group on_card(const PathEvent& event, Activity activity) const {
    return {Group::kCard, events_.card_and(event.track, activity)};
  }
  Index later(Index a, Index b) const {
    if (a == kNone) return b;
    if (b == kNone) return a;
    return at(b).end > at(a).end ? b : a;
  }

  const PathEvents& events_;
  const PathEvents::TrackName& track_name_;
  PathTrail trail_;
  CorePath cores_;
  std::uint32_t host_ = 0;      // track of the task
  std::int64_t woken_at_ = -1;  // by another task, last
  std::size_t turns_ = 0;       // tasks that were gone through at that time
};

}  // namespace

std::vector<PathSegment> critical_path(const PathEvents& events,
                                       const PathEvents::TrackName& track_name, Instant end) {
  return Walk(events, track_name, end).run();
}

std::vector<PathSegment> launch_path(const PathEvents& events,
                                     const PathEvents::TrackName& track_name, Instant begin,
                                     Instant end) {
  Walk walk(events, track_name, end);
  return clipped(walk.run_launches(begin.since_power_up().count()), begin, end);
}

}  // namespace npu::timeline
