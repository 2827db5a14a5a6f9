// SPDX-License-Identifier: Apache-2.0
#include "model/host/host_tasks.hpp"

#include <utility>

namespace npu::model {
namespace {

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
    return wait(mutex, deadline, LimitOf::kWait);
  }
  Status daemon_wait(platform::Mutex& mutex, Instant deadline) override {
    return wait(mutex, deadline, LimitOf::kLook);
  }
  void notify_all() override {
    cpus_.synchronise();
    ++generation_;
    if (waiters_ > 0) agenda_.notify(notified_);
  }

 private:
  Status wait(platform::Mutex& mutex, Instant deadline, LimitOf of) {
    cpus_.synchronise_with_tasks();
    const std::uint64_t seen = generation_;  // what is notified from now on is meant for us, too
    mutex.unlock();
    ++waiters_;
    const bool woken = cpus_.block(
        notified_, deadline_ticks(deadline), [&] { return generation_ != seen; }, "a condition",
        of);
    --waiters_;
    mutex.lock();
    if (!woken) return fail(ErrorCode::kTimeout, "condition not notified before the deadline");
    return {};
  }

  HostCpus& cpus_;
  Agenda& agenda_;
  std::uint64_t generation_ = 0;
  unsigned waiters_ = 0;
  sc_core::sc_event notified_;
};

}  // namespace

Result<std::unique_ptr<platform::Task>> HostTasks::spawn(std::string name,
                                                         std::function<void()> body) {
  cpus_.charge(cpus_.config().call);
  cpus_.synchronise();
  return std::make_unique<HostTaskHandle>(cpus_, cpus_.spawn(std::move(name), std::move(body)));
}

std::unique_ptr<platform::Mutex> HostTasks::make_mutex() {
  return std::make_unique<HostMutex>(cpus_, agenda_);
}

std::unique_ptr<platform::Condition> HostTasks::make_condition() {
  return std::make_unique<HostCondition>(cpus_, agenda_);
}

Picoseconds HostTasks::cost_of(platform::KernelWork work) const {
  using platform::KernelWork;
  const auto& kernel = cpus_.config().kernel;
  switch (work) {
    case KernelWork::kPageTableLock:
      return kernel.page_table_lock;
    case KernelWork::kFault:
      return kernel.fault;
    case KernelWork::kFirstTouch:
      return kernel.first_touch;
    case KernelWork::kUnmap:
      return kernel.unmap;
    case KernelWork::kTlbShootdown:
      return kernel.tlb_shootdown;
    case KernelWork::kDmaMap:
      return kernel.dma_map;
    case KernelWork::kAllocatePage:
      return kernel.allocate_page;
    case KernelWork::kMapPage:
      return kernel.map_page;
  }
  return {};
}

platform::CpuUsage HostTasks::cpu_usage() {
  cpus_.synchronise();
  return cpus_.current().usage;
}

}  // namespace npu::model
