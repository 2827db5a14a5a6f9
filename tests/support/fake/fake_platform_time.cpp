// SPDX-License-Identifier: Apache-2.0
// FakePlatform: clock, tasks, tracer.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "tests/support/fake/fake_platform.hpp"
#include "tests/support/fake/hardware_section.hpp"

namespace npu::test {
namespace {

class FakeTask : public platform::Task {
 public:
  FakeTask(FakeScheduler& scheduler, std::size_t id) : scheduler_(scheduler), id_(id) {}
  ~FakeTask() override { scheduler_.join(id_); }
  void join() override { scheduler_.join(id_); }
  platform::CpuUsage cpu_usage() const override { return scheduler_.usage(id_); }

 private:
  FakeScheduler& scheduler_;
  std::size_t id_;
};

class FakeMutex : public platform::Mutex {
 public:
  explicit FakeMutex(FakeScheduler& scheduler) : scheduler_(scheduler) {}
  void lock() override { try_lock_until(Instant::never()); }
  bool try_lock_until(Instant deadline) override {
    const std::function<bool()> is_free = [this] { return !held_.load(); };
    while (held_.exchange(true, std::memory_order_acquire)) {
      // Who is ready may find that another one was faster, and waits on.
      scheduler_.block_until(deadline, is_free);
      if (held_.load() && scheduler_.now() >= deadline) return false;
    }
    return true;
  }
  void unlock() override { held_.store(false, std::memory_order_release); }

 private:
  FakeScheduler& scheduler_;
  std::atomic<bool> held_{false};
};

class FakeCondition : public platform::Condition {
 public:
  explicit FakeCondition(FakeScheduler& scheduler) : scheduler_(scheduler) {}
  Status wait(platform::Mutex& mutex, Instant deadline) override {
    const auto seen = generation_.load();
    const std::function<bool()> notified = [&] { return generation_.load() != seen; };
    mutex.unlock();
    const bool woken = scheduler_.block_until(deadline, notified);
    mutex.lock();
    if (!woken) return fail(ErrorCode::kTimeout, "not notified");
    return {};
  }
  void notify_all() override { ++generation_; }

 private:
  FakeScheduler& scheduler_;
  std::atomic<std::uint64_t> generation_{0};
};

}  // namespace

// Whole poll rounds, until the first that sees a change.
void FakePlatform::relax(ConstByteSpan watched, Instant deadline) {
  const auto start = scheduler.now();
  const auto round = costs.poll_round + scheduler.slowness();
  if (watched.size == 0 || deadline <= start) return scheduler.advance(round);
  std::vector<std::byte> before(watched.size);
  {
    const HardwareSection section(scheduler);  // the device may write it now
    std::memcpy(before.data(), watched.data, watched.size);
  }
  const std::function<bool()> changed = [&] {
    return std::memcmp(before.data(), watched.data, watched.size) != 0;
  };
  scheduler.poll_until(deadline, changed);
  const auto rounds =
      std::max<std::int64_t>(1, ((scheduler.now() - start) + round - Picoseconds(1)) / round);
  const auto end = start + rounds * round;
  if (end > scheduler.now()) scheduler.advance(end - scheduler.now());
}

void FakePlatform::sleep_until(Instant deadline) {
  const std::function<bool()> never = [] { return false; };
  scheduler.block_until(deadline, never);
}

Result<std::unique_ptr<platform::Task>> FakePlatform::spawn(std::string name,
                                                            std::function<void()> body) {
  if (!scheduler.has_room()) return fail(ErrorCode::kOutOfResources, "no free CPU for " + name);
  const auto id = scheduler.spawn(std::move(name), std::move(body));
  return std::make_unique<FakeTask>(scheduler, id);
}

std::unique_ptr<platform::Mutex> FakePlatform::make_mutex() {
  return std::make_unique<FakeMutex>(scheduler);
}

std::unique_ptr<platform::Condition> FakePlatform::make_condition() {
  return std::make_unique<FakeCondition>(scheduler);
}

platform::CpuUsage FakePlatform::cpu_usage() {
  return scheduler.usage(scheduler.current());
}

std::uint32_t FakeTracer::track(std::string_view name) {
  const HardwareSection section(scheduler_);
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (names_[i] == name) return static_cast<std::uint32_t>(i);
  }
  names_.emplace_back(name);
  return static_cast<std::uint32_t>(names_.size() - 1);
}

void FakeTracer::emit(const platform::TraceEvent& event) {
  const HardwareSection section(scheduler_);
  events.push_back(event);
}

std::uint64_t FakeTracer::exchange_cause(std::uint64_t cause) {
  const HardwareSection section(scheduler_);
  return std::exchange(causes_[scheduler_.current()], cause);
}

std::uint64_t FakeTracer::cause() const {
  const HardwareSection section(scheduler_);
  const auto found = causes_.find(scheduler_.current());
  return found == causes_.end() ? 0 : found->second;
}

}  // namespace npu::test
