// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake/fake_scheduler.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tests/support/fake/hardware_section.hpp"

namespace npu::test {
namespace {

struct CurrentTask {
  const FakeScheduler* scheduler = nullptr;
  std::size_t id = 0;
};
thread_local CurrentTask current_task;

}  // namespace

FakeScheduler::Mode FakeScheduler::mode_of_environment() {
  const char* const wanted = std::getenv("NPU_FAKE_THREADS");
  const bool parallel = wanted != nullptr && std::string_view(wanted) == "parallel";
  return parallel ? Mode::kParallel : Mode::kOneAtATime;
}

FakeScheduler::FakeScheduler(Mode mode) : mode_(mode) {
  tasks_.push_back(std::make_unique<TaskState>());
  tasks_[0]->name = "main";
}

FakeScheduler::~FakeScheduler() {
  for (std::size_t task = 1; task < tasks_.size(); ++task) join(task);
}

std::size_t FakeScheduler::current() const {
  return current_task.scheduler == this ? current_task.id : 0;
}

Picoseconds FakeScheduler::slowness() const {
  if (mode_ == Mode::kOneAtATime) return Picoseconds();
  return static_cast<std::int64_t>(current()) * 1_ns;
}

FakeScheduler::TaskState& FakeScheduler::state(std::size_t id) const {
  const HardwareSection section(*this);
  return *tasks_[id];
}

bool FakeScheduler::has_room() const {
  const HardwareSection section(*this);
  return tasks_.size() < task_limit_;
}

platform::CpuUsage FakeScheduler::usage(std::size_t task) const {
  const HardwareSection section(*this);
  return tasks_[task]->usage;
}

void FakeScheduler::at(Instant instant, std::function<void()> handler) {
  const HardwareSection section(*this);
  handlers_.emplace(std::max(instant, now()), std::move(handler));
}

void FakeScheduler::advance(Picoseconds time) {
  poll_until(now() + time, [] { return false; });
}

bool FakeScheduler::poll_until(Instant deadline, const std::function<bool()>& ready) {
  const Instant begin = now();
  const bool result = wait(deadline, ready);
  const HardwareSection section(*this);
  tasks_[current()]->usage.busy += now() - begin;
  return result;
}

bool FakeScheduler::block_until(Instant deadline, const std::function<bool()>& ready) {
  const Instant begin = now();
  const bool result = wait(deadline, ready);
  {
    const HardwareSection section(*this);
    auto& usage = tasks_[current()]->usage;
    usage.idle += now() - begin;
    ++usage.context_switches;
  }
  advance(context_switch_);
  return result;
}

bool FakeScheduler::wait(Instant deadline, const std::function<bool()>& ready) {
  HardwareSection section(*this);
  auto& task = *tasks_[current()];
  if (ready()) return true;
  task.waiting = true;
  task.deadline = deadline;
  task.ready = &ready;
  --active_;
  schedule();
  task.released.wait(section.lock(), [&] { return !task.waiting; });
  return ready();
}

void FakeScheduler::release(TaskState& task) {
  task.waiting = false;
  ++active_;
  task.released.notify_one();
}

// One, or all, by the mode. False: nobody is ready.
bool FakeScheduler::release_ready() {
  bool any = false;
  for (const auto& task : tasks_) {
    if (!task->waiting || !(*task->ready)()) continue;
    release(*task);
    if (mode_ == Mode::kOneAtATime) return true;
    any = true;
  }
  return any;
}

void FakeScheduler::schedule() {
  if (active_ > 0 && mode_ == Mode::kOneAtATime) return;
  release_ready();
  while (active_ == 0) {
    pass_time();
    if (active_ == 0) release_ready();
  }
}

// To the next event of a device, or to the first deadline of a task.
void FakeScheduler::pass_time() {
  TaskState* first = nullptr;
  for (const auto& task : tasks_) {
    if (task->waiting && (first == nullptr || task->deadline < first->deadline)) first = task.get();
  }
  const bool has_task = first != nullptr && first->deadline < Instant::never();
  if (!handlers_.empty() && (!has_task || handlers_.begin()->first <= first->deadline)) {
    const auto handler = std::move(handlers_.begin()->second);
    now_ = std::max(now(), handlers_.begin()->first);
    handlers_.erase(handlers_.begin());
    return handler();
  }
  if (!has_task) {
    std::fputs("FakeScheduler: every task waits for ever\n", stderr);
    std::abort();
  }
  now_ = std::max(now(), first->deadline);
  if (mode_ == Mode::kOneAtATime) return release(*first);
  for (const auto& task : tasks_) {
    if (task->waiting && task->deadline <= now()) release(*task);
  }
}

std::size_t FakeScheduler::spawn(std::string name, std::function<void()> body) {
  std::size_t id = 0;
  TaskState* task = nullptr;
  {
    const HardwareSection section(*this);
    id = tasks_.size();
    tasks_.push_back(std::make_unique<TaskState>());
    task = tasks_.back().get();
    task->name = std::move(name);
    // Runnable from now on: waits for a time that has come.
    static const std::function<bool()> kAlways = [] { return true; };
    task->waiting = mode_ == Mode::kOneAtATime;
    task->ready = &kAlways;
    if (!task->waiting) ++active_;
  }
  task->thread = std::thread([this, id, run = std::move(body)] { body_of(id, run); });
  return id;
}

void FakeScheduler::body_of(std::size_t id, const std::function<void()>& body) {
  current_task = {this, id};
  {
    HardwareSection section(*this);
    auto& task = *tasks_[id];
    task.released.wait(section.lock(), [&] { return !task.waiting; });
  }
  body();
  const HardwareSection section(*this);
  tasks_[id]->finished = true;
  --active_;
  schedule();
}

void FakeScheduler::join(std::size_t id) {
  auto& task = state(id);
  if (!task.thread.joinable()) return;
  wait(Instant::never(), [&] { return task.finished; });
  task.thread.join();
}

}  // namespace npu::test
