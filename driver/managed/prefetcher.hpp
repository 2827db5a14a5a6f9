// SPDX-License-Identifier: Apache-2.0
// Prefetches of managed memory: a task of its own, which moves a run of pages at a time and lets
// who touches pages or serves faults have a turn in between.
#pragma once

#include <deque>
#include <map>
#include <memory>

#include "driver/managed/card_pages.hpp"
#include "driver/managed/page_locks.hpp"

namespace npu::driver {

class Prefetcher {
 public:
  // Of one run (virtualisation.md S4).
  static constexpr std::uint64_t kRunPages = 16;

  explicit Prefetcher(platform::Platform& platform);
  ~Prefetcher() { stop(); }
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  // Under the pages' lock, which is that of `locks`. Whole pages of one allocation; to a card of
  // theirs, or null: to the host. kOutOfResources: no task.
  Result<PrefetchTicket> begin(ManagedPages& pages,
                               const std::vector<std::shared_ptr<CardLock>>& locks,
                               std::uint64_t at, Bytes size, CardPages* to);
  // Under the pages' lock: what has not been moved of these stays where it is.
  void forget(ManagedPages& pages);
  // The same of what is on its way to this card; the prefetch has ended with that.
  void forget(const CardPages& to);
  // Without it, for a prefetch of these. kTimeout; kInvalidArgument: it is none, or its end was
  // told before.
  Status wait(const ManagedPages& pages, PrefetchTicket ticket, Instant deadline);
  void stop();

 private:
  struct Job {
    std::uint64_t number = 0;
    std::uint64_t owner = 0;        // ManagedPages::number()
    ManagedPages* pages = nullptr;  // null: forgotten
    std::vector<std::shared_ptr<CardLock>> locks;
    std::uint64_t at = 0, end = 0;
    CardPages* to = nullptr;  // null: to the host
    Status status;
  };
  void run();
  // Moves the next run; whether the job is done.
  bool step(Job& job);
  static Status move(Job& job, std::uint64_t first, std::uint64_t count, unsigned source);

  platform::Platform& platform_;
  std::unique_ptr<platform::Mutex> mutex_;
  std::unique_ptr<platform::Condition> changed_;
  std::deque<std::shared_ptr<Job>> jobs_;
  struct Ended {
    std::uint64_t owner = 0;
    Status status;
  };
  std::map<std::uint64_t, Ended> ended_;  // that nobody has waited for
  std::uint64_t numbers_ = 0;
  bool stopping_ = false;
  std::unique_ptr<platform::Task> task_;
};

}  // namespace npu::driver
