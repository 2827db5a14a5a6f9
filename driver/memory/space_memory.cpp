// SPDX-License-Identifier: Apache-2.0
// Space: physical memory, plain allocation, the end.
#include <fmt/format.h>

#include <algorithm>

#include "driver/memory/space.hpp"
#include "npu/base/checked.hpp"

namespace npu::driver {

Status Space::check_held(MemoryHandle memory) const {
  const auto* block = physical_.find(memory);
  if (block && block->held_by(vmid_)) return {};
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("VMID {} holds no memory {}.{}{}", vmid_, memory.index, memory.generation,
                          block ? "; it belongs to another" : ""));
}

Result<MemoryHandle> Space::create_memory(Bytes size, bool pinned) {
  if (size == 0 || !is_aligned(size, kPageSize)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("VMID {}: memory of {} bytes, sizes are multiples of {}", vmid_, size,
                            kPageSize));
  }
  return physical_.create(size, pinned, vmid_);
}

bool Space::maps(MemoryHandle memory) const {
  return std::any_of(mappings_.begin(), mappings_.end(),
                     [&](const auto& mapping) { return mapping.second.memory == memory; });
}

Status Space::release_memory(MemoryHandle memory) {
  if (auto ok = check_held(memory); !ok) return ok;
  physical_.release(memory, vmid_);
  return {};
}

Result<MemoryHandle> Space::import_memory(const Space& owner, MemoryHandle memory) {
  if (auto ok = owner.check_held(memory); !ok) return forward_error(ok);
  if (physical_.find(memory)->held_by(vmid_)) {
    return fail(ErrorCode::kAlreadyExists, fmt::format("VMID {} holds memory {}.{} already", vmid_,
                                                       memory.index, memory.generation));
  }
  physical_.hold(memory, vmid_);
  return memory;
}

Result<LentMemory> Space::lend(MemoryHandle memory) {
  if (auto ok = check_held(memory); !ok) return forward_error(ok);
  const auto* block = physical_.find(memory);
  if (block->is_peer()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("memory {}.{} of VMID {} is another card's: only its owner lends it",
                            memory.index, memory.generation, vmid_));
  }
  if (block->is_split()) {
    return fail(ErrorCode::kBusy,
                fmt::format("memory {}.{} of VMID {} is in two pieces since a compaction failed",
                            memory.index, memory.generation, vmid_));
  }
  return LentMemory{block->address, block->size, physical_.lend(memory)};
}

// Blocks of a peer are at most one each in the books, whoever borrows them.
Result<MemoryHandle> Space::borrow(unsigned card, LentMemory memory) {
  const auto target = abi::PageTableEntry::peer_target(card, memory.address);
  const auto known = physical_.find_peer(target);
  if (known == MemoryHandle{}) {
    return physical_.add_peer(target, memory.size, std::move(memory.lease), vmid_);
  }
  if (physical_.find(known)->held_by(vmid_)) {
    return fail(ErrorCode::kAlreadyExists, fmt::format("VMID {} holds that memory of card {} "
                                                       "already, as {}.{}",
                                                       vmid_, card, known.index, known.generation));
  }
  physical_.hold(known, vmid_);
  return known;
}

Result<DeviceMemory> Space::allocate(Bytes size, bool pinned) {
  if (size == 0) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("VMID {}: allocation of 0 bytes", vmid_));
  }
  const auto memory = physical_.create(size, pinned, vmid_);
  if (!memory) return forward_error(memory);
  const auto reserved = physical_.find(*memory)->size;
  const auto at = ranges_.reserve(reserved, kPageSize, true);
  if (!at) {
    physical_.release(*memory, vmid_);
    return fail(at.error().code, fmt::format("VMID {}: {}", vmid_, at.error().context));
  }
  const Mapping mapping{reserved, *memory, 0, Access::kReadWrite};
  if (auto ok = write_tables({*at, reserved}, mapping); !ok) {
    ranges_.release(*at);
    physical_.release(*memory, vmid_);
    return forward_error(ok);
  }
  mappings_[*at] = mapping;
  // From now on the mapping alone keeps the block.
  physical_.add_mapping(*memory);
  physical_.release(*memory, vmid_);
  return DeviceMemory{DeviceAddress{*at}, size, reserved};
}

Status Space::free(std::uint64_t at) {
  const auto* reservation = ranges_.find(at);
  if (!reservation || !reservation->plain) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("no allocation begins at {}", place(at)));
  }
  if (auto ok = drop({at, reservation->size}); !ok) return ok;
  ranges_.release(at);
  return {};
}

std::size_t Space::tables_to_remap(const std::vector<std::vector<std::uint64_t>>& targets) const {
  std::size_t needed = 0;
  for (const auto& [at, mapping] : mappings_) {
    auto places = targets[mapping.memory.index];
    for (auto& place : places) place += mapping.offset;
    if (!places.empty()) needed += tables_.tables_to_move({at, mapping.size}, places);
  }
  return needed;
}

Status Space::remap(const std::vector<bool>& moved, bool& changed) {
  Status status;
  for (const auto& [at, mapping] : mappings_) {
    if (!moved[mapping.memory.index]) continue;
    changed = true;
    if (auto ok = write_tables({at, mapping.size}, mapping); !ok && status) status = ok;
  }
  return status;
}

Status Space::prepare_managed(const PageRange& range) {
  if (auto ok = tables_.prepare(range); !ok) {
    return fail(ok.error().code, fmt::format("VMID {}: {}", vmid_, ok.error().context));
  }
  managed_[range.at] = range.size;
  return {};
}

Status Space::release_managed(const PageRange& range) {
  tables_.forget(range);
  managed_.erase(range.at);
  return invalidate(range);
}

Status Space::tear_down(bool card_usable) {
  if (card_usable) {
    table_memory_.write_context(vmid_, {});
    if (auto ok = invalidate_all(); !ok) return ok;
  }
  for (const auto& [at, mapping] : mappings_) physical_.remove_mapping(mapping.memory);
  mappings_.clear();
  physical_.release_all(vmid_);
  tables_.destroy();
  return {};
}

}  // namespace npu::driver
