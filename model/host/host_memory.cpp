// SPDX-License-Identifier: Apache-2.0
#include "model/host/host_memory.hpp"

namespace npu::model {

HostMemory::HostMemory(Simulation& simulation, const HostMemoryConfig& config,
                       std::function<int(std::uint16_t)> node_of)
    : iommu_lookup_(config.iommu_lookup),
      node_of_(std::move(node_of)),
      memory_(config),
      faults_(simulation) {}

Iommu::Mapping HostMemory::map(std::uint16_t requester, Bytes size, Bytes alignment,
                               platform::DmaDirection direction, int node) {
  const ByteSpan memory = memory_.allocate(size, node);
  if (memory.data == nullptr) return {};
  const Iommu::Mapping mapping{requester, iommu_.allocate(memory.size, alignment), memory,
                               direction, node};
  iommu_.map(mapping);
  return mapping;
}

HostMemoryPort::Access HostMemory::access(DmaRequester requester, std::uint64_t bus, Bytes length,
                                          bool device_writes, std::uint64_t cause) {
  const auto [status, mapping] = iommu_.translate(requester, bus, length, device_writes);
  if (mapping == nullptr) {
    faults_.record({sim_now(), requester.function, requester.pasid, bus, device_writes, status},
                   cause);
    return {status, iommu_lookup_, nullptr, 0};
  }
  const Bytes offset = bus - mapping->bus;
  return {
      Completion::kSuccess,
      iommu_lookup_ + memory_.latency(device_writes, node_of_(requester.function), mapping->node),
      mapping->memory.data + offset, mapping->memory.size - offset, iommu_lookup_};
}

}  // namespace npu::model
