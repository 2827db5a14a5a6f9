// SPDX-License-Identifier: Apache-2.0
#include "apps/compat/hal/zones.hpp"

#include <iterator>
#include <utility>

#include "apps/compat/client/managed_view.hpp"
#include "apps/compat/client/pinned.hpp"
#include "apps/compat/client/signals_held.hpp"

namespace npu::compat {
namespace {

constexpr std::uint64_t kModule = 75;  // of message buffers
constexpr std::size_t kSmallest = 64;  // bytes that a block takes of its zone, or a multiple

std::uintptr_t round_up(std::uintptr_t value, std::size_t to) {
  return (value + to - 1) / to * to;
}

drvError_t get(const Zones::Kind& kind, std::size_t size, void** memory) {
  if (!kind.managed) return hal_error(allocate_pinned(memory, size));
  return hal_error(allocate_managed(memory, size, true, kModule));
}

void give_back(const Zones::Kind& kind, void* memory) {
  const OnDevice on;
  if (!kind.managed) {
    static_cast<void>(free_pinned(memory));
  } else {
    static_cast<void>(hal_ask<Call::kFree>({word(memory)}));
  }
}

}  // namespace

// Left alone at the process' end: threads may still be in calls.
Zones& Zones::all() {
  static Zones* const kAll = new Zones;
  return *kAll;
}

// The first hole that is large enough.
bool Zones::take(std::uintptr_t zone, Zone& from, std::size_t size, std::size_t align,
                 void** block) {
  for (auto& [begin, bytes] : from.holes) {
    const auto at = round_up(begin, align);
    const std::size_t taken = round_up(at + size, kSmallest) - begin;
    if (at + size - begin > bytes) continue;
    const auto hole = begin;
    const std::size_t all = bytes, used = taken < all ? taken : all;
    from.holes.erase(hole);
    if (used < all) from.holes[hole + used] = all - used;
    blocks_[at] = {zone, hole, size, used, false};
    *block = reinterpret_cast<void*>(at);
    return true;
  }
  return false;
}

drvError_t Zones::add_zone(const Kind& kind, std::size_t size, std::uintptr_t* zone) {
  void* memory = nullptr;
  const std::size_t whole = round_up(size, kPageBytes);
  drvError_t failed{};
  if (kind.any_device) {
    const OnDevice on;
    failed = get(kind, whole, &memory);
  } else {
    const OnDevice on(kind.device);
    failed = get(kind, whole, &memory);
  }
  if (failed != DRV_ERROR_NONE) return failed;
  *zone = reinterpret_cast<std::uintptr_t>(memory);
  Zone made{kind, whole, {}};
  made.holes[*zone] = whole;
  zones_[*zone] = std::move(made);
  return DRV_ERROR_NONE;
}

drvError_t Zones::allocate(const Kind& kind, std::size_t size, std::size_t align, void** block) {
  if (size > SIZE_MAX / 2) return DRV_ERROR_OUT_OF_MEMORY;
  const Locked held(lock_);
  for (auto& [begin, zone] : zones_) {
    const bool same = !(zone.kind < kind) && !(kind < zone.kind);
    if (same && take(begin, zone, size, align, block)) return DRV_ERROR_NONE;
  }
  std::uintptr_t begin = 0;
  // Pinned memory begins with a page of 4 KiB, which a larger alignment need not be.
  const std::size_t spare = align > kHostPage && !kind.managed ? align : 0;
  const auto failed = add_zone(kind, size + spare, &begin);
  if (failed != DRV_ERROR_NONE) return failed;
  return take(begin, zones_[begin], size, align, block) ? DRV_ERROR_NONE : DRV_ERROR_INNER_ERR;
}

drvError_t Zones::free(const void* block) {
  const Locked held(lock_);
  const auto found = blocks_.find(reinterpret_cast<std::uintptr_t>(block));
  if (found == blocks_.end() || found->second.kept) return DRV_ERROR_INVALID_VALUE;
  const Block gone = found->second;
  blocks_.erase(found);
  const auto zone = zones_.find(gone.zone);
  auto& holes = zone->second.holes;
  auto hole = holes.insert({gone.begin, gone.taken}).first;
  const auto next = std::next(hole);
  if (next != holes.end() && hole->first + hole->second == next->first) {
    hole->second += next->second;
    holes.erase(next);
  }
  if (hole != holes.begin()) {
    const auto before = std::prev(hole);
    if (before->first + before->second == hole->first) {
      before->second += hole->second;
      holes.erase(hole);
      hole = before;
    }
  }
  if (hole->second != zone->second.size) return DRV_ERROR_NONE;
  const Kind kind = zone->second.kind;
  zones_.erase(zone);
  give_back(kind, reinterpret_cast<void*>(gone.zone));
  return DRV_ERROR_NONE;
}

std::size_t Zones::size_of(const void* block) {
  const Locked held(lock_);
  const auto found = blocks_.find(reinterpret_cast<std::uintptr_t>(block));
  return found == blocks_.end() ? 0 : found->second.size;
}

bool Zones::keep(const void* block, bool kept) {
  const Locked held(lock_);
  const auto found = blocks_.find(reinterpret_cast<std::uintptr_t>(block));
  if (found == blocks_.end() || found->second.kept == kept) return false;
  found->second.kept = kept;
  return true;
}

}  // namespace npu::compat
