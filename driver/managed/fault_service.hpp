// SPDX-License-Identifier: Apache-2.0
// Serves the page faults of a card: a task that sleeps on their vector, takes what is in the ring,
// has the pages brought, and replies.
#pragma once

#include <array>
#include <atomic>
#include <memory>

#include "driver/managed/fault_ring.hpp"
#include "driver/managed/managed_pages.hpp"

namespace npu::driver {

class FaultService {
 public:
  // The card's, which begins to serve if there is none yet. It ends with the last that has it.
  // kOutOfMemory, kOutOfResources: no ring, no task.
  static Result<std::shared_ptr<FaultService>> of(Device::Impl& device);
  ~FaultService();
  FaultService(const FaultService&) = delete;
  FaultService& operator=(const FaultService&) = delete;

  // kAlreadyExists: the space's faults are served already.
  Status add(ManagedPages& pages);
  // Nothing is served any more: what waits fails.
  void stop();
  // What waits in the space fails.
  void remove(ManagedPages& pages);
  // Of all pages, and of those whom nobody serves.
  platform::Mutex& mutex() { return *mutex_; }

 private:
  // Records of one turn (virtualisation.md S6).
  static constexpr std::size_t kBatch = 256;

  explicit FaultService(Device::Impl& device)
      : device_(device), mutex_(device.platform.tasks().make_mutex()) {}
  Status start();
  void run();
  void serve(const std::vector<abi::PageFaultRecord>& batch);
  void serve(const abi::PageFaultRecord& record);

  Device::Impl& device_;
  std::unique_ptr<platform::Mutex> mutex_;
  std::unique_ptr<FaultRing> ring_;
  platform::InterruptVector* vector_ = nullptr;
  std::array<ManagedPages*, abi::kVmids> pages_{};  // by VMID
  std::atomic<bool> stopping_{false};
  std::unique_ptr<platform::Task> task_;
};

}  // namespace npu::driver
