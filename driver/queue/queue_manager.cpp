// SPDX-License-Identifier: Apache-2.0
#include "driver/queue/queue_manager.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "driver/device/device_parts.hpp"
#include "driver/support/relaxed.hpp"
#include "npu/abi/registers.hpp"
#include "npu/driver/process.hpp"

namespace npu::driver {
namespace {

// 1 .. 2^20 - 1 are possible; more processes than VMIDs are never open at a time.
constexpr std::uint32_t kPasids = 4096;

}  // namespace

QueueManager::QueueManager(CardLink& link, VectorTable& vectors, std::uint32_t pages)
    : link_(link),
      vectors_(vectors),
      pasids_(link.clock(), 1, kPasids),
      pages_(link.clock(), 0, pages),
      queue_ids_(link.clock(), 0, abi::kMaxQueues),
      groups_(link.clock()),
      fault_mutex_(link.platform().tasks().make_mutex()) {}

Result<std::unique_ptr<QueueManager>> QueueManager::create(CardLink& link, VectorTable& vectors) {
  const auto capability = link.read<abi::QueueCapability>();
  if (!capability) return forward_error(capability);
  const auto pages = capability->get<abi::QueueCapability::DoorbellPages>();
  if (capability->get<abi::QueueCapability::Slots>() == 0 || pages == 0) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("{} has no command processor for queues", to_string(link.bdf())));
  }
  const auto doorbells = link.read<abi::DoorbellBase>();
  if (!doorbells) return forward_error(doorbells);
  std::unique_ptr<QueueManager> manager(
      new QueueManager(link, vectors, std::min(pages, abi::kMaxDoorbellPages)));
  manager->doorbell_base_ = doorbells->raw;
  manager->base_ = link.card().hbm_size + abi::kReservedQueueOffset;
  static_assert(kDescriptorMemory <= abi::kReservedQueueSize);
  auto region = link.platform().map_bar(link.bdf(), abi::kMemoryBar, manager->base_,
                                        kDescriptorMemory, platform::Caching::kWriteCombining);
  if (!region) return forward_error(region);
  manager->descriptors_ = std::move(*region);
  auto faults = QueueFaultLog::create(link, manager->counters_);
  if (!faults) return forward_error(faults);
  manager->faults_ = std::move(*faults);
  auto ring = ManagementRing::create(link, manager->counters_);
  if (!ring) return forward_error(ring);
  manager->ring_ = std::move(*ring);
  manager->faults_->start(vectors.size() - 1);
  if (auto ok = manager->ring_->start(link.ready_deadline()); !ok) {
    manager->stop();
    return forward_error(ok);
  }
  return manager;
}

void QueueManager::stop() {
  {
    const MutexHolder holder(*fault_mutex_);
    for (const auto& owner : owners_) owner.second->give_up();
  }
  ring_->stop(!left_behind_.load());
  faults_->stop();
}

unsigned QueueManager::vector_number(std::uint32_t n) const {
  const auto vectors = vectors_.size();
  const auto half = std::max(vectors / 2, 1U);
  return vectors - 1 - n % half;
}

Result<platform::InterruptVector*> QueueManager::open_vector(unsigned number) {
  return vectors_.open(number);
}

Result<std::unique_ptr<platform::MmioRegion>> QueueManager::map_doorbells(std::uint32_t page) {
  return link_.platform().map_bar(link_.bdf(), abi::kMemoryBar,
                                  doorbell_base_ + Bytes{page} * abi::kDoorbellPageSize,
                                  abi::kDoorbellPageSize, platform::Caching::kUncached);
}

void QueueManager::store(const abi::QueueDescriptor& descriptor, Bytes size) {
  std::uint64_t words[abi::kQueueDescriptorSize / 8];
  static_assert(sizeof words == sizeof descriptor);
  std::memcpy(words, &descriptor, sizeof words);
  for (Bytes at = 0; at < size; at += 8) {
    descriptors_->write64(place_of(descriptor.queue_id) + at, words[at / 8]);
  }
  link_.platform().write_barrier();
  counters_.mmio_writes.fetch_add(size / 64, std::memory_order_relaxed);
}

void QueueManager::write_descriptor(const abi::QueueDescriptor& descriptor) {
  store(descriptor, abi::kQueueDescriptorSize);
}

void QueueManager::write_driver_half(const abi::QueueDescriptor& descriptor) {
  store(descriptor, abi::kQueueStateOffset);
}

Status QueueManager::read_card_half(abi::QueueDescriptor& descriptor) {
  constexpr Bytes kUsed = offsetof(abi::QueueDescriptor, reserved2);
  auto* bytes = reinterpret_cast<std::byte*>(&descriptor);
  const auto read = [&](Bytes at) {
    const auto word = descriptors_->read64(place_of(descriptor.queue_id) + at);
    std::memcpy(bytes + at, &word, sizeof word);
    counters_.mmio_reads.fetch_add(1, std::memory_order_relaxed);
  };
  // The card may write it anew meanwhile: what is complete was taken, and what is taken was
  // written.
  for (Bytes at = offsetof(abi::QueueDescriptor, completed); at < kUsed; at += 8) read(at);
  read(offsetof(abi::QueueDescriptor, completion_index));
  read(offsetof(abi::QueueDescriptor, read_index));
  read(offsetof(abi::QueueDescriptor, write_index));
  // No queue gets that far.
  if (descriptor.read_index != ~0ULL) return {};
  return link_.explain_all_ones("a queue's descriptor");
}

// The card writes it when the queue has left its slot.
Result<std::optional<QueueFault>> QueueManager::read_fault(QueueId queue) {
  const auto word = [&](Bytes offset) {
    counters_.mmio_reads.fetch_add(1, std::memory_order_relaxed);
    return descriptors_->read64(place_of(queue.value) + offset);
  };
  const auto state = word(offsetof(abi::QueueDescriptor, state));
  if (state == ~0ULL) return link_.explain_all_ones("a queue's descriptor");
  if (static_cast<abi::QueueState>(state & 0xFFFF'FFFF) != abi::QueueState::kFaulted) {
    return std::nullopt;
  }
  QueueFault fault;
  fault.code = static_cast<abi::FaultCode>(state >> 32 & 0xFFFF);
  fault.queue = queue;
  fault.index = word(offsetof(abi::QueueDescriptor, error_index));
  fault.address = word(offsetof(abi::QueueDescriptor, error_address));
  return fault;
}

void QueueManager::add_process(std::uint32_t pasid, QueueOwner& owner) {
  const MutexHolder holder(*fault_mutex_);
  owners_.emplace_back(pasid, &owner);
}

void QueueManager::remove_process(std::uint32_t pasid) {
  const MutexHolder holder(*fault_mutex_);
  const auto is_it = [pasid](const auto& owner) { return owner.first == pasid; };
  owners_.erase(std::remove_if(owners_.begin(), owners_.end(), is_it), owners_.end());
}

Status QueueManager::quiesce(Instant deadline) {
  const MutexHolder holder(*fault_mutex_);
  Status status;
  for (const auto& owner : owners_) {
    if (auto ok = owner.second->quiesce(deadline); !ok && status) status = ok;
  }
  return status;
}

void QueueManager::resume() {
  const MutexHolder holder(*fault_mutex_);
  for (const auto& owner : owners_) owner.second->resume();
}

void QueueManager::collect_faults(Instant deadline) {
  if (!faults_->has_news()) return;
  const TimedMutexHolder holder(*fault_mutex_, deadline);
  if (holder) hand_out(faults_->read());
}

void QueueManager::collect_faults_behind_lost() {
  const TimedMutexHolder holder(*fault_mutex_, Instant());
  if (holder) hand_out(faults_->read_behind_lost());
}

// Under the mutex of faults.
void QueueManager::hand_out(const std::vector<QueueFault>& faults) {
  for (const auto& fault : faults) {
    QueueOwner* owner = nullptr;
    for (const auto& known : owners_) {
      if (known.first == fault.pasid) owner = known.second;
    }
    if (owner != nullptr) {
      owner->add_fault(fault);
    } else {
      if (stray_.size() == kMaxStray) stray_.erase(stray_.begin());
      stray_.push_back(fault);
    }
  }
}

std::vector<QueueFault> QueueManager::take_stray_faults() {
  collect_faults();
  const MutexHolder holder(*fault_mutex_);
  return std::exchange(stray_, {});
}

QueueManagerStatistics QueueManager::statistics() const {
  QueueManagerStatistics result;
  result.calls = counters_.calls.load(kRelaxed);
  result.commands = counters_.commands.load(kRelaxed);
  result.mmio_writes = counters_.mmio_writes.load(kRelaxed);
  result.mmio_reads = counters_.mmio_reads.load(kRelaxed);
  result.ring_full = counters_.ring_full.load(kRelaxed);
  result.timeouts = counters_.timeouts.load(kRelaxed);
  result.restarts = counters_.restarts.load(kRelaxed);
  result.resets = counters_.resets.load(kRelaxed);
  result.faults = counters_.faults.load(kRelaxed);
  result.faults_lost = counters_.faults_lost.load(kRelaxed);
  result.mapped_processes = static_cast<std::uint32_t>(mapped_.load(kRelaxed));
  result.queues = static_cast<std::uint32_t>(queues_.load(kRelaxed));
  result.pasids = result.processes = pasids_.in_use();
  result.doorbell_pages = pages_.in_use();
  result.queue_ids = queue_ids_.in_use();
  return result;
}

// --- Of a device ----------------------------------------------------------------------------

Result<QueueManager*> manager_of(Device& device) {
  auto& link = DeviceParts::link(device);
  auto& services = DeviceParts::services(device);
  // Both, in the compactor's order.
  const MutexHolder memory_holder(DeviceParts::memory(device).mutex());
  const MutexHolder holder(*services.control);
  if (auto ok = link.usable(); !ok) return forward_error(ok);
  if (!services.queues) {
    auto made = QueueManager::create(link, DeviceParts::vectors(device));
    if (!made) return forward_error(made);
    DeviceParts::compactor(device).attach(**made);
    services.queues = std::move(*made);
  }
  return static_cast<QueueManager*>(services.queues.get());
}

QueueManager* manager_if_any(Device& device) {
  auto& services = DeviceParts::services(device);
  const MutexHolder holder(*services.control);
  return static_cast<QueueManager*>(services.queues.get());
}

QueueManagerStatistics queue_statistics(Device& device) {
  auto* const manager = manager_if_any(device);
  return manager != nullptr ? manager->statistics() : QueueManagerStatistics{};
}

std::vector<QueueFault> take_stray_faults(Device& device) {
  auto* const manager = manager_if_any(device);
  return manager != nullptr ? manager->take_stray_faults() : std::vector<QueueFault>{};
}

}  // namespace npu::driver
