// SPDX-License-Identifier: Apache-2.0
#include "model/host/host_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <iterator>

#include "model/core/bus_page.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {
namespace {

// Unmapped bus addresses between two mappings, so that running off the end of one is a fault.
constexpr Bytes kGuard = 64 * 1024;

}  // namespace

HostMemory::HostMemory(Simulation& simulation, const HostMemoryConfig& config,
                       std::function<int(std::uint16_t)> node_of)
    : simulation_(simulation),
      config_(config),
      node_of_(std::move(node_of)),
      used_(config.numa_nodes),
      track_(simulation.recorder.track("host.iommu")) {}

HostMemory::~HostMemory() {
  for (const auto& [place, mapping] : mappings_) {
    if (!mapping.is_lent) munmap(mapping.cpu.data, mapping.cpu.size);
  }
}

HostMemory::Mapping HostMemory::map(std::uint16_t requester, Bytes size, Bytes alignment,
                                    platform::DmaDirection direction, int node) {
  const auto rounded = checked_align_up(size, kBusPage);
  auto& used = used_[static_cast<std::size_t>(node)];
  if (!rounded || !range_fits(used, *rounded, config_.size_per_node)) return {};
  void* memory = mmap(nullptr, *rounded, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return {};
  used += *rounded;
  Mapping mapping;
  mapping.requester = requester;
  mapping.cpu = {static_cast<std::byte*>(memory), *rounded};
  mapping.bus = align_down(next_bus_ + alignment - 1, alignment);
  mapping.direction = direction;
  mapping.node = node;
  next_bus_ = mapping.bus + *rounded + kGuard;
  mappings_.emplace(Place{requester, mapping.bus}, mapping);
  return mapping;
}

bool HostMemory::map_at(std::uint16_t requester, std::uint64_t bus, ByteSpan memory,
                        platform::DmaDirection direction) {
  const auto next = mappings_.lower_bound({requester, bus});
  if (next != mappings_.end() && next->first.first == requester &&
      next->first.second - bus < memory.size) {
    return false;
  }
  if (next != mappings_.begin()) {
    const auto& [place, mapping] = *std::prev(next);
    if (place.first == requester && bus - place.second < mapping.cpu.size) return false;
  }
  Mapping mapping;
  mapping.requester = requester;
  mapping.cpu = memory;
  mapping.bus = bus;
  mapping.direction = direction;
  mapping.is_lent = true;
  mappings_.emplace(Place{requester, bus}, mapping);
  return true;
}

void HostMemory::unmap(std::uint16_t requester, std::uint64_t bus) {
  const auto it = mappings_.find({requester, bus});
  sc_assert(it != mappings_.end());
  const Mapping mapping = it->second;
  mappings_.erase(it);
  last_ = nullptr;
  if (!mapping.is_lent) {
    used_[static_cast<std::size_t>(mapping.node)] -= mapping.cpu.size;
    munmap(mapping.cpu.data, mapping.cpu.size);
  }
  if (unmap_listener_) unmap_listener_(mapping.requester);
}

void HostMemory::watch(ConstByteSpan range, MemoryWatcher& watcher) {
  watches_.push_back({range.data, range.data + range.size, &watcher});
}

void HostMemory::unwatch(MemoryWatcher& watcher) {
  watches_.erase(std::remove_if(watches_.begin(), watches_.end(),
                                [&](const Watch& w) { return w.watcher == &watcher; }),
                 watches_.end());
}

void HostMemory::bind(std::uint16_t requester, std::uint64_t bus, std::uint32_t pasid) {
  const auto it = mappings_.find({requester, bus});
  sc_assert(it != mappings_.end());
  it->second.pasid = pasid;
}

const HostMemory::Mapping* HostMemory::find(DmaRequester requester, std::uint64_t bus) {
  const auto hit = [&](const Mapping& m) {
    return m.requester == requester.function &&
           (requester.pasid == 0 || m.pasid == requester.pasid) && bus >= m.bus &&
           bus - m.bus < m.cpu.size;
  };
  if (last_ && hit(*last_)) return last_;
  auto it = mappings_.upper_bound({requester.function, bus});
  if (it == mappings_.begin()) return nullptr;
  --it;
  if (!hit(it->second)) return nullptr;
  last_ = &it->second;
  return last_;
}

std::uint64_t HostMemory::fault_count(std::uint16_t requester) const {
  const auto found = fault_counts_.find(requester);
  return found == fault_counts_.end() ? 0 : found->second;
}

HostMemoryPort::Access HostMemory::refuse(DmaRequester requester, std::uint64_t bus,
                                          bool device_writes, Completion reason,
                                          std::uint64_t cause, Picoseconds latency) {
  ++fault_counts_[requester.function];
  if (faults_.size() < kKeptFaults) {
    faults_.push_back({sim_now(), requester.function, requester.pasid, bus, device_writes, reason});
  }
  const auto code = reason == Completion::kPermission ? abi::FaultCode::kHostPermission
                                                      : abi::FaultCode::kHostAddress;
  simulation_.emit(track_, platform::Activity::kFault, sim_now(), sim_now(), cause, 0,
                   static_cast<std::uint64_t>(code));
  return {reason, latency, nullptr, 0};
}

HostMemoryPort::Access HostMemory::access(DmaRequester requester, std::uint64_t bus, Bytes length,
                                          bool device_writes, std::uint64_t cause) {
  const auto* mapping = find(requester, bus);
  if (!mapping || !range_fits(bus - mapping->bus, length, mapping->cpu.size)) {
    return refuse(requester, bus, device_writes, Completion::kUnsupportedRequest, cause,
                  config_.iommu_lookup);
  }
  const auto forbidden =
      device_writes ? platform::DmaDirection::kDeviceReads : platform::DmaDirection::kDeviceWrites;
  if (mapping->direction == forbidden) {
    return refuse(requester, bus, device_writes, Completion::kPermission, cause,
                  config_.iommu_lookup);
  }
  Picoseconds latency =
      config_.iommu_lookup + (device_writes ? config_.write_latency : config_.read_latency);
  if (node_of_(requester.function) != mapping->node) latency += config_.remote_penalty;
  const Bytes offset = bus - mapping->bus;
  return {Completion::kSuccess, latency, mapping->cpu.data + offset, mapping->cpu.size - offset,
          config_.iommu_lookup};
}

void HostMemory::written(const std::byte* data, Bytes length, std::uint64_t cause) {
  static_cast<void>(cause);
  // A watcher may leave the list while it is told.
  for (std::size_t i = 0; i < watches_.size();) {
    auto* const watcher = watches_[i].watcher;
    if (watches_[i].begin < data + length && data < watches_[i].end) watcher->memory_written();
    if (i < watches_.size() && watches_[i].watcher == watcher) ++i;
  }
}

}  // namespace npu::model
