// SPDX-License-Identifier: Apache-2.0
#include "driver/managed/advice.hpp"

#include <fmt/format.h>

#include "driver/managed/card_pages.hpp"
#include "npu/base/checked.hpp"

namespace npu::driver {
namespace {

// A card's copies are readable ones only while the host has its own.
Status set_read_mostly(ManagedPages& pages, std::uint64_t at, ManagedPage& page, bool set) {
  if (page.read_mostly == set) return {};
  if (auto ok = pages.revoke_cards(at, page); !ok) return ok;
  page.read_mostly = set;
  if (set) pages.limit_view(at, page, Access::kRead);
  return page.host ? pages.expose(at, page) : Status{};
}

// The card of the location; nullptr: the host's.
Result<CardPages*> card_of(const ManagedPages& pages, MemoryLocation location) {
  if (location == MemoryLocation::host()) return nullptr;
  const bool card = location.type == MemoryLocation::Type::kDevice;
  if (auto* const found = card ? pages.card_of(location.device) : nullptr) return found;
  return fail(ErrorCode::kInvalidArgument, "a location that this managed memory has not");
}

Status set_accessed_by(std::uint64_t at, ManagedPage& page, bool set, CardPages* card) {
  if (card == nullptr) {
    page.accessed_by_host = set;
    return {};
  }
  const std::uint64_t bit = std::uint64_t{1} << card->device_index();
  page.accessed_by = set ? page.accessed_by | bit : page.accessed_by & ~bit;
  const bool wanted_there = set && page.preferred == card->location() && !page.touched();
  if (!wanted_there) return {};
  if (auto ok = card->usable(); !ok) return ok;
  return card->create(at);
}

MemoryLocation location_of(const ManagedPages& pages, const ManagedPage& page) {
  const unsigned holder = page.holder();
  if (holder == page.cards.size()) return page.host ? MemoryLocation::host() : MemoryLocation{};
  unsigned copies = 0;
  for (const auto& card : page.cards) copies += card.there() ? 1 : 0;
  return copies == 1 ? pages.cards()[holder]->location() : MemoryLocation::host();
}

MemoryLocation common(MemoryLocation a, MemoryLocation b) {
  return a == b ? a : MemoryLocation{};
}

}  // namespace

Status advise(ManagedPages& pages, std::uint64_t at, Bytes size, MemoryAdvice advice, bool set,
              MemoryLocation location) {
  if (auto ok = pages.check(at, size); !ok) return ok;
  const bool nobody = !set && location.type == MemoryLocation::Type::kNone;
  const bool of_use = advice == MemoryAdvice::kAccessedBy && !nobody;
  CardPages* card = nullptr;
  if (of_use || (advice == MemoryAdvice::kPreferredLocation && set)) {
    const auto found = card_of(pages, location);
    if (!found) return forward_error(found);
    card = *found;
  }
  const std::uint64_t end = at + size;
  for (std::uint64_t place = align_down(at, kPageSize); place < end; place += kPageSize) {
    auto& page = *pages.find(place);
    Status ok;
    switch (advice) {
      case MemoryAdvice::kReadMostly:
        ok = set_read_mostly(pages, place, page, set);
        break;
      case MemoryAdvice::kPreferredLocation:
        page.preferred = set ? location : MemoryLocation{};
        break;
      case MemoryAdvice::kAccessedBy:
        if (nobody) {
          page.accessed_by = 0;
          page.accessed_by_host = false;
        } else {
          ok = set_accessed_by(place, page, set, card);
        }
        break;
    }
    if (!ok) return ok;
  }
  return {};
}

bool any_read_mostly(ManagedPages& pages, std::uint64_t at, Bytes size) {
  for (std::uint64_t place = align_down(at, kPageSize); place < at + size; place += kPageSize) {
    if (pages.find(place)->read_mostly) return true;
  }
  return false;
}

Result<ManagedAttributes> attributes(ManagedPages& pages, std::uint64_t at, Bytes size) {
  if (auto ok = pages.check(at, size); !ok) return forward_error(ok);
  if (size == 0) return fail(ErrorCode::kInvalidArgument, "attributes of 0 bytes");
  const auto of = [&pages](const ManagedPage& page) {
    return ManagedAttributes{page.read_mostly,      page.preferred,     page.accessed_by,
                             page.accessed_by_host, page.last_prefetch, location_of(pages, page),
                             page.touched()};
  };
  std::uint64_t place = align_down(at, kPageSize);
  ManagedAttributes all = of(*pages.find(place));
  for (place += kPageSize; place < at + size; place += kPageSize) {
    const auto own = of(*pages.find(place));
    all.read_mostly = all.read_mostly && own.read_mostly;
    all.preferred = common(all.preferred, own.preferred);
    all.accessed_by &= own.accessed_by;
    all.accessed_by_host = all.accessed_by_host && own.accessed_by_host;
    all.last_prefetch = common(all.last_prefetch, own.last_prefetch);
    all.location = common(all.location, own.location);
    all.touched = all.touched && own.touched;
  }
  return all;
}

}  // namespace npu::driver
