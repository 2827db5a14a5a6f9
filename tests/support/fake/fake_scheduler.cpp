// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake/fake_scheduler.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace npu::test {

FakeScheduler::FakeScheduler() {
  tasks_.push_back(std::make_unique<TaskState>());
  tasks_[0]->name = "main";
}

FakeScheduler::~FakeScheduler() {
  for (std::size_t task = 1; task < tasks_.size(); ++task) join(task);
}

void FakeScheduler::at(Instant instant, std::function<void()> handler) {
  handlers_.emplace(std::max(instant, now_), std::move(handler));
}

void FakeScheduler::advance(Picoseconds time) {
  poll_until(now_ + time, [] { return false; });
}

bool FakeScheduler::poll_until(Instant deadline, const std::function<bool()>& ready) {
  const Instant begin = now_;
  const bool result = wait(deadline, ready);
  tasks_[running_]->usage.busy += now_ - begin;
  return result;
}

bool FakeScheduler::block_until(Instant deadline, const std::function<bool()>& ready) {
  const Instant begin = now_;
  const bool result = wait(deadline, ready);
  auto& usage = tasks_[running_]->usage;
  usage.idle += now_ - begin;
  ++usage.context_switches;
  advance(context_switch_);
  return result;
}

bool FakeScheduler::wait(Instant deadline, const std::function<bool()>& ready) {
  std::unique_lock<std::mutex> lock(mutex_);
  const std::size_t self = running_;
  auto& task = *tasks_[self];
  if (ready()) return true;
  task.waiting = true;
  task.deadline = deadline;
  task.ready = &ready;
  hand_over(lock, self);
  task.waiting = false;
  return ready();
}

// Lets whoever is next run; returns when it is `self` again.
void FakeScheduler::hand_over(std::unique_lock<std::mutex>& lock, std::size_t self) {
  running_ = choose_next();
  if (running_ == self) return;
  baton_.notify_all();
  baton_.wait(lock, [&] { return running_ == self; });
}

std::size_t FakeScheduler::choose_next() {
  for (;;) {
    std::size_t first = tasks_.size();
    for (std::size_t id = 0; id < tasks_.size(); ++id) {
      const auto& task = *tasks_[id];
      if (!task.waiting) continue;
      if ((*task.ready)()) return id;
      if (first == tasks_.size() || task.deadline < tasks_[first]->deadline) first = id;
    }
    const bool has_task = first < tasks_.size() && tasks_[first]->deadline < Instant::never();
    if (!handlers_.empty() && (!has_task || handlers_.begin()->first <= tasks_[first]->deadline)) {
      auto handler = std::move(handlers_.begin()->second);
      now_ = std::max(now_, handlers_.begin()->first);
      handlers_.erase(handlers_.begin());
      handler();
      continue;
    }
    if (!has_task) {
      std::fputs("FakeScheduler: every task waits for ever\n", stderr);
      std::abort();
    }
    now_ = std::max(now_, tasks_[first]->deadline);
    return first;
  }
}

std::size_t FakeScheduler::spawn(std::string name, std::function<void()> body) {
  std::unique_lock<std::mutex> lock(mutex_);
  const std::size_t id = tasks_.size();
  tasks_.push_back(std::make_unique<TaskState>());
  auto& task = *tasks_.back();
  task.name = std::move(name);
  // Runnable from now on: waits for a time that has come.
  static const std::function<bool()> kAlways = [] { return true; };
  task.waiting = true;
  task.ready = &kAlways;
  task.thread = std::thread([this, id, body = std::move(body)] {
    {
      std::unique_lock<std::mutex> own(mutex_);
      baton_.wait(own, [&] { return running_ == id; });
      tasks_[id]->waiting = false;
    }
    body();
    std::unique_lock<std::mutex> own(mutex_);
    tasks_[id]->finished = true;
    running_ = choose_next();
    baton_.notify_all();
  });
  return id;
}

void FakeScheduler::join(std::size_t id) {
  auto& task = *tasks_[id];
  if (!task.thread.joinable()) return;
  wait(Instant::never(), [&] { return task.finished; });
  task.thread.join();
}

}  // namespace npu::test
