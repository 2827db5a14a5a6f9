// SPDX-License-Identifier: Apache-2.0
#include "driver/memory/held_memory.hpp"

#include <fmt/format.h>

#include <utility>

#include "npu/base/checked.hpp"

namespace npu::driver {

Status HeldMemory::check(MemoryHandle memory) const {
  const auto* block = physical_.find(memory);
  if (block && block->held_by(vmid_)) return {};
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("VMID {} holds no memory {}.{}{}", vmid_, memory.index, memory.generation,
                          block ? "; it belongs to another" : ""));
}

Result<MemoryHandle> HeldMemory::create(Bytes size, bool pinned) {
  if (size == 0 || !is_aligned(size, kPageSize)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("VMID {}: memory of {} bytes, sizes are multiples of {}", vmid_, size,
                            kPageSize));
  }
  return physical_.create(size, pinned, vmid_);
}

Status HeldMemory::release(MemoryHandle memory) {
  if (auto ok = check(memory); !ok) return ok;
  physical_.release(memory, vmid_);
  return {};
}

Result<MemoryHandle> HeldMemory::import(const HeldMemory& owner, MemoryHandle memory, bool mapped) {
  if (auto ok = owner.check(memory); !ok && !mapped) return forward_error(ok);
  if (physical_.find(memory)->held_by(vmid_)) {
    return fail(ErrorCode::kAlreadyExists, fmt::format("VMID {} holds memory {}.{} already", vmid_,
                                                       memory.index, memory.generation));
  }
  physical_.hold(memory, vmid_);
  return memory;
}

Result<LentMemory> HeldMemory::lend(MemoryHandle memory, bool mapped) {
  if (auto ok = check(memory); !ok && !mapped) return forward_error(ok);
  const auto* block = physical_.find(memory);
  if (!block->is_local()) {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("memory {}.{} of VMID {} is {}: only its owner lends it", memory.index,
                    memory.generation, vmid_, block->is_host ? "the host's" : "another card's"));
  }
  if (block->is_split()) {
    return fail(ErrorCode::kBusy,
                fmt::format("memory {}.{} of VMID {} is in two pieces since a compaction failed",
                            memory.index, memory.generation, vmid_));
  }
  return LentMemory{block->address, block->size, physical_.lend(memory)};
}

Result<MemoryHandle> HeldMemory::hold_host(std::uint64_t bus, Bytes size) {
  if (bus == 0 || size == 0 || !is_aligned(bus, kPageSize)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("VMID {}: {} bytes of host memory at bus address {:#x}, which is no "
                            "multiple of {}",
                            vmid_, size, bus, kPageSize));
  }
  const auto target = abi::PageTableEntry::host_target(bus);
  return physical_.add_host(target, align_down(size + kPageSize - 1, kPageSize), vmid_);
}

// Blocks of a peer are at most one each in the books, whoever borrows them.
Result<MemoryHandle> HeldMemory::borrow(unsigned card, LentMemory memory) {
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

}  // namespace npu::driver
