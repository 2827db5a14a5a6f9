// SPDX-License-Identifier: Apache-2.0
// What software on the host does with memory in bulk, at the cost of the task that does it: copies,
// and the operating system's part of giving DMA memory out and taking it back.
#pragma once

#include "model/host/cpu.hpp"
#include "model/host/host_memory.hpp"
#include "npu/platform/activity.hpp"

namespace npu::model {

class MemoryWork {
 public:
  MemoryWork(Simulation& simulation, HostCpus& cpus, HostMemory& memory,
             const HostMemoryConfig& config)
      : simulation_(simulation), cpus_(cpus), memory_(memory), config_(config) {}

  // The node of the current task.
  int node() const;
  // One core reads and writes; bytes arrive piece by piece. Sizes are equal.
  void copy(ByteSpan to, ConstByteSpan from);
  // Fresh memory on `node` is zeroed.
  void clear(ByteSpan memory, int node);
  // Fresh memory: pages are zeroed, pinned and entered into the IOMMU's tables.
  void provide(const Iommu::Mapping& mapping);
  // Memory that there is: its pages are pinned and entered into the IOMMU's tables.
  void pin(const Iommu::Mapping& mapping);
  // Memory that is pinned: its pages are entered into the IOMMU's tables, of one function more.
  void map(const Iommu::Mapping& mapping);
  // They are taken out of them, and the IOTLB forgets them.
  void unmap(const Iommu::Mapping& mapping);
  // Memory that no device reaches any more: its pages are taken out of the IOMMU's tables, the
  // IOTLB forgets them, and they are unpinned.
  void take_back(const Iommu::Mapping& mapping);

 private:
  // The current task moves a piece at `rate`, or as fast as the nodes let it.
  void move(Bytes size, std::uint64_t rate, int to, int from);
  void spend(Picoseconds time) {
    cpus_.charge(time);
    cpus_.synchronise();
  }
  void trace(platform::Activity activity, SimTime begin, Bytes size, std::uint64_t pages);

  Simulation& simulation_;
  HostCpus& cpus_;
  HostMemory& memory_;
  HostMemoryConfig config_;
};

}  // namespace npu::model
