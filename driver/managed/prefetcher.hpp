// SPDX-License-Identifier: Apache-2.0
// Prefetches of a card's managed memory: a task of its own, which moves a run of pages at a time
// and lets who touches pages or serves faults have a turn in between.
#pragma once

#include <deque>
#include <map>
#include <memory>

#include "driver/managed/managed_pages.hpp"

namespace npu::driver {

class Prefetcher {
 public:
  // Of one run (virtualisation.md S4).
  static constexpr std::uint64_t kRunPages = 16;

  // `pages_mutex`: of all pages of the card.
  Prefetcher(platform::Platform& platform, platform::Mutex& pages_mutex);
  ~Prefetcher() { stop(); }
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  // Under the pages' mutex. Whole pages of one allocation. kOutOfResources: no task.
  Result<PrefetchTicket> begin(ManagedPages& pages, std::uint64_t at, Bytes size, bool to_card);
  // Under the pages' mutex: what has not been moved of these stays where it is.
  void forget(ManagedPages& pages);
  // Without it. kTimeout; kInvalidArgument: no such prefetch, or its end was told before.
  Status wait(PrefetchTicket ticket, Instant deadline);
  void stop();

 private:
  struct Job {
    std::uint64_t number = 0;
    ManagedPages* pages = nullptr;  // null: forgotten
    std::uint64_t at = 0, end = 0;
    bool to_card = true;
    Status status;
  };
  void run();
  // Moves the next run; whether the job is done.
  bool step(Job& job);

  platform::Platform& platform_;
  platform::Mutex& pages_mutex_;
  std::unique_ptr<platform::Mutex> mutex_;
  std::unique_ptr<platform::Condition> changed_;
  std::deque<std::shared_ptr<Job>> jobs_;
  std::map<std::uint64_t, Status> ended_;  // that nobody has waited for
  std::uint64_t numbers_ = 0;
  bool stopping_ = false;
  std::unique_ptr<platform::Task> task_;
};

}  // namespace npu::driver
