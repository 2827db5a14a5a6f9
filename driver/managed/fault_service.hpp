// SPDX-License-Identifier: Apache-2.0
// Serves the page faults of a card: a task that sleeps on their vector, and whose pages they are.
#pragma once

#include <atomic>
#include <memory>

#include "driver/device/device_service.hpp"
#include "driver/managed/card_pages.hpp"
#include "driver/managed/card_paging.hpp"
#include "driver/managed/page_locks.hpp"
#include "driver/managed/prefetcher.hpp"

namespace npu::driver {

// What ManagedMemory::policy_of() says.
Result<FaultPolicy> fault_policy(Device& device, const ManagedOptions& options);

class FaultService final : public DeviceService {
 public:
  // The card's, which begins to serve if there is none yet. It ends with the last that has it.
  // What ManagedMemory::open() reports.
  static Result<std::shared_ptr<FaultService>> of(Device& device, const ManagedOptions& options);
  ~FaultService() override;
  FaultService(const FaultService&) = delete;
  FaultService& operator=(const FaultService&) = delete;

  // Under the lock. kAlreadyExists: the space's faults are served already; kTimeout, kDeviceLost:
  // the card cannot be told.
  Status add(CardPages& pages);
  // Nothing is served any more: what waits fails.
  void stop() override;
  // Under the lock: what waits in the space fails.
  void remove(CardPages& pages);
  const std::shared_ptr<CardLock>& lock() const { return locks_[0]; }
  CardPaging& paging() { return *paging_; }
  FaultPolicy policy() const { return options_.policy; }
  Prefetcher& prefetcher() { return prefetcher_; }
  // Pages that came first leave for the host, of the space or, for VMID 0, of all: for memory that
  // cannot leave, at most `wanted` bytes. False: none has.
  bool make_room(unsigned vmid, Bytes wanted);
  // The device is shut down.
  bool stopped() const { return stopping_.load(std::memory_order_acquire); }

 private:
  FaultService(CardLink& link, MemoryManager& memory, const ManagedOptions& options)
      : link_(link),
        memory_(memory),
        options_(options),
        locks_{std::make_shared<CardLock>(link.platform())},
        prefetcher_(link.platform()) {}
  Status start(VectorTable& vectors);
  // One of both, by the policy.
  Status share_pages();
  Status serve_card(VectorTable& vectors);
  Status serve_known();
  void run();
  bool look_for_errors();

  CardLink& link_;
  MemoryManager& memory_;
  const ManagedOptions options_;  // but for the pager's bytes, which may be gone
  const std::vector<std::shared_ptr<CardLock>> locks_;  // its own, that of all its pages
  std::unique_ptr<CardPaging> paging_;
  Prefetcher prefetcher_;
  platform::InterruptVector* vector_ = nullptr;
  ServedSpaces spaces_{};
  Instant looked_{};  // for errors
  bool counting_ = false;
  bool counted_ = false;  // among those who may want the card's memory
  std::atomic<bool> stopping_{false};
  std::unique_ptr<platform::Task> task_;
};

}  // namespace npu::driver
