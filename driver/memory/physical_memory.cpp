// SPDX-License-Identifier: Apache-2.0
#include "driver/memory/physical_memory.hpp"

#include <algorithm>
#include <cassert>

#include "npu/abi/page_table.hpp"

namespace npu::driver {

static_assert(abi::kVmids <= 32, "MemoryBlock::holders has a bit per VMID");

Result<MemoryHandle> PhysicalMemory::create(Bytes size, bool pinned, unsigned vmid) {
  collect();
  const auto memory = allocator_.allocate(size);
  if (!memory) return forward_error(memory);
  const auto index = take_slot();
  auto& block = blocks_[index];
  block.address = memory->address.value;
  block.size = memory->reserved;
  block.mappings = 0;
  block.holders = 1U << vmid;
  block.head = 0;
  block.pinned = pinned;
  block.lent.reset();
  trace_.tell(pinned ? platform::BlockState::kPinned : platform::BlockState::kAllocated,
              block.address, block.size);
  return handle_of(index);
}

Result<MemoryHandle> PhysicalMemory::create_at(std::uint64_t address, Bytes size, unsigned vmid) {
  collect();
  const auto memory = allocator_.allocate_at(DeviceAddress{address}, size);
  if (!memory) return forward_error(memory);
  const auto index = take_slot();
  auto& block = blocks_[index];
  block.address = address;
  block.size = memory->reserved;
  block.mappings = 0;
  block.holders = 1U << vmid;
  block.head = 0;
  block.pinned = true;
  block.lent.reset();
  trace_.tell(platform::BlockState::kPinned, block.address, block.size);
  return handle_of(index);
}

std::uint32_t PhysicalMemory::take_slot() {
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<std::uint32_t>(blocks_.size()));
    blocks_.emplace_back();
  }
  const auto index = free_slots_.back();
  free_slots_.pop_back();
  return index;
}

PeerLease PhysicalMemory::lend(MemoryHandle handle) {
  auto& block = *find(handle);
  assert(block.is_local());
  if (!block.lent) block.lent = std::make_shared<PeerLease::Count>(0U);
  return PeerLease(block.lent);
}

MemoryHandle PhysicalMemory::add_peer(std::uint64_t target, Bytes size, PeerLease lease,
                                      unsigned vmid) {
  const auto handle = add_remote(target, size, vmid);
  find(handle)->lease = std::move(lease);
  return handle;
}

MemoryHandle PhysicalMemory::add_host(std::uint64_t target, Bytes size, unsigned vmid) {
  const auto handle = add_remote(target, size, vmid);
  find(handle)->is_host = true;
  return handle;
}

MemoryHandle PhysicalMemory::add_remote(std::uint64_t target, Bytes size, unsigned vmid) {
  const auto index = take_slot();
  auto& block = blocks_[index];
  block.address = target;
  block.size = size;
  block.head = 0;
  block.mappings = 0;
  block.holders = 1U << vmid;
  block.pinned = true;
  return handle_of(index);
}

MemoryHandle PhysicalMemory::find_peer(std::uint64_t target) const {
  for (std::uint32_t index = 0; index < blocks_.size(); ++index) {
    const auto& block = blocks_[index];
    if (block.live() && block.is_peer() && block.address == target) return handle_of(index);
  }
  return {};
}

void PhysicalMemory::collect() {
  std::vector<std::uint32_t> candidates;
  candidates.swap(lent_only_);
  for (const auto index : candidates) free_if_unused(index);
}

MemoryBlock* PhysicalMemory::find(MemoryHandle handle) {
  if (handle.index >= blocks_.size()) return nullptr;
  auto& block = blocks_[handle.index];
  return block.live() && block.generation == handle.generation ? &block : nullptr;
}

void PhysicalMemory::hold(MemoryHandle handle, unsigned vmid) {
  auto& block = *find(handle);
  block.holders |= 1U << vmid;
}

void PhysicalMemory::release(MemoryHandle handle, unsigned vmid) {
  auto& block = *find(handle);
  block.holders &= ~(1U << vmid);
  free_if_unused(handle.index);
}

void PhysicalMemory::add_mapping(MemoryHandle handle) {
  ++find(handle)->mappings;
}

void PhysicalMemory::remove_mapping(MemoryHandle handle) {
  --find(handle)->mappings;
  free_if_unused(handle.index);
}

void PhysicalMemory::release_all(unsigned vmid) {
  for (std::uint32_t index = 0; index < blocks_.size(); ++index) {
    if (blocks_[index].live() && blocks_[index].held_by(vmid)) release(handle_of(index), vmid);
  }
}

void PhysicalMemory::relocate(std::uint32_t index, std::uint64_t address) {
  auto& block = blocks_[index];
  trace_.tell(platform::BlockState::kFree, block.address, block.size);
  block.address = address;
  trace_.tell(platform::BlockState::kMoved, block.address, block.size);
}

void PhysicalMemory::split(std::uint32_t index, std::uint64_t address, Bytes head,
                           std::uint64_t rest) {
  auto& block = blocks_[index];
  trace_.tell(platform::BlockState::kFree, block.address, block.size);
  block.address = address;
  block.head = head;
  block.rest = rest;
  ++split_;
  trace_.tell(platform::BlockState::kMoved, block.address, block.head);
  trace_.tell(platform::BlockState::kMoved, block.rest, block.size - block.head);
}

void PhysicalMemory::quarantine(std::uint64_t address, Bytes size, Residue residue) {
  quarantined_.push_back({address, size, residue});
}

void PhysicalMemory::end_quarantine(Residue residue) {
  const auto stays = [&](const QuarantinedPlace& place) { return place.residue != residue; };
  const auto first = std::stable_partition(quarantined_.begin(), quarantined_.end(), stays);
  for (auto place = first; place != quarantined_.end(); ++place) {
    [[maybe_unused]] const auto freed = allocator_.free(DeviceAddress{place->address});
    assert(freed && "a quarantined place is an allocation");
  }
  quarantined_.erase(first, quarantined_.end());
}

MemoryStatistics PhysicalMemory::statistics() const {
  auto result = allocator_.statistics();
  for (const auto& place : quarantined_) result.quarantined += place.size;
  result.allocations -= quarantined_.size() + split_;
  return result;
}

void PhysicalMemory::free_if_unused(std::uint32_t index) {
  auto& block = blocks_[index];
  if (block.holders != 0 || block.mappings != 0) return;
  if (block.is_lent()) {
    lent_only_.push_back(index);
    return;
  }
  if (!block.is_local()) {
    block.lease = {};
    block.is_host = false;
  } else {
    [[maybe_unused]] const auto freed = allocator_.free(DeviceAddress{block.address});
    assert(freed && "a live block is an allocation");
    trace_.tell(platform::BlockState::kFree, block.address,
                block.is_split() ? block.head : block.size);
    if (block.is_split()) {
      trace_.tell(platform::BlockState::kFree, block.rest, block.size - block.head);
      static_cast<void>(allocator_.free(DeviceAddress{block.rest}));
      --split_;
    }
  }
  if (!charges_.empty()) charges_.erase(index);
  block.size = 0;
  ++block.generation;
  if (block.generation == 0) block.generation = 1;  // 0 is no handle
  free_slots_.push_back(index);
}

}  // namespace npu::driver
