// SPDX-License-Identifier: Apache-2.0
// Memory: allocation, host memory, address ranges and mappings, queries.
#include <fmt/format.h>

#include <algorithm>

#include "apps/exec/acl/handlers.hpp"

namespace npu::exec::acl {
namespace {

// Kinds of memory that are HBM (aclrtMemAttr).
bool is_hbm(std::uint64_t attribute) {
  return attribute == 1 || attribute == 4 || attribute == 5 || (attribute >= 8 && attribute <= 11);
}

constexpr std::uint32_t kLastPolicy = 7;

// aclrtMemMallocPolicy. What other cards are to reach (P2P) has pages of its own.
driver::PagePolicy policy_of(std::uint32_t policy) {
  constexpr std::uint32_t kHugeFirst = 0, kNormalOnly = 2, kHuge1gOnly = 6;
  if (policy == kHugeFirst) return driver::PagePolicy::kHugeFirst;
  if (policy == kNormalOnly) return driver::PagePolicy::kNormal;
  return policy < kHuge1gOnly ? driver::PagePolicy::kHugeOnly : driver::PagePolicy::kGiantOnly;
}

}  // namespace

Value<wire::Address> serve(Caller& caller, const CallOf<Call::kMalloc>& call) {
  const auto card = caller.card();
  if (!card) return forward_fault(card);
  if (call.policy > kLastPolicy) return fault(kInvalidParameter, "no policy");
  const auto padding = std::min<Bytes>(call.padding, call.bytes);
  const auto address = call.shareable != 0 ? (*card)->allocate_shareable(call.bytes)
                                           : (*card)->allocate(call.bytes - padding,
                                                               policy_of(call.policy), padding);
  if (!address) return forward_fault(address);
  caller.process().book.add((*card)->index(), *address, call.bytes, call.module);
  if (auto* const races = caller.process().machine().races) {
    races->memory().add((*card)->index(), (*card)->process().vmid(), address->value, call.bytes);
  }
  return wire::Address{address->value};
}

namespace {

// Any card may use it.
Outcome free_managed(Process& process, driver::DeviceAddress address) {
  std::vector<driver::StreamMark> in_flight;
  for (auto* const card : process.cards()) {
    for (auto& mark : process.in_flight(card->index())) in_flight.push_back(std::move(mark));
  }
  process.book.remove(address);  // before others may be given it
  return process.managed().free(address, std::move(in_flight));
}

}  // namespace

// Other cards' copies may be in flight there, too.
Outcome serve(Caller& caller, const CallOf<Call::kFree>& call) {
  const driver::DeviceAddress address{call.address};
  const auto card = caller.card_of(address, 1);
  if (!card && card.error().code == kRuntimeParameter) {
    return fault(
        kRuntimeParameter,
        fmt::format("{:#x} is not allocated: it was freed before, or never was", address.value));
  }
  if (!card) return forward_fault(card);
  auto& process = caller.process();
  if (process.managed().has(address, 1)) return free_managed(process, address);
  const auto device = (*card)->index();
  auto in_flight = process.in_flight(device);
  for (auto* const other : process.cards()) {
    if (!other->peers().has(device, address, std::max<Bytes>((*card)->size_of(address), 1))) {
      continue;
    }
    for (auto& mark : process.in_flight(other->index())) in_flight.push_back(std::move(mark));
  }
  if (auto* const races = process.machine().races) {
    const auto known = process.book.find(address);
    if (known && known->begin == address) {
      races->freed(caller.site(), device, (*card)->process().vmid(), address.value, known->size);
    }
  }
  process.book.remove(address);  // before others may be given it
  return (*card)->free(address, std::move(in_flight),
                       [&process, device](driver::DeviceAddress at, Bytes size) {
                         process.drop_windows(device, at, size);
                       });
}

namespace {

// The program gets the memory with the answer.
Value<wire::Handle> give_host(Caller& caller, Bytes size, bool touched) {
  const auto card = caller.card();
  if (!card) return forward_fault(card);
  auto shared = SharedMemory::make(size);
  if (!shared) return fault(shared.error());
  auto memory = std::make_shared<PinnedMemory>(std::move(*shared));
  memory->touched = touched;
  if (auto mapped = (*card)->map(*memory); !mapped) return forward_fault(mapped);
  if (auto sent = caller.channel().send(*memory->shared); !sent) return fault(sent.error());
  memory->shared->close_file();
  return wire::Handle{caller.process().pinned.add(std::move(memory))};
}

}  // namespace

// The program's pages, of which the card that the thread is on has a mapping.
Value<wire::Handle> serve(Caller& caller, const CallOf<Call::kMallocHost>& call) {
  return give_host(caller, call.bytes, false);
}

// The same of pages that the program has had before.
Value<wire::Handle> serve(Caller& caller, const CallOf<Call::kRegisterHost>& call) {
  return give_host(caller, call.bytes, true);
}

Value<wire::Address> serve(Caller& caller, const CallOf<Call::kMapHost>& call) {
  const auto card = caller.card();
  if (!card) return forward_fault(card);
  const auto memory = caller.process().pinned.find(call.handle);
  if (memory == nullptr) return fault(kRuntimeParameter, "it is not pinned: it was freed before");
  const auto here = (*card)->open_window(*memory);
  if (!here) return forward_fault(here);
  return wire::Address{here->value};
}

Outcome serve(Caller& caller, const CallOf<Call::kUnmapHost>& call) {
  const auto memory = caller.process().pinned.find(call.handle);
  if (memory == nullptr) return fault(kRuntimeParameter, "it is not pinned: it was freed before");
  for (auto* const card : caller.process().cards()) card->close_window(*memory);
  return {};
}

Outcome serve(Caller& caller, const CallOf<Call::kHostAccess>& call) {
  auto* const races = caller.process().machine().races;
  const auto memory = caller.process().pinned.find(call.memory);
  if (races == nullptr || memory == nullptr || !memory->place) return {};
  const Bytes size = memory->shared->bytes().size;
  if (call.offset > size || call.bytes > size - call.offset) return {};
  const auto kind = call.write != 0 ? races::AccessKind::kWrite : races::AccessKind::kRead;
  races->accessed(caller.site(), kind, *memory->place + call.offset, call.offset, call.bytes);
  return {};
}

// What nobody knows of is over.
Value<wire::Number> serve(Caller& caller, const CallOf<Call::kCopyIsOver>& call) {
  auto* const races = caller.process().machine().races;
  const auto memory = caller.process().pinned.find(call.memory);
  if (races == nullptr || memory == nullptr) return wire::Number{1};
  const auto goes_on = [&](const PinnedMemory::InFlight& each) {
    return each.offset == call.offset && each.size == call.bytes && each.stream == call.stream &&
           !races->is_over(each.last);
  };
  const auto& all = memory->in_flight;
  return wire::Number{std::any_of(all.begin(), all.end(), goes_on) ? 0U : 1U};
}

// Copies that are in flight keep it until they have ended.
Outcome serve(Caller& caller, const CallOf<Call::kFreeHost>& call) {
  if (caller.process().pinned.find(call.handle) == nullptr) {
    return fault(kRuntimeParameter, "it is not allocated: it was freed before, or never was");
  }
  if (auto* const races = caller.process().machine().races) {
    const auto memory = caller.process().pinned.find(call.handle);
    if (memory->place) {
      races->accessed(caller.site(), races::AccessKind::kFree, *memory->place, 0,
                      memory->shared->bytes().size);
    }
  }
  const auto gone = caller.process().pinned.find(call.handle);
  for (auto* const card : caller.process().cards()) card->close_window(*gone);
  caller.process().pinned.remove(call.handle);
  return {};
}

Value<wire::MemoryInfo> serve(Caller& caller, const CallOf<Call::kGetMemInfo>& call) {
  const auto card = caller.card();
  if (!card) return forward_fault(card);
  if (call.number > 11) return fault(kInvalidParameter, "no kind of memory");
  if (!is_hbm(call.number)) return wire::MemoryInfo{};
  caller.process().reclaim_freed();
  const auto memory = (*card)->space().memory_statistics();
  return wire::MemoryInfo{memory.free, memory.total};
}

Value<wire::MemoryUse> serve(Caller& caller, const CallOf<Call::kMemoryUse>&) {
  caller.process().reclaim_freed();
  const auto use = caller.process().memory().use();
  return wire::MemoryUse{use.limit, use.used(), use.most, use.refused};
}

Outcome serve(Caller& caller, const CallOf<Call::kLimitMemory>& call) {
  caller.process().limit_memory(call.bytes);
  return {};
}

Value<wire::PointerAttributes> serve(Caller& caller, const CallOf<Call::kPointerAttributes>& call) {
  if (auto own = caller.card(); !own) return forward_fault(own);
  const driver::DeviceAddress address{call.address};
  const auto card = caller.card_of(address, 1);
  if (!card) return wire::PointerAttributes{wire::kLocationUnregistered};
  auto& managed = caller.process().managed();
  const auto* const allocation = managed.find(address);
  if (allocation == nullptr) {
    return wire::PointerAttributes{wire::kLocationDevice, (*card)->index(), driver::kPageSize};
  }
  const auto all = managed.memory()->attributes(address, 1);
  if (!all) return fault(all.error());
  using Type = driver::MemoryLocation::Type;
  const auto page = all->location.type == Type::kDevice ? wire::kPageOnDevice
                    : all->location.type == Type::kHost ? wire::kPageOnHost
                                                        : 0;
  return wire::PointerAttributes{wire::kLocationManaged, allocation->device, driver::kPageSize,
                                 allocation->heap, page};
}

Value<wire::Number> serve(Caller& caller, const CallOf<Call::kPlace>& call) {
  if (auto own = caller.card(); !own) return forward_fault(own);
  return wire::Number{caller.card_of({call.address}, 1).has_value()};
}

Value<wire::Address> serve(Caller& caller, const CallOf<Call::kReserveMemAddress>& call) {
  const auto card = caller.card();
  if (!card) return forward_fault(card);
  const auto range = (*card)->space().reserve(call.bytes);
  if (!range) return fault(range.error());
  return wire::Address{range->value};
}

namespace {

// What aclrtMalloc() gives is mapped by the heap alone.
Outcome not_of_heap(const ProcessCard& card, driver::DeviceAddress address) {
  if (!card.heap().contains(address)) return {};
  return fault(kRuntimeParameter,
               fmt::format("{:#x} belongs to aclrtMalloc(), not to aclrtReserveMemAddress()",
                           address.value));
}

}  // namespace

Outcome serve(Caller& caller, const CallOf<Call::kReleaseMemAddress>& call) {
  const driver::DeviceAddress address{call.address};
  const auto card = caller.card();
  if (!card) return forward_fault(card);
  if (auto ok = not_of_heap(**card, address); !ok) return ok;
  return outcome_of((*card)->space().release(address));
}

Value<wire::Handle> serve(Caller& caller, const CallOf<Call::kMallocPhysical>& call) {
  const auto own = caller.card();
  if (!own) return forward_fault(own);
  auto& process = caller.process();
  auto* const card = process.card(call.device);
  if (card == nullptr) return fault(kInvalidDevice, "the device is not set");
  const auto memory = card->space().create_memory(call.bytes);
  if (!memory) return fault(memory.error());
  const auto handle = process.physicals.add(std::make_shared<Physical>(
      Physical{share_handle(card->space(), *memory), card->index(), call.bytes}));
  process.book.add_physical(handle, card->index(), call.bytes, call.module);
  return wire::Handle{handle};
}

namespace {

struct Held {
  std::shared_ptr<Physical> physical;
  ProcessCard* card;
};

Value<Held> physical_of(Caller& caller, std::uint64_t handle) {
  const auto found = caller.process().physicals.find(handle);
  auto* const card = found == nullptr ? nullptr : caller.process().card(found->device);
  if (card == nullptr) return fault(kInvalidHandle, fmt::format("{:#x} is no memory", handle));
  return Held{found, card};
}

}  // namespace

Outcome serve(Caller& caller, const CallOf<Call::kFreePhysical>& call) {
  const auto held = physical_of(caller, call.handle);
  if (!held) return forward_fault(held);
  caller.process().physicals.remove(call.handle);
  caller.process().book.remove_physical(call.handle);
  return {};
}

Outcome serve(Caller& caller, const CallOf<Call::kMapMem>& call) {
  const auto held = physical_of(caller, call.memory);
  if (!held) return forward_fault(held);
  auto& space = held->card->space();
  const driver::DeviceAddress at{call.address};
  if (auto ok = not_of_heap(*held->card, at); !ok) return ok;
  auto mapped = space.map(at, call.bytes, *held->physical->memory, call.offset);
  if (!mapped) return fault(mapped.error());
  auto opened = space.set_access(at, call.bytes, driver::Access::kReadWrite);
  if (!opened) static_cast<void>(space.unmap(at, call.bytes));
  if (auto* const races = caller.process().machine().races; opened && races != nullptr) {
    races->memory().add(held->card->index(), held->card->process().vmid(), call.address,
                        call.bytes);
  }
  return outcome_of(opened);
}

Outcome serve(Caller& caller, const CallOf<Call::kUnmapMem>& call) {
  const driver::DeviceAddress address{call.address};
  const auto card = caller.card_of(address, 1);
  if (!card) return forward_fault(card);
  const auto range = (*card)->space().range_of(address);
  if (!range || range->begin != address) {
    return fault(kRuntimeParameter, "nothing is mapped from there on");
  }
  if (auto ok = not_of_heap(**card, address); !ok) return ok;
  caller.process().drop_windows((*card)->index(), range->begin, range->size);
  if (auto* const races = caller.process().machine().races) {
    races->memory().remove((*card)->index(), (*card)->process().vmid(), range->begin.value);
  }
  return outcome_of((*card)->space().unmap(range->begin, range->size));
}

Outcome serve(Caller& caller, const CallOf<Call::kMemSetAccess>& call) {
  const driver::DeviceAddress address{call.address};
  const auto card = caller.card_of(address, call.bytes);
  if (!card) return forward_fault(card);
  if (call.device != (*card)->index()) return fault(kFeature, "access of another card");
  const auto access = call.access == 0   ? driver::Access::kNone
                      : call.access == 1 ? driver::Access::kRead
                                         : driver::Access::kReadWrite;
  if (call.access > 3 || call.access == 2) return fault(kInvalidParameter, "no access");
  caller.process().drop_windows((*card)->index(), address, call.bytes);
  return outcome_of((*card)->space().set_access(address, call.bytes, access));
}

// One number for all handles of the memory.
Value<wire::Number> serve(Caller& caller, const CallOf<Call::kMemExport>& call) {
  const auto held = physical_of(caller, call.handle);
  if (!held) return forward_fault(held);
  const auto& memory = held->physical->memory;
  auto& machine = caller.process().machine();
  for (auto each = machine.exported.begin(); each != machine.exported.end();) {
    const auto known = each->second.memory.lock();
    if (known == memory) {
      return wire::Number{each->first};
    }
    each = known == nullptr ? machine.exported.erase(each) : std::next(each);
  }
  driver::ShareOptions options;
  options.everyone = true;
  const auto key = machine.shares.share(held->card->space(), *memory, options);
  if (!key) return fault(key.error());
  machine.exported[key->value] = {caller.process().number(), held->card->index(),
                                  held->physical->size, memory, std::nullopt};
  return wire::Number{key->value};
}

namespace {

// Memory of the program itself, or of another one.
Value<SharedMemoryHandle> imported(Process& process, ProcessCard& card, std::uint64_t number,
                                   const Exported& from) {
  const auto own = from.owner == process.number() ? from.memory.lock() : nullptr;
  if (own != nullptr && from.device == card.index()) return own;
  auto* const owner = own == nullptr ? nullptr : process.card(from.device);
  if (owner != nullptr) return card.peers().import(owner->space(), from.device, *own);
  return process.opened_share(card, driver::ShareKey{number});
}

}  // namespace

Value<wire::Handle> serve(Caller& caller, const CallOf<Call::kMemImport>& call) {
  auto& process = caller.process();
  auto* const card = process.card(call.device);
  if (card == nullptr) return fault(kInvalidDevice, "the device is not set");
  const auto found = process.machine().exported.find(call.key);
  if (found == process.machine().exported.end()) {
    return fault(kRuntimeParameter, fmt::format("{} is no memory's number", call.key));
  }
  const auto from = found->second;
  if (from.owner != process.number() && from.admitted && from.admitted->count(process.id()) == 0) {
    return fault(kRuntimeParameter, "the program was not let in");
  }
  const auto memory = imported(process, *card, call.key, from);
  if (!memory) return forward_fault(memory);
  return wire::Handle{process.physicals.add(
      std::make_shared<Physical>(Physical{*memory, card->index(), from.size}))};
}

}  // namespace npu::exec::acl
