// SPDX-License-Identifier: Apache-2.0
#include "model/host/host_memory.hpp"

#include <algorithm>

#include "model/core/bus_page.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {
namespace {

Picoseconds span(SimTime time) {
  return Picoseconds(static_cast<std::int64_t>(time));
}

}  // namespace

HostMemory::HostMemory(Simulation& simulation, const HostMemoryConfig& config,
                       std::function<int(std::uint32_t)> node_of)
    : iommu_lookup_(config.iommu_lookup),
      pages_(config.huge_page),
      node_of_(std::move(node_of)),
      page_requests_(simulation),
      memory_(config),
      faults_(simulation) {
  for (unsigned node = 0; node < config.numa_nodes; ++node) walkers_.emplace_back(config, memory_);
}

Iommu::Mapping HostMemory::map(std::uint32_t requester, Bytes size, Bytes alignment,
                               platform::DmaDirection direction, int node) {
  const ByteSpan memory = memory_.allocate(size, node);
  if (memory.data == nullptr) return {};
  const Bytes aligned = std::max(alignment, pages_.alignment(memory.size));
  const Iommu::Mapping mapping{requester, iommu_.allocate(memory.size, aligned), memory, direction,
                               node};
  iommu_.map(mapping);
  return mapping;
}

Iommu::Mapping HostMemory::import(std::uint32_t requester, ByteSpan memory,
                                  platform::DmaDirection direction, int node, bool fresh) {
  if (!memory_.adopt(memory, node, fresh)) return {};
  constexpr Bytes kOwn = platform::kImportAlignment;
  const auto bus = iommu_.allocate(align_down(memory.size + kOwn - 1, kOwn), kOwn);
  const Iommu::Mapping mapping{requester, bus, memory, direction, memory_.node_of(memory.data)};
  iommu_.map(mapping);
  return mapping;
}

// A process' addresses are behind the function's own, which its rings are at.
HostMemory::Found HostMemory::look_up(const DmaRequester& requester, std::uint64_t bus,
                                      Bytes length, bool device_writes) {
  const auto own = iommu_.translate(requester, bus, length, device_writes);
  auto* const process = own.mapping == nullptr && requester.pasid != 0
                            ? processes_.find(requester.function, requester.pasid)
                            : nullptr;
  if (process == nullptr) return {own.status, own.mapping, 0};
  const DmaRequester inside{requester.function, 0, requester.translated};
  const auto found = process->translate(inside, bus, length, device_writes);
  // Who asks is told that there is nothing, or nothing to be written.
  const auto status = requester.asks ? Completion::kSuccess : found.status;
  return {status, found.mapping, requester.pasid};
}

HostMemoryPort::Access HostMemory::reach(DmaRequester requester, std::uint64_t bus, Bytes length,
                                         bool device_writes, std::uint64_t cause) {
  auto access = locate(requester, bus, length, device_writes, cause);
  if (weak_ != nullptr && access.data != nullptr && !device_writes) {
    access.data = weak_->device_reads(access.data, length);
  }
  return access;
}

HostMemoryPort::Access HostMemory::locate(const DmaRequester& requester, std::uint64_t bus,
                                          Bytes length, bool device_writes, std::uint64_t cause) {
  const auto found = look_up(requester, bus, length, device_writes);
  if (found.status != Completion::kSuccess) {
    faults_.record(
        {sim_now(), requester.function, requester.pasid, bus, device_writes, found.status}, cause);
    return {found.status, iommu_lookup_, nullptr, 0, iommu_lookup_};
  }
  if (found.mapping == nullptr) return {Completion::kSuccess, {}, nullptr, 0};
  const Bytes offset = bus - found.mapping->bus;
  const auto& memory = found.mapping->memory;
  return {Completion::kSuccess, {}, memory.data + offset, memory.size - offset};
}

bool HostMemory::refuses(const DmaRequester& requester, std::uint64_t bus, bool device_writes,
                         std::uint64_t cause) {
  if (requester.translated || requester.function >> 8 != refused_bus_) return false;
  refused_bus_ = kNoBus;
  faults_.record({sim_now(), requester.function, requester.pasid, bus, device_writes,
                  Completion::kUnsupportedRequest},
                 cause);
  return true;
}

// A request under a translation of its own needs none of the IOTLB.
HostMemoryPort::Access HostMemory::access(DmaRequester requester, std::uint64_t bus, Bytes length,
                                          bool device_writes, std::uint64_t cause) {
  if (refuses_next() && refuses(requester, bus, device_writes, cause)) {
    return {Completion::kUnsupportedRequest, iommu_lookup_, nullptr, 0, iommu_lookup_};
  }
  auto access = locate(requester, bus, length, device_writes, cause);
  if (access.status != Completion::kSuccess) return access;
  const auto found = look_up(requester, bus, length, device_writes);
  const int from = node_of_(requester.function);
  access.lookup = iommu_lookup_;
  if (found.mapping == nullptr) {
    const IommuPage page{requester.function, align_down(bus, kBusPage), kBusPage, found.pasid};
    access.walk = span(walker(requester.function).translate(page, from));
    walker(requester.function).found_nothing(page);
    access.lookup = access.latency = iommu_lookup_ + access.walk;
    return access;
  }
  const auto& mapping = *found.mapping;
  if (!requester.translated) {
    for (Bytes done = 0; done < length;) {
      const Bytes size = pages_.size_at(bus + done, mapping.bus, mapping.memory.size);
      const IommuPage page{requester.function, align_down(bus + done, size), size, found.pasid};
      access.walk = std::max(access.walk, span(walker(requester.function).translate(page, from)));
      done = page.bus + size - bus;
    }
    access.lookup = iommu_lookup_ + access.walk;
  }
  // Its turn on the bus comes while it is translated, or later.
  access.latency = std::max(access.lookup, span(memory_.take(mapping.node, length))) +
                   memory_.latency(device_writes, from, mapping.node);
  return access;
}

// --- Addresses of processes -------------------------------------------------------------------

void HostMemory::unmap_process(std::uint32_t requester, std::uint32_t pasid, std::uint64_t address,
                               Bytes size) {
  auto* const process = processes_.find(requester, pasid);
  if (process != nullptr) process->unmap(requester, address, size);
  walker(requester).invalidate(requester, address, size);
}

void HostMemory::retire_process(std::uint32_t requester, std::uint32_t pasid, std::uint64_t address,
                                Bytes size) {
  auto* const process = processes_.find(requester, pasid);
  if (process != nullptr) process->retire(requester, address, size);
  walker(requester).invalidate(requester, address, size);
}

std::byte* HostMemory::find(std::uint32_t requester, std::uint32_t pasid, std::uint64_t address,
                            Bytes length, bool device_writes) {
  auto* const tables = pasid == 0 ? &iommu_ : processes_.find(requester, pasid);
  if (tables == nullptr) return nullptr;
  const auto found = tables->translate({requester}, address, length, device_writes);
  return found.mapping == nullptr ? nullptr
                                  : found.mapping->memory.data + (address - found.mapping->bus);
}

// An entry of the queue is a write of memory.
void HostMemory::page_requested(DmaRequester requester, std::uint64_t address,
                                const PageRequestMessage& request, std::uint64_t cause) {
  constexpr Bytes kEntry = 32;
  const int node = node_of_(requester.function);
  const SimTime written =
      sim_now() + memory_.take(node, kEntry) + ticks(memory_.latency(true, node, node));
  const bool known = processes_.find(requester.function, requester.pasid) != nullptr;
  page_requests_.come({requester.function, requester.pasid, address, request, cause}, known,
                      written);
}

}  // namespace npu::model
