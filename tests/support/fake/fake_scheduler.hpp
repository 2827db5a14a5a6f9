// SPDX-License-Identifier: Apache-2.0
// Virtual time for the fake platform. Tasks are threads; time passes only while every task waits in
// one of the calls below.
//
// kOneAtATime: one task runs at a time, lowest id first, so every run is the same.
// kParallel: every task that need not wait runs, so that ThreadSanitizer sees what the driver
// itself puts in order. A single task sees no difference.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "npu/base/result.hpp"
#include "npu/base/units.hpp"
#include "npu/platform/time.hpp"

namespace npu::test {

class FakeScheduler {
 public:
  enum class Mode { kOneAtATime, kParallel };

  // kParallel if NPU_FAKE_THREADS is "parallel" in the environment.
  static Mode mode_of_environment();

  explicit FakeScheduler(Mode mode = mode_of_environment());
  ~FakeScheduler();
  FakeScheduler(const FakeScheduler&) = delete;
  FakeScheduler& operator=(const FakeScheduler&) = delete;

  Instant now() const { return now_.load(std::memory_order_relaxed); }
  // What the devices do later. First come, first served at one time.
  void at(Instant instant, std::function<void()> handler);

  // The calling task computes for `time`.
  void advance(Picoseconds time);
  // The calling task computes until `ready` or `deadline`; true if ready. `ready` is called inside
  // a HardwareSection, by any task.
  bool poll_until(Instant deadline, const std::function<bool()>& ready);
  // The same without using the CPU, at the price of a context switch.
  bool block_until(Instant deadline, const std::function<bool()>& ready);

  std::size_t spawn(std::string name, std::function<void()> body);
  void join(std::size_t task);
  platform::CpuUsage usage(std::size_t task) const;
  // Of the calling task; 0 for a thread that the scheduler has not made.
  std::size_t current() const;
  // How much longer than another's a round of the calling task takes. In parallel every task is a
  // little slower than the one before it: two that spin in step would meet at one instant for ever.
  Picoseconds slowness() const;
  void set_context_switch(Picoseconds time) { context_switch_ = time; }
  void set_task_limit(std::size_t limit) { task_limit_ = limit; }
  bool has_room() const;

 private:
  friend class HardwareSection;

  struct TaskState {
    std::string name;
    std::thread thread;
    bool finished = false;
    bool waiting = false;
    Instant deadline;
    const std::function<bool()>* ready = nullptr;
    std::condition_variable_any released;
    platform::CpuUsage usage;
  };

  bool wait(Instant deadline, const std::function<bool()>& ready);
  void body_of(std::size_t id, const std::function<void()>& body);
  TaskState& state(std::size_t id) const;
  // Under the lock: lets those run who may.
  void schedule();
  bool release_ready();
  void release(TaskState& task);
  void pass_time();

  const Mode mode_;
  mutable std::recursive_mutex machine_;
  std::size_t active_ = 1;  // tasks that do not wait; task 0 is the thread that made the scheduler
  std::vector<std::unique_ptr<TaskState>> tasks_;
  std::multimap<Instant, std::function<void()>> handlers_;
  std::atomic<Instant> now_{Instant()};
  Picoseconds context_switch_ = 5_us;
  std::size_t task_limit_ = 65;
};

}  // namespace npu::test
