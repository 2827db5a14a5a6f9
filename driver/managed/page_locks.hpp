// SPDX-License-Identifier: Apache-2.0
// The mutexes of managed pages, one per card. Whoever looks at pages holds those of all cards that
// the pages may be on, and of the cards that have others in common with them: room for a page may
// be made by another one's leaving. They are taken in the order in which they were made,
// which is the same on every run, as addresses are not.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "driver/support/spin_lock.hpp"
#include "npu/platform/platform.hpp"

namespace npu::driver {

class CardLock {
 public:
  explicit CardLock(platform::Platform& platform)
      : clock_(platform.clock()), mutex_(platform.tasks().make_mutex()) {}

  // These cards have pages in common, one time more or less. Their locks are held.
  static void join(const std::vector<std::shared_ptr<CardLock>>& cards);
  static void part(const std::vector<std::shared_ptr<CardLock>>& cards);

 private:
  friend class PagesLock;
  struct Neighbour {
    std::shared_ptr<CardLock> lock;
    unsigned times = 0;
  };

  // False, and not locked: it has neighbours.
  bool lock_alone();
  void add_neighbours(std::vector<std::shared_ptr<CardLock>>& to);

  platform::Clock& clock_;
  static std::atomic<std::uint64_t> made;
  const std::uint64_t number_ = made.fetch_add(1);
  const std::unique_ptr<platform::Mutex> mutex_;
  SpinLock spin_;  // neighbours_
  std::vector<Neighbour> neighbours_;
};

// Holds those of the cards and of their neighbours.
class PagesLock {
 public:
  explicit PagesLock(const std::vector<std::shared_ptr<CardLock>>& cards);
  ~PagesLock();
  PagesLock(const PagesLock&) = delete;
  PagesLock& operator=(const PagesLock&) = delete;

 private:
  std::shared_ptr<CardLock> alone_;  // of one card without neighbours, else null
  std::vector<std::shared_ptr<CardLock>> held_;
};

}  // namespace npu::driver
