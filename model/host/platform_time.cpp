// SPDX-License-Identifier: Apache-2.0
// HostPlatform: clock, poll loops, tasks and their synchronisation.
#include <algorithm>

#include "model/host/platform.hpp"
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

class HostTaskHandle : public platform::Task {
 public:
  HostTaskHandle(HostCpus& cpus, std::shared_ptr<HostTask> task)
      : cpus_(cpus), task_(std::move(task)) {}
  ~HostTaskHandle() override { cpus_.join(*task_); }
  void join() override { cpus_.join(*task_); }
  platform::CpuUsage cpu_usage() const override { return task_->usage; }

 private:
  HostCpus& cpus_;
  std::shared_ptr<HostTask> task_;
};

// Taken and given back at the task's local time: others run up to it first.
class HostMutex : public platform::Mutex {
 public:
  HostMutex(HostCpus& cpus, Agenda& agenda) : cpus_(cpus), agenda_(agenda) {}
  void lock() override { acquire(UINT64_MAX); }
  bool try_lock_until(Instant deadline) override { return acquire(deadline_ticks(deadline)); }
  void unlock() override {
    sc_assert(held_);
    cpus_.synchronise_with_tasks();
    held_ = false;
    if (waiters_ > 0) agenda_.notify(released_);
  }

 private:
  bool acquire(SimTime deadline) {
    cpus_.synchronise_with_tasks();
    while (held_) {
      ++waiters_;
      const bool released = cpus_.block(
          released_, deadline, [this] { return !held_; }, "a mutex");
      --waiters_;
      // Woken, but another task that waits was faster: there may be time left.
      if (!released && held_ && sim_now() >= deadline) return false;
    }
    held_ = true;
    cpus_.charge(cpus_.config().lock);
    return true;
  }

  HostCpus& cpus_;
  Agenda& agenda_;
  bool held_ = false;
  unsigned waiters_ = 0;
  sc_core::sc_event released_;
};

class HostCondition : public platform::Condition {
 public:
  HostCondition(HostCpus& cpus, Agenda& agenda) : cpus_(cpus), agenda_(agenda) {}
  Status wait(platform::Mutex& mutex, Instant deadline) override {
    cpus_.synchronise_with_tasks();
    const std::uint64_t seen = generation_;  // what is notified from now on is meant for us, too
    mutex.unlock();
    ++waiters_;
    const bool woken = cpus_.block(
        notified_, deadline_ticks(deadline), [&] { return generation_ != seen; }, "a condition");
    --waiters_;
    mutex.lock();
    if (!woken) return fail(ErrorCode::kTimeout, "condition not notified before the deadline");
    return {};
  }
  void notify_all() override {
    cpus_.synchronise();
    ++generation_;
    if (waiters_ > 0) agenda_.notify(notified_);
  }

 private:
  HostCpus& cpus_;
  Agenda& agenda_;
  std::uint64_t generation_ = 0;
  unsigned waiters_ = 0;
  sc_core::sc_event notified_;
};

}  // namespace

Instant HostPlatform::now() {
  return instant(cpus_.local_now());
}

// The loop has looked at `watched` and does so again after each whole round: its own instructions
// and the pause. Skipping ahead lands on the first such look that sees a write, or the deadline,
// behind it. Where instructions take time a loop is known by two rounds that were the same.
void HostPlatform::relax(ConstByteSpan watched, Instant deadline) {
  const SimTime pause = ticks(cpus_.config().poll_round);
  const SimTime start = cpus_.local_now();
  const SimTime limit = deadline_ticks(deadline);
  const SimTime since = sim_now();
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

void HostPlatform::trace_poll(SimTime begin, std::uint64_t rounds) {
  const auto& task = cpus_.current();
  simulation_.emit(task.track, platform::Activity::kPoll, begin, cpus_.local_now(), task.cause, 0,
                   rounds);
}

void HostPlatform::sleep_until(Instant deadline) {
  const sc_core::sc_event never;
  drain_combining();
  cpus_.block(
      never, deadline_ticks(deadline), [] { return false; }, "a timer");
}

Result<std::unique_ptr<platform::Task>> HostPlatform::spawn(std::string name,
                                                            std::function<void()> body) {
  cpus_.charge(cpus_.config().call);
  cpus_.synchronise();
  return std::make_unique<HostTaskHandle>(cpus_, cpus_.spawn(std::move(name), std::move(body)));
}

std::unique_ptr<platform::Mutex> HostPlatform::make_mutex() {
  return std::make_unique<HostMutex>(cpus_, simulation_.agenda);
}

std::unique_ptr<platform::Condition> HostPlatform::make_condition() {
  return std::make_unique<HostCondition>(cpus_, simulation_.agenda);
}

platform::CpuUsage HostPlatform::cpu_usage() {
  cpus_.synchronise();
  return cpus_.current().usage;
}

}  // namespace npu::model
