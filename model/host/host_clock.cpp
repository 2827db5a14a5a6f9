// SPDX-License-Identifier: Apache-2.0
#include "model/host/host_clock.hpp"

#include <algorithm>

#include "npu/base/checked.hpp"

namespace npu::model {
namespace {

class WriteSignal : public MemoryWatcher {
 public:
  explicit WriteSignal(Agenda& agenda) : agenda_(agenda) {}
  void memory_written() override {
    if (when_ != UINT64_MAX) return;
    when_ = sim_now();
    agenda_.notify(written_);
  }
  SimTime when() const { return when_; }  // of the first write; UINT64_MAX: none
  const sc_core::sc_event& event() const { return written_; }

 private:
  Agenda& agenda_;
  SimTime when_ = UINT64_MAX;
  sc_core::sc_event written_;
};

}  // namespace

Instant HostClock::now() {
  return instant(cpus_.local_now());
}

// The loop has looked at `watched` and does so again after each whole round: its own instructions
// and the pause. Skipping ahead lands on the first such look that sees a write, or the deadline,
// behind it. Where instructions take time a loop is known by two rounds that were the same.
void HostClock::relax(ConstByteSpan watched, Instant deadline) {
  const SimTime pause = ticks(cpus_.config().poll_round);
  const SimTime start = cpus_.local_now();
  const SimTime limit = deadline_ticks(deadline);
  const SimTime since = sim_now();
  bus_.time_passes();
  auto& task = cpus_.current();
  auto& executed = cpus_.executed();
  PollRound& before = task.round;
  PollRound now{watched.data, limit, start, 0, executed.all()};
  bool is_known = !executed.is_known();
  if (!is_known && before.watched == watched.data && before.deadline == limit) {
    now.began = before.began;
    now.own = start - before.began;
    is_known = now.own == before.own;
  }
  const SimTime round = now.own + pause;
  SimTime rounds = 1;
  if (is_known && watched.size != 0 && limit > start && round != 0) {
    WriteSignal signal(simulation_.agenda);
    memory_.watches().watch(watched, signal);
    cpus_.watch(signal.event(), limit);
    memory_.watches().unwatch(signal);
    const SimTime seen = std::min({limit, signal.when(), sim_now()});
    if (seen > start) rounds = ceil_div(seen - now.began, round);
    if (executed.is_known()) executed.add((rounds - 1) * (now.executed - before.executed));
  }
  ++statistics_.poll_calls;
  statistics_.polls += rounds;
  cpus_.spin(since, now.began + rounds * round);
  trace_poll(start, rounds);
  now.began = sim_now();
  now.executed = executed.all();
  before = now;
}

void HostClock::trace_poll(SimTime begin, std::uint64_t rounds) {
  const auto& task = cpus_.current();
  simulation_.emit(task.track, platform::Activity::kPoll, begin, cpus_.local_now(), task.cause, 0,
                   rounds);
}

void HostClock::sleep_until(Instant deadline) {
  const sc_core::sc_event never;
  bus_.drain();
  cpus_.block(
      never, deadline_ticks(deadline), [] { return false; }, "a timer");
}

}  // namespace npu::model
