// SPDX-License-Identifier: Apache-2.0
// Virtual time for the fake platform. Tasks are threads of which one at a time holds the baton;
// it changes hands only inside the calls below, lowest task id first, so every run is the same.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "npu/base/result.hpp"
#include "npu/base/units.hpp"
#include "npu/platform/time.hpp"

namespace npu::test {

class FakeScheduler {
 public:
  FakeScheduler();
  ~FakeScheduler();
  FakeScheduler(const FakeScheduler&) = delete;
  FakeScheduler& operator=(const FakeScheduler&) = delete;

  Instant now() const { return now_; }
  // What the devices do later. First come, first served at one time.
  void at(Instant instant, std::function<void()> handler);

  // The calling task computes for `time`.
  void advance(Picoseconds time);
  // The calling task computes until `ready` or `deadline`; true if ready.
  bool poll_until(Instant deadline, const std::function<bool()>& ready);
  // The same without using the CPU, at the price of a context switch.
  bool block_until(Instant deadline, const std::function<bool()>& ready);

  std::size_t spawn(std::string name, std::function<void()> body);
  void join(std::size_t task);
  platform::CpuUsage usage(std::size_t task) const { return tasks_[task]->usage; }
  std::size_t current() const { return running_; }
  void set_context_switch(Picoseconds time) { context_switch_ = time; }
  void set_task_limit(std::size_t limit) { task_limit_ = limit; }
  bool has_room() const { return tasks_.size() < task_limit_; }

 private:
  struct TaskState {
    std::string name;
    std::thread thread;
    bool finished = false;
    bool waiting = false;
    Instant deadline;
    const std::function<bool()>* ready = nullptr;
    platform::CpuUsage usage;
  };

  bool wait(Instant deadline, const std::function<bool()>& ready);
  void hand_over(std::unique_lock<std::mutex>& lock, std::size_t self);
  std::size_t choose_next();

  mutable std::mutex mutex_;
  std::condition_variable baton_;
  std::size_t running_ = 0;  // task 0 is the thread that made the scheduler
  std::vector<std::unique_ptr<TaskState>> tasks_;
  std::multimap<Instant, std::function<void()>> handlers_;
  Instant now_;
  Picoseconds context_switch_ = 5_us;
  std::size_t task_limit_ = 65;
};

}  // namespace npu::test
