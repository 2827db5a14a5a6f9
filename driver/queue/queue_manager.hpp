// SPDX-License-Identifier: Apache-2.0
// What all processes on a card share: ids, the management ring, the descriptors, the fault log.
#pragma once

#include <memory>
#include <vector>

#include "driver/device/device_service.hpp"
#include "driver/link/vector_table.hpp"
#include "driver/memory/compute_work.hpp"
#include "driver/queue/core_groups.hpp"
#include "driver/queue/fault_log.hpp"
#include "driver/queue/id_pool.hpp"
#include "driver/queue/management_ring.hpp"
#include "npu/driver/device.hpp"

namespace npu::driver {

class QueueChannel;

// A process, for those that have to do with all of them.
class QueueOwner {
 public:
  virtual ~QueueOwner() = default;
  virtual void add_fault(const QueueFault& fault) = 0;
  virtual Status quiesce(Instant deadline) = 0;
  virtual void resume() = 0;
  // The device is shut down: takes everything off the card.
  virtual void give_up() = 0;
};

class QueueManager final : public ComputeWork, public DeviceService {
 public:
  // kUnsupported: no command processor.
  static Result<std::unique_ptr<QueueManager>> create(CardLink& link, VectorTable& vectors);
  // The card forgets all processes, executes nothing more of the management ring and logs no
  // faults.
  void stop() override;

  CardLink& link() { return link_; }
  ManagementRing& ring() { return *ring_; }
  ManagerCounters& counters() { return counters_; }
  SharedIdPool& pasids() { return pasids_; }
  SharedIdPool& pages() { return pages_; }
  SharedIdPool& queue_ids() { return queue_ids_; }
  CoreGroups& groups() { return groups_; }
  // Vector of the n-th queue or process: from the highest one down, over half of them.
  unsigned vector_number(std::uint32_t n) const;
  Result<platform::InterruptVector*> open_vector(unsigned number);
  Result<std::unique_ptr<platform::MmioRegion>> map_doorbells(std::uint32_t page);

  // --- Descriptors (MQD), each in a place of its own in memory that only the driver reaches.
  std::uint64_t descriptor_address(std::uint32_t queue) const {
    return base_ + Bytes{queue} * abi::kQueueDescriptorSize;
  }
  std::uint64_t save_area(std::uint32_t queue) const {
    return base_ + kSaveAreas + Bytes{queue} * abi::kQueueSaveSize;
  }
  // Both halves.
  void write_descriptor(const abi::QueueDescriptor& descriptor);
  // The driver's half.
  void write_driver_half(const abi::QueueDescriptor& descriptor);
  // The card's half, as it was last written. kDeviceLost, kIo.
  Status read_card_half(abi::QueueDescriptor& descriptor);
  // What has stopped the queue, if it is at fault and nothing of it runs any more: code, entry and
  // address. kDeviceLost, kIo.
  Result<std::optional<QueueFault>> read_fault(QueueId queue);

  // --- Compaction: all processes are evicted.
  Status quiesce(Instant deadline) override;
  void resume() override;

  // --- Faults.
  void add_process(std::uint32_t pasid, QueueOwner& owner);
  // Afterwards the owner hears nothing more.
  void remove_process(std::uint32_t pasid);
  bool has_news() const { return faults_->has_news(); }
  // Unless others have the log until `deadline`.
  void collect_faults(Instant deadline = Instant::never());
  // `visit(PASID, owner)`.
  template <class F>
  void for_each_process(F visit) const {
    const MutexHolder holder(*fault_mutex_);
    for (const auto& [pasid, owner] : owners_) visit(pasid, *owner);
  }
  // Where a record is known to be lost: those behind it. Not while others have the log.
  void collect_faults_behind_lost();
  std::vector<QueueFault> take_stray_faults();

  // The card may keep a queue or a process that nobody knows of any more.
  void note_left_behind() { left_behind_.store(true); }
  void note_mapped(int change) { mapped_.fetch_add(change, std::memory_order_relaxed); }
  void note_queues(int change) { queues_.fetch_add(change, std::memory_order_relaxed); }
  QueueManagerStatistics statistics() const;

 private:
  static constexpr Bytes kSaveAreas = Bytes{abi::kMaxQueues} * abi::kQueueDescriptorSize;
  static constexpr Bytes kDescriptorMemory =
      kSaveAreas + Bytes{abi::kMaxQueues} * abi::kQueueSaveSize;
  static constexpr std::size_t kMaxStray = 1024;

  QueueManager(CardLink& link, VectorTable& vectors, std::uint32_t pages);
  Bytes place_of(std::uint32_t queue) const { return Bytes{queue} * abi::kQueueDescriptorSize; }
  void store(const abi::QueueDescriptor& descriptor, Bytes size);
  void hand_out(const std::vector<QueueFault>& faults);

  CardLink& link_;
  VectorTable& vectors_;
  ManagerCounters counters_;
  std::unique_ptr<ManagementRing> ring_;
  std::unique_ptr<QueueFaultLog> faults_;
  std::unique_ptr<platform::MmioRegion> descriptors_;
  std::uint64_t base_ = 0;   // device-local address of descriptor 0
  Bytes doorbell_base_ = 0;  // offset in BAR2
  SharedIdPool pasids_, pages_, queue_ids_;
  CoreGroups groups_;
  std::unique_ptr<platform::Mutex> fault_mutex_;
  std::vector<std::pair<std::uint32_t, QueueOwner*>> owners_;  // by PASID
  std::vector<QueueFault> stray_;
  std::atomic<int> mapped_{0}, queues_{0};
  std::atomic<bool> left_behind_{false};
};

// Null: none yet. A manager stays until the device is gone.
QueueManager* manager_if_any(Device& device);
// Made if there is none. kUnsupported: no command processor.
Result<QueueManager*> manager_of(Device& device);

}  // namespace npu::driver
