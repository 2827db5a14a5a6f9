// SPDX-License-Identifier: Apache-2.0
// The cards of a managed memory: who serves their faults, and the locks of their pages. A card that
// has left keeps its place, its lock and its service until the memory ends.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "driver/managed/fault_service.hpp"

namespace npu::driver {

class ManagedCards {
 public:
  // `services`: of the cards that `pages` has, in their order. `pages` outlives it.
  ManagedCards(ManagedPages& pages, std::vector<std::shared_ptr<FaultService>> services);
  ManagedCards(const ManagedCards&) = delete;
  ManagedCards& operator=(const ManagedCards&) = delete;

  // Of the cards at the beginning. Those that come later are their neighbours, whose locks are held
  // with them; so this never changes.
  const std::vector<std::shared_ptr<CardLock>>& locks() const { return locks_; }
  Prefetcher& prefetcher() { return services_[0]->prefetcher(); }
  FaultPolicy policy() const { return services_[0]->policy(); }

  // With the locks held:
  // Their faults are served; or none's. As FaultService::add().
  Status start();
  void stop();
  bool open() const { return open_; }
  // Nobody has shut one of them down either.
  bool usable() const;

  // Without them; no allocation comes or goes meanwhile. As ManagedMemory has them.
  Status join(const ManagedCardSpace& card, std::shared_ptr<FaultService> service);
  Status leave(const CardLink& link);

 private:
  std::unique_ptr<CardPages> view_of(unsigned place, const ManagedCardSpace& card,
                                     FaultService& service);
  void stop(std::size_t count);

  ManagedPages& pages_;
  // By place.
  std::vector<std::shared_ptr<FaultService>> services_;
  std::vector<std::unique_ptr<CardPages>> views_;  // null: has left
  std::vector<std::shared_ptr<CardLock>> all_locks_;
  const std::vector<std::shared_ptr<CardLock>> locks_;
  bool open_ = false;
};

}  // namespace npu::driver
