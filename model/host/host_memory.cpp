// SPDX-License-Identifier: Apache-2.0
#include "model/host/host_memory.hpp"

#include <algorithm>

namespace npu::model {
namespace {

Picoseconds span(SimTime time) {
  return Picoseconds(static_cast<std::int64_t>(time));
}

}  // namespace

HostMemory::HostMemory(Simulation& simulation, const HostMemoryConfig& config,
                       std::function<int(std::uint16_t)> node_of)
    : iommu_lookup_(config.iommu_lookup),
      pages_(config.huge_page),
      node_of_(std::move(node_of)),
      memory_(config),
      faults_(simulation) {
  for (unsigned node = 0; node < config.numa_nodes; ++node) walkers_.emplace_back(config, memory_);
}

Iommu::Mapping HostMemory::map(std::uint16_t requester, Bytes size, Bytes alignment,
                               platform::DmaDirection direction, int node) {
  const ByteSpan memory = memory_.allocate(size, node);
  if (memory.data == nullptr) return {};
  const Bytes aligned = std::max(alignment, pages_.alignment(memory.size));
  const Iommu::Mapping mapping{requester, iommu_.allocate(memory.size, aligned), memory, direction,
                               node};
  iommu_.map(mapping);
  return mapping;
}

HostMemoryPort::Access HostMemory::reach(DmaRequester requester, std::uint64_t bus, Bytes length,
                                         bool device_writes, std::uint64_t cause) {
  const auto [status, mapping] = iommu_.translate(requester, bus, length, device_writes);
  if (mapping == nullptr) {
    faults_.record({sim_now(), requester.function, requester.pasid, bus, device_writes, status},
                   cause);
    return {status, iommu_lookup_, nullptr, 0, iommu_lookup_};
  }
  const Bytes offset = bus - mapping->bus;
  return {Completion::kSuccess, {}, mapping->memory.data + offset, mapping->memory.size - offset};
}

// A request under a translation of its own needs none of the IOTLB.
HostMemoryPort::Access HostMemory::access(DmaRequester requester, std::uint64_t bus, Bytes length,
                                          bool device_writes, std::uint64_t cause) {
  auto access = reach(requester, bus, length, device_writes, cause);
  if (access.data == nullptr) return access;
  const auto& mapping = *iommu_.translate(requester, bus, length, device_writes).mapping;
  const int from = node_of_(requester.function);
  access.lookup = iommu_lookup_;
  if (!requester.translated) {
    for (Bytes done = 0; done < length;) {
      const Bytes size = pages_.size_at(bus + done, mapping.bus, mapping.memory.size);
      const IommuPage page{requester.function, align_down(bus + done, size), size};
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

}  // namespace npu::model
