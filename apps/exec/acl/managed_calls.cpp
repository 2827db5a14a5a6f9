// SPDX-License-Identifier: Apache-2.0
// Managed memory.
#include <cstring>
#include <vector>

#include "apps/exec/acl/handlers.hpp"
#include "apps/exec/acl/models.hpp"
#include "npu/abi/identity.hpp"

namespace npu::exec::acl {
namespace {

using driver::DeviceAddress;
using driver::MemoryLocation;

Value<MemoryLocation> location_of(const wire::Location& location) {
  if (location.type == 1 && location.id <= UINT32_MAX) {
    return MemoryLocation::card(static_cast<std::uint32_t>(location.id));
  }
  if (location.type == 2 || location.type == 3) return MemoryLocation::host();
  return fault(kInvalidParameter, "no place");
}

Value<driver::ManagedMemory*> managed_of(Caller& caller, DeviceAddress address, Bytes size) {
  if (auto card = caller.card_of(address, size); !card) return forward_fault(card);
  auto& managed = caller.process().managed();
  if (!managed.has(address, size)) return fault(kRuntimeParameter, "it is no managed memory");
  return managed.memory();
}

// Device -1 is the host, -2 several or none.
std::int32_t number_of(const MemoryLocation& location) {
  constexpr std::int32_t kHost = -1, kMixed = -2;
  if (location.type == MemoryLocation::Type::kHost) return kHost;
  if (location.type == MemoryLocation::Type::kNone) return kMixed;
  return static_cast<std::int32_t>(location.device);
}

std::int32_t type_of(const MemoryLocation& location) {
  if (location.type == MemoryLocation::Type::kDevice) return 1;
  return location.type == MemoryLocation::Type::kHost ? 2 : 0;
}

std::int32_t accessed_by(const driver::ManagedAttributes& all) {
  for (std::int32_t device = 0; device < 64; ++device) {
    if ((all.accessed_by >> device & 1) != 0) return device;
  }
  return all.accessed_by_host ? -1 : -2;
}

}  // namespace

Value<wire::ManagedAddress> serve(Caller& caller, const CallOf<Call::kMallocManaged>& call) {
  const auto card = caller.card();
  if (!card) return forward_fault(card);
  const bool heap = call.heap != 0;  // which every card has
  if (!heap && !abi::has_managed_memory((*card)->card().device->info().function.device_id)) {
    return fault(kFeature, "cards of this chip have no managed memory");
  }
  auto& managed = caller.process().managed();
  const auto view = managed.view();
  if (!view) return forward_fault(view);
  if (auto kept = managed.keep_free(call.inherited); !kept) return fault(kept.error());
  const auto pager = caller.process().machine().images("pager");
  if (!pager) return fault(pager.error());
  const auto address = managed.allocate(**card, call.bytes, heap, *pager);
  if (!address) return forward_fault(address);
  caller.process().book.add((*card)->index(), *address, call.bytes, call.module);
  if ((*view)->given()) return wire::ManagedAddress{address->value};
  if (auto given = (*view)->give(caller.channel()); !given) return fault(given.error());
  return wire::ManagedAddress{address->value, 1};
}

Value<wire::TouchedPage> serve(Caller& caller, const CallOf<Call::kManagedTouch>& call) {
  const DeviceAddress address{call.address};
  const auto managed = managed_of(caller, address, 1);
  if (!managed) return forward_fault(managed);
  const auto view = caller.process().managed().view();
  if (!view) return forward_fault(view);
  const auto before = (*view)->posted();
  const auto rights = (*managed)->touch(address, call.write != 0);
  if (!rights) return fault(rights.error());
  return wire::TouchedPage{static_cast<std::uint64_t>(*rights), before};
}

namespace {

std::uint64_t page_of(std::uint64_t address) {
  return (address - compat::kManagedBegin) / compat::kManagedPage;
}

// Pages of allocations that the program has.
std::vector<wire::PagesInUse> runs_of(const ManagedSpace& space,
                                      const std::vector<driver::PageRights>& pages) {
  std::vector<wire::PagesInUse> runs;
  for (const auto& page : pages) {
    if (space.find(page.at) == nullptr) continue;
    const auto number = page_of(page.at.value);
    const auto rights = static_cast<std::uint64_t>(page.rights);
    const bool next = !runs.empty() && runs.back().rights == rights &&
                      runs.back().pages.first + runs.back().pages.count == number;
    if (!next) runs.push_back({{number, 0}, rights});
    ++runs.back().pages.count;
  }
  return runs;
}

}  // namespace

// A child is about to be made, which has copies.
Value<wire::ManagedHome> serve(Caller& caller, const CallOf<Call::kManagedHome>& call) {
  auto& managed = caller.process().managed();
  const auto view = managed.view();
  if (!view) return forward_fault(view);
  const auto before = (*view)->posted();
  std::vector<wire::PagesInUse> runs;
  if (managed.memory() != nullptr) {
    const auto home = managed.memory()->touch_all();
    if (!home) return fault(home.error());
    runs = runs_of(managed, *home);
  }
  std::vector<wire::Pages> allocations;
  for (const auto& [at, allocation] : managed.allocations()) {
    allocations.push_back({page_of(at), allocation.pages()});
  }
  const Bytes head = allocations.size() * sizeof allocations[0];
  const Bytes bytes = head + runs.size() * sizeof runs[0];
  if (bytes > call.window.size) return fault(kDriver, "too many pages for a child");
  call.give(allocations.data(), head);
  if (!runs.empty()) std::memcpy(call.window.data + head, runs.data(), bytes - head);
  return wire::ManagedHome{allocations.size(), runs.size(), before};
}

Outcome serve(Caller& caller, const CallOf<Call::kManagedAdvise>& call) {
  const DeviceAddress address{call.address};
  const auto managed = managed_of(caller, address, call.bytes);
  if (!managed) return forward_fault(managed);
  if (call.advice > 5) return fault(kInvalidParameter, "no advice");
  const auto advice = static_cast<driver::MemoryAdvice>(call.advice / 2);
  const bool set = call.advice % 2 == 0;
  MemoryLocation location;
  if (advice != driver::MemoryAdvice::kReadMostly && set) {
    const auto named = location_of(call.location);
    if (!named) return forward_fault(named);
    location = *named;
  }
  return outcome_of((*managed)->advise(address, call.bytes, advice, set, location));
}

Outcome serve(Caller& caller, const CallOf<Call::kManagedPrefetch>& call) {
  const DeviceAddress address{call.address};
  const auto managed = managed_of(caller, address, call.bytes);
  if (!managed) return forward_fault(managed);
  const auto to = location_of(call.location);
  if (!to) return forward_fault(to);
  if (call.by_itself == 0) {
    const auto stream = caller.stream(call.stream);
    if (!stream) return forward_fault(stream);
    if (auto plain = may_not_be_captured(**stream, "moves of managed memory"); !plain) return plain;
    auto before = synchronize(**stream, Instant::never(), kStreamTimeout);
    if (!before) return before;
  }
  const auto begun = (*managed)->prefetch(address, call.bytes, *to);
  if (!begun) return fault(begun.error());
  // Later work of the stream finds the pages there.
  return outcome_of((*managed)->wait(*begun, Instant::never()));
}

// Accesses of the card that nobody could serve, so far.
Value<wire::Number> serve(Caller& caller, const CallOf<Call::kFaultErrors>&) {
  if (auto card = caller.card(); !card) return forward_fault(card);
  const auto* const managed = caller.process().managed().memory();
  return wire::Number{managed == nullptr ? 0 : managed->statistics().fault_errors};
}

Value<wire::Number> serve(Caller& caller, const CallOf<Call::kManagedAttribute>& call) {
  const DeviceAddress address{call.address};
  const auto managed = managed_of(caller, address, call.bytes);
  if (!managed) return forward_fault(managed);
  const auto all = (*managed)->attributes(address, call.bytes);
  if (!all) return fault(all.error());
  std::int32_t value = 0;
  switch (call.attribute) {
    case 1:
      value = all->read_mostly ? 1 : 0;
      break;
    case 2:
    case 5:
      value = number_of(all->preferred);
      break;
    case 3:
      value = accessed_by(*all);
      break;
    case 4:
      value = type_of(all->preferred);
      break;
    case 6:
      value = number_of(all->last_prefetch);
      break;
    case 7:
      value = type_of(all->last_prefetch);
      break;
    case 8:
      value = number_of(all->last_prefetch);
      break;
    default:
      return fault(kInvalidParameter, "no attribute");
  }
  return wire::Number{static_cast<std::uint32_t>(value)};
}

}  // namespace npu::exec::acl
