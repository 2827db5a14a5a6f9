// SPDX-License-Identifier: Apache-2.0
#include "model/host/numa_memory.hpp"

#include <sys/mman.h>

#include <iterator>

#include "model/core/bus_page.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {

NumaMemory::NumaMemory(const HostMemoryConfig& config)
    : config_(config),
      used_(config.numa_nodes),
      buses_(config.numa_nodes, MemoryBus(config.bandwidth)) {}

NumaMemory::~NumaMemory() {
  for (const auto& [data, block] : blocks_) {
    if (block.own) munmap(data, block.memory.size);
  }
}

ByteSpan NumaMemory::allocate(Bytes size, int node) {
  const auto rounded = checked_align_up(size, kBusPage);
  auto& used = used_[static_cast<std::size_t>(node)];
  if (!rounded || !range_fits(used, *rounded, config_.size_per_node)) return {};
  void* const memory = mmap(nullptr, *rounded, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return {};
  used += *rounded;
  const ByteSpan span{static_cast<std::byte*>(memory), *rounded};
  blocks_[span.data] = {span, node, true, true, 1};
  return span;
}

bool NumaMemory::adopt(ByteSpan memory, int node, bool fresh) {
  const auto known = blocks_.find(memory.data);
  if (known != blocks_.end() && known->second.memory.size == memory.size && !known->second.own) {
    ++known->second.users;
    return true;
  }
  auto& used = used_[static_cast<std::size_t>(node)];
  if (fresh && !range_fits(used, memory.size, config_.size_per_node)) return false;
  const auto next = blocks_.lower_bound(memory.data);
  if (next != blocks_.end() && next->first < memory.data + memory.size) return false;
  if (node_of(memory.data) >= 0) return false;
  if (fresh) used += memory.size;
  blocks_[memory.data] = {memory, node, false, fresh, 1};
  return true;
}

bool NumaMemory::free(ByteSpan memory) {
  const auto found = blocks_.find(memory.data);
  if (found == blocks_.end()) return false;
  Block& block = found->second;
  if (--block.users > 0) return true;
  if (block.counted) used_[static_cast<std::size_t>(block.node)] -= block.memory.size;
  if (block.own) munmap(memory.data, block.memory.size);
  blocks_.erase(found);
  return true;
}

int NumaMemory::node_of(const std::byte* data) const {
  const auto next = blocks_.upper_bound(const_cast<std::byte*>(data));
  if (next == blocks_.begin()) return -1;
  const auto& [begin, block] = *std::prev(next);
  return data < begin + block.memory.size ? block.node : -1;
}

Picoseconds NumaMemory::latency(bool device_writes, int from, int node) const {
  const Picoseconds near = device_writes ? config_.write_latency : config_.read_latency;
  return from == node ? near : near + config_.remote_penalty;
}

}  // namespace npu::model
