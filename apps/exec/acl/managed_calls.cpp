// SPDX-License-Identifier: Apache-2.0
// Managed memory.
#include <cstring>
#include <vector>

#include "apps/exec/acl/handlers.hpp"
#include "npu/abi/identity.hpp"

namespace npu::exec::acl {
namespace {

using driver::DeviceAddress;
using driver::MemoryLocation;

// aclrtMemManagedLocationType: device 1, host 2, NUMA node of the host 3.
Value<MemoryLocation> location_of(std::uint64_t type, std::uint64_t id) {
  if (type == 1) return MemoryLocation::card(static_cast<std::uint32_t>(id));
  if (type == 2 || type == 3) return MemoryLocation::host();
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

// Words: bytes, of the HAL's heap, pages that are its parent's, module. Of the answer: the address,
// whether the view comes with it.
Outcome allocate_managed(Caller& caller, CallRecord& call) {
  const auto card = caller.card();
  if (!card) return forward_fault(card);
  const bool heap = call.words[1] != 0;  // which every card has
  if (!heap && !abi::has_managed_memory((*card)->card().device->info().function.device_id)) {
    return fault(kFeature, "cards of this chip have no managed memory");
  }
  auto& managed = caller.process().managed();
  const auto view = managed.view();
  if (!view) return forward_fault(view);
  if (auto kept = managed.keep_free(call.words[2]); !kept) return fault(kept.error());
  const auto pager = caller.process().machine().images("pager");
  if (!pager) return fault(pager.error());
  const auto address = managed.allocate(**card, call.words[0], heap, *pager);
  if (!address) return forward_fault(address);
  caller.process().book.add((*card)->index(), *address, call.words[0], call.words[3]);
  call.words[0] = address->value;
  call.words[1] = (*view)->given() ? 0 : 1;
  if ((*view)->given()) return {};
  if (auto given = (*view)->give(caller.channel()); !given) return fault(given.error());
  return {};
}

// Words: address, write. Of the answer: what the program may do with the page, unless an entry of
// the ring from that number on says something else.
Outcome touch_managed(Caller& caller, CallRecord& call) {
  const DeviceAddress address{call.words[0]};
  const auto managed = managed_of(caller, address, 1);
  if (!managed) return forward_fault(managed);
  const auto view = caller.process().managed().view();
  if (!view) return forward_fault(view);
  const auto before = (*view)->posted();
  const auto rights = (*managed)->touch(address, call.words[1] != 0);
  if (!rights) return fault(rights.error());
  call.words[0] = static_cast<std::uint64_t>(*rights);
  call.words[1] = before;
  return {};
}

namespace {

std::uint64_t page_of(std::uint64_t address) {
  return (address - compat::kManagedBegin) / compat::kManagedPage;
}

// Of pages that lie side by side.
struct Run {
  std::uint64_t first = 0, count = 0;
  driver::Access rights = driver::Access::kNone;
};

// Of allocations that the program has.
std::vector<Run> runs_of(const ManagedSpace& space, const std::vector<driver::PageRights>& pages) {
  std::vector<Run> runs;
  for (const auto& page : pages) {
    if (space.find(page.at) == nullptr) continue;
    const auto number = page_of(page.at.value);
    const bool next = !runs.empty() && runs.back().first + runs.back().count == number &&
                      runs.back().rights == page.rights;
    if (!next) runs.push_back({number, 0, page.rights});
    ++runs.back().count;
  }
  return runs;
}

}  // namespace

// A child is about to be made, which has copies. Words of the answer: how many allocations there
// are, how many runs of pages that the program may use now, and from which entry of the ring on
// these may be limited. In the window: of each allocation
// its first page and its pages, then of each run the same and the rights.
Outcome managed_home(Caller& caller, CallRecord& call) {
  auto& managed = caller.process().managed();
  const auto view = managed.view();
  if (!view) return forward_fault(view);
  const auto before = (*view)->posted();
  std::vector<Run> runs;
  if (managed.memory() != nullptr) {
    const auto home = managed.memory()->touch_all();
    if (!home) return fault(home.error());
    runs = runs_of(managed, *home);
  }
  const auto& allocations = managed.allocations();
  std::vector<std::uint64_t> words;
  for (const auto& [at, allocation] : allocations) {
    words.insert(words.end(), {page_of(at), allocation.pages()});
  }
  for (const auto& run : runs) {
    words.insert(words.end(), {run.first, run.count, static_cast<std::uint64_t>(run.rights)});
  }
  const Bytes bytes = words.size() * sizeof words[0];
  if (bytes > call.window.size) return fault(kDriver, "too many pages for a child");
  if (bytes != 0) std::memcpy(call.window.data, words.data(), bytes);
  call.bytes = bytes;
  call.words[0] = allocations.size();
  call.words[1] = runs.size();
  call.words[2] = before;
  return {};
}

Outcome managed_advise(Caller& caller, CallRecord& call) {
  const DeviceAddress address{call.words[0]};
  const auto managed = managed_of(caller, address, call.words[1]);
  if (!managed) return forward_fault(managed);
  if (call.words[2] > 5) return fault(kInvalidParameter, "no advice");
  const auto advice = static_cast<driver::MemoryAdvice>(call.words[2] / 2);
  const bool set = call.words[2] % 2 == 0;
  MemoryLocation location;
  if (advice != driver::MemoryAdvice::kReadMostly && set) {
    const auto named = location_of(call.words[3], call.words[4]);
    if (!named) return forward_fault(named);
    location = *named;
  }
  return outcome_of((*managed)->advise(address, call.words[1], advice, set, location));
}

// Words: address, bytes, place's type and number, stream, by itself. Behind what the stream has.
Outcome managed_prefetch(Caller& caller, CallRecord& call) {
  const DeviceAddress address{call.words[0]};
  const auto managed = managed_of(caller, address, call.words[1]);
  if (!managed) return forward_fault(managed);
  const auto to = location_of(call.words[2], call.words[3]);
  if (!to) return forward_fault(to);
  if (call.words[5] == 0) {
    const auto stream = caller.stream(call.words[4]);
    if (!stream) return forward_fault(stream);
    auto before = synchronize(**stream, Instant::never(), kStreamTimeout);
    if (!before) return before;
  }
  const auto begun = (*managed)->prefetch(address, call.words[1], *to);
  if (!begun) return fault(begun.error());
  // Later work of the stream finds the pages there.
  return outcome_of((*managed)->wait(*begun, Instant::never()));
}

// Accesses of the card that nobody could serve, so far.
Outcome fault_errors(Caller& caller, CallRecord& call) {
  if (auto card = caller.card(); !card) return forward_fault(card);
  const auto* const managed = caller.process().managed().memory();
  call.words[0] = managed == nullptr ? 0 : managed->statistics().fault_errors;
  return {};
}

Outcome managed_attribute(Caller& caller, CallRecord& call) {
  const DeviceAddress address{call.words[0]};
  const auto managed = managed_of(caller, address, call.words[1]);
  if (!managed) return forward_fault(managed);
  const auto all = (*managed)->attributes(address, call.words[1]);
  if (!all) return fault(all.error());
  std::int32_t value = 0;
  switch (call.words[2]) {
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
  call.words[0] = static_cast<std::uint32_t>(value);
  return {};
}

}  // namespace npu::exec::acl
