// SPDX-License-Identifier: Apache-2.0
#include "driver/managed/advice.hpp"

#include <fmt/format.h>

#include "npu/base/checked.hpp"

namespace npu::driver {
namespace {

// A card's copies are readable ones only while the host has its own.
Status set_read_mostly(ManagedPages& pages, std::uint64_t at, ManagedPage& page, bool set) {
  if (page.read_mostly == set) return {};
  if (page.on_card()) {
    if (auto ok = pages.fetch_run(at, 1); !ok) return ok;
  }
  page.read_mostly = set;
  return {};
}

Status set_accessed_by(ManagedPages& pages, std::uint64_t at, ManagedPage& page, bool set,
                       MemoryLocation location) {
  if (location.type == MemoryLocation::Type::kHost) {
    page.accessed_by_host = set;
    return {};
  }
  const std::uint64_t bit = std::uint64_t{1} << location.device;
  page.accessed_by = set ? page.accessed_by | bit : page.accessed_by & ~bit;
  const bool wanted_there = set && page.preferred == location && !page.touched();
  return wanted_there ? pages.create_on_card(at) : Status{};
}

MemoryLocation location_of(const ManagedPage& page, std::uint32_t card) {
  if (page.on_card()) return MemoryLocation::card(card);
  return page.host ? MemoryLocation::host() : MemoryLocation{};
}

MemoryLocation common(MemoryLocation a, MemoryLocation b) {
  return a == b ? a : MemoryLocation{};
}

}  // namespace

Status advise(ManagedPages& pages, std::uint64_t at, Bytes size, MemoryAdvice advice, bool set,
              MemoryLocation location) {
  if (auto ok = pages.check(at, size); !ok) return ok;
  const auto card = MemoryLocation::card(pages.device().card.device_index);
  const bool known = location == card || location == MemoryLocation::host();
  if (advice != MemoryAdvice::kReadMostly && set && !known) {
    return fail(ErrorCode::kInvalidArgument, "a location that this managed memory has not");
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
        ok = set_accessed_by(pages, place, page, set, known ? location : card);
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
  const std::uint32_t card = pages.device().card.device_index;
  const auto of = [card](const ManagedPage& page) {
    return ManagedAttributes{page.read_mostly,      page.preferred,     page.accessed_by,
                             page.accessed_by_host, page.last_prefetch, location_of(page, card),
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
