// SPDX-License-Identifier: Apache-2.0
#include "driver/vfio/linux_time.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <system_error>
#include <thread>

namespace npu::driver::vfio {
namespace {

constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;

std::int64_t nanoseconds(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return time.tv_sec * kNanosecondsPerSecond + time.tv_nsec;
}

Picoseconds from_nanoseconds(std::int64_t count) {
  return Picoseconds(count * 1000);
}

// Of the calling thread, which began at `begin` (CLOCK_MONOTONIC, nanoseconds).
platform::CpuUsage thread_usage(std::int64_t begin) {
  platform::CpuUsage usage;
  const auto busy = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
  const auto idle = nanoseconds(CLOCK_MONOTONIC) - begin - busy;
  usage.busy = from_nanoseconds(busy);
  usage.idle = from_nanoseconds(std::max<std::int64_t>(idle, 0));
  rusage counters{};
  if (::getrusage(RUSAGE_THREAD, &counters) == 0) {
    usage.context_switches = static_cast<std::uint64_t>(counters.ru_nvcsw) +
                             static_cast<std::uint64_t>(counters.ru_nivcsw);
  }
  return usage;
}

thread_local std::int64_t thread_begin = nanoseconds(CLOCK_MONOTONIC);

class LinuxTask : public platform::Task {
 public:
  explicit LinuxTask(std::function<void()> body)
      : thread_([this, run = std::move(body)] {
          const auto begin = thread_begin;
          run();
          const auto usage = thread_usage(begin);
          const std::lock_guard<std::mutex> lock(mutex_);
          usage_ = usage;
        }) {}
  ~LinuxTask() override { join(); }
  void join() override {
    if (thread_.joinable()) thread_.join();
  }
  platform::CpuUsage cpu_usage() const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return usage_;
  }

 private:
  mutable std::mutex mutex_;
  platform::CpuUsage usage_;
  std::thread thread_;  // last: it uses the others
};

class LinuxMutex : public platform::Mutex {
 public:
  explicit LinuxMutex(platform::Clock& clock) : clock_(clock) {}
  void lock() override { mutex_.lock(); }
  bool try_lock_until(Instant deadline) override {
    for (;;) {
      if (mutex_.try_lock()) return true;
      const auto now = clock_.now();
      if (now >= deadline) return false;
      const auto time_left = std::min(deadline - now, Picoseconds(1_s));
      if (mutex_.try_lock_for(std::chrono::nanoseconds(time_left.count() / 1000 + 1))) return true;
    }
  }
  void unlock() override { mutex_.unlock(); }

 private:
  platform::Clock& clock_;
  std::timed_mutex mutex_;
};

class LinuxCondition : public platform::Condition {
 public:
  explicit LinuxCondition(platform::Clock& clock) : clock_(clock) {}
  Status wait(platform::Mutex& mutex, Instant deadline) override {
    // The generation is read before the mutex is released, so no notification falls in between.
    std::unique_lock<std::mutex> lock(mutex_);
    const auto seen = generation_;
    mutex.unlock();
    bool woken = true;
    while (generation_ == seen && woken) {
      const auto now = clock_.now();
      woken = now < deadline;
      if (!woken) break;
      const auto time_left = std::min(deadline - now, Picoseconds(1_s));
      notified_.wait_for(lock, std::chrono::nanoseconds(time_left.count() / 1000 + 1));
    }
    lock.unlock();
    mutex.lock();
    if (!woken) return fail(ErrorCode::kTimeout, "condition not notified before the deadline");
    return {};
  }
  void notify_all() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++generation_;
    notified_.notify_all();
  }

 private:
  platform::Clock& clock_;
  std::mutex mutex_;
  std::condition_variable notified_;
  std::uint64_t generation_ = 0;
};

}  // namespace

LinuxClock::LinuxClock() : start_(nanoseconds(CLOCK_MONOTONIC)) {}

Instant LinuxClock::now() {
  return Instant(from_nanoseconds(nanoseconds(CLOCK_MONOTONIC) - start_));
}

void LinuxClock::relax(ConstByteSpan, Instant) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

void LinuxClock::sleep_until(Instant deadline) {
  const auto target =
      start_ + std::min(deadline.since_power_up().count() / 1000 + 1, INT64_MAX - start_);
  timespec time{};
  time.tv_sec = static_cast<time_t>(target / kNanosecondsPerSecond);
  time.tv_nsec = static_cast<long>(target % kNanosecondsPerSecond);
  while (now() < deadline) {
    static_cast<void>(::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr));
  }
}

Result<std::unique_ptr<platform::Task>> LinuxTasks::spawn(std::string name,
                                                          std::function<void()> body) {
  try {
    return std::make_unique<LinuxTask>(std::move(body));
  } catch (const std::system_error& error) {
    return fail(ErrorCode::kOutOfResources, "thread for task " + name + ": " + error.what());
  }
}

std::unique_ptr<platform::Mutex> LinuxTasks::make_mutex() {
  return std::make_unique<LinuxMutex>(clock_);
}

std::unique_ptr<platform::Condition> LinuxTasks::make_condition() {
  return std::make_unique<LinuxCondition>(clock_);
}

platform::CpuUsage LinuxTasks::cpu_usage() {
  return thread_usage(thread_begin);
}

}  // namespace npu::driver::vfio
