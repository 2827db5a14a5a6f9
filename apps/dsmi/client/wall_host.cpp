// SPDX-License-Identifier: Apache-2.0
#include "apps/dsmi/client/wall_host.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>

namespace npu::dsmi {
namespace {

using SteadyClock = std::chrono::steady_clock;

SteadyClock::time_point time_of(Instant instant) {
  if (instant == Instant::never()) return SteadyClock::time_point::max();
  return SteadyClock::time_point(std::chrono::nanoseconds(instant.count() / 1000));
}

class WallClock : public platform::Clock {
 public:
  Instant now() override {
    const auto since = SteadyClock::now().time_since_epoch();
    const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
    return Instant(Picoseconds(ns * 1000));
  }
  void relax(ConstByteSpan, Instant) override { std::this_thread::yield(); }
  void sleep_until(Instant deadline) override { std::this_thread::sleep_until(time_of(deadline)); }
};

class WallMutex : public platform::Mutex {
 public:
  void lock() override { mutex_.lock(); }
  bool try_lock_until(Instant deadline) override {
    return mutex_.try_lock_until(time_of(deadline));
  }
  void unlock() override { mutex_.unlock(); }

 private:
  std::timed_mutex mutex_;
};

class WallCondition : public platform::Condition {
 public:
  Status wait(platform::Mutex& mutex, Instant deadline) override {
    if (condition_.wait_until(mutex, time_of(deadline)) == std::cv_status::no_timeout) return {};
    return fail(ErrorCode::kTimeout, "a condition");
  }
  void notify_all() override { condition_.notify_all(); }

 private:
  std::condition_variable_any condition_;
};

class WallTask : public platform::Task {
 public:
  explicit WallTask(std::function<void()> body) : thread_(std::move(body)) {}
  ~WallTask() override { WallTask::join(); }
  WallTask(const WallTask&) = delete;
  WallTask& operator=(const WallTask&) = delete;
  void join() override {
    if (thread_.joinable()) thread_.join();
  }
  platform::CpuUsage cpu_usage() const override { return {}; }

 private:
  std::thread thread_;
};

class WallTasks : public platform::Tasks {
 public:
  Result<std::unique_ptr<platform::Task>> spawn(std::string name,
                                                std::function<void()> body) override {
    try {
      return std::make_unique<WallTask>(std::move(body));
    } catch (const std::system_error& error) {
      return fail(ErrorCode::kOutOfResources, name + ": " + error.what());
    }
  }
  std::unique_ptr<platform::Mutex> make_mutex() override { return std::make_unique<WallMutex>(); }
  std::unique_ptr<platform::Condition> make_condition() override {
    return std::make_unique<WallCondition>();
  }
  platform::CpuUsage cpu_usage() override { return {}; }
};

}  // namespace

platform::Clock& wall_clock() {
  static WallClock clock;
  return clock;
}

platform::Tasks& wall_tasks() {
  static WallTasks tasks;
  return tasks;
}

}  // namespace npu::dsmi
