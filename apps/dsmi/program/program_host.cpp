// SPDX-License-Identifier: Apache-2.0
#include "apps/dsmi/program/program_host.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <thread>

#include "apps/dsmi/client/wall_host.hpp"
#include "apps/dsmi/program/program_calls.hpp"

namespace npu::dsmi {
namespace {

using compat::Call;

class ProgramClock : public platform::Clock {
 public:
  Instant now() override {
    const auto now = ask_npusim<Call::kManageTime>();
    return now ? Instant(Picoseconds(static_cast<std::int64_t>(now->number))) : wall_clock().now();
  }
  void relax(ConstByteSpan, Instant) override { std::this_thread::yield(); }
  void sleep_until(Instant deadline) override {
    const auto left = deadline == Instant::never() ? Picoseconds::max() : deadline - now();
    const auto length = static_cast<std::uint64_t>(std::max<std::int64_t>(left.count(), 0)) / 1000;
    // Nobody there any more: whoever looks again and again does not use up a core.
    if (!ask_npusim<Call::kSleep>({length})) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
};

// Who came first is first: a thread that has it may be in a call of npusim, and what others do then
// does not depend on which of them the kernel wakes sooner.
class ProgramMutex : public platform::Mutex {
 public:
  void lock() override {
    const sigset_t before = hold_signals();
    {
      std::unique_lock<std::mutex> held(mutex_);
      const auto mine = came_++;
      turn_.wait(held, [&] { return mine == served_; });
    }
    before_ = before;
  }
  bool try_lock_until(Instant deadline) override {
    static_cast<void>(deadline);
    const sigset_t before = hold_signals();
    {
      const std::lock_guard<std::mutex> held(mutex_);
      if (came_ == served_) {
        ++came_;
        before_ = before;
        return true;
      }
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return false;
  }
  void unlock() override {
    const sigset_t before = before_;
    {
      const std::lock_guard<std::mutex> held(mutex_);
      ++served_;
      turn_.notify_all();
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

 private:
  static sigset_t hold_signals() {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    return before;
  }

  std::mutex mutex_;  // of both numbers
  std::condition_variable turn_;
  std::uint64_t came_ = 0, served_ = 0;
  sigset_t before_{};  // of the thread that has it
};

class ProgramTasks : public platform::Tasks {
 public:
  Result<std::unique_ptr<platform::Task>> spawn(std::string name,
                                                std::function<void()> body) override {
    return wall_tasks().spawn(std::move(name), std::move(body));
  }
  std::unique_ptr<platform::Mutex> make_mutex() override {
    return std::make_unique<ProgramMutex>();
  }
  std::unique_ptr<platform::Condition> make_condition() override {
    return wall_tasks().make_condition();
  }
  platform::CpuUsage cpu_usage() override { return {}; }
};

}  // namespace

platform::Clock& program_clock() {
  static ProgramClock clock;
  return clock;
}

platform::Tasks& program_tasks() {
  static ProgramTasks tasks;
  return tasks;
}

}  // namespace npu::dsmi
