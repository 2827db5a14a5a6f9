// SPDX-License-Identifier: Apache-2.0
// Memory: allocation, host memory, address ranges and mappings, queries.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "apps/exec/acl/handlers.hpp"

namespace npu::exec::acl {
namespace {

driver::DeviceAddress address_of(const CallRecord& call, std::size_t word = 0) {
  return {call.words[word]};
}

// Kinds of memory that are HBM (aclrtMemAttr).
bool is_hbm(std::uint64_t attribute) {
  return attribute == 1 || attribute == 4 || attribute == 5 || (attribute >= 8 && attribute <= 11);
}

constexpr std::uint64_t kLocationDevice = 1, kLocationUnregistered = 2, kLocationManaged = 3;

// aclrtMemMallocPolicy. What other cards are to reach (P2P) has pages of its own.
driver::PagePolicy policy_of(std::uint64_t word) {
  const auto policy = static_cast<std::uint32_t>(word);
  constexpr std::uint32_t kHugeFirst = 0, kNormalOnly = 2, kHuge1gOnly = 6;
  if (policy == kHugeFirst) return driver::PagePolicy::kHugeFirst;
  if (policy == kNormalOnly) return driver::PagePolicy::kNormal;
  return policy < kHuge1gOnly ? driver::PagePolicy::kHugeOnly : driver::PagePolicy::kGiantOnly;
}

}  // namespace

// Words: bytes, policy and in its upper half how many of the bytes are padding, whether it may be
// shared under a name, module.
Outcome allocate(Caller& caller, CallRecord& call) {
  const auto card = caller.card();
  if (!card) return forward_fault(card);
  const auto [size, policy, shareable] = std::tuple(call.words[0], call.words[1], call.words[2]);
  const Bytes padding = std::min(policy >> compat::kPaddingShift, size);
  const auto address = shareable != 0
                           ? (*card)->allocate_shareable(size)
                           : (*card)->allocate(size - padding, policy_of(policy), padding);
  if (!address) return forward_fault(address);
  caller.process().book.add((*card)->index(), *address, call.words[0], call.words[3]);
  call.words[0] = address->value;
  return {};
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
Outcome free(Caller& caller, CallRecord& call) {
  const auto address = address_of(call);
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
  process.book.remove(address);  // before others may be given it
  return (*card)->free(address, std::move(in_flight),
                       [&process, device](driver::DeviceAddress at, Bytes size) {
                         process.drop_windows(device, at, size);
                       });
}

namespace {

// Words of the answer: its number. The program gets the memory with it.
Outcome give_host(Caller& caller, CallRecord& call, bool touched) {
  const auto card = caller.card();
  if (!card) return forward_fault(card);
  auto shared = SharedMemory::make(call.words[0]);
  if (!shared) return fault(shared.error());
  auto memory = std::make_shared<PinnedMemory>(std::move(*shared));
  memory->touched = touched;
  if (auto mapped = (*card)->map(*memory); !mapped) return forward_fault(mapped);
  if (auto sent = caller.channel().send(*memory->shared); !sent) return fault(sent.error());
  memory->shared->close_file();
  call.words[0] = caller.process().pinned.add(std::move(memory));
  return {};
}

}  // namespace

// The program's pages, of which the card that the thread is on has a mapping.
Outcome allocate_host(Caller& caller, CallRecord& call) {
  return give_host(caller, call, false);
}

// The same of pages that the program has had before.
Outcome register_host(Caller& caller, CallRecord& call) {
  return give_host(caller, call, true);
}

// Copies that are in flight keep it until they have ended.
Outcome free_host(Caller& caller, CallRecord& call) {
  if (caller.process().pinned.find(call.words[0]) == nullptr) {
    return fault(kRuntimeParameter, "it is not allocated: it was freed before, or never was");
  }
  caller.process().pinned.remove(call.words[0]);
  return {};
}

Outcome get_mem_info(Caller& caller, CallRecord& call) {
  const auto card = caller.card();
  if (!card) return forward_fault(card);
  if (call.words[0] > 11) return fault(kInvalidParameter, "no kind of memory");
  if (!is_hbm(call.words[0])) {
    call.words[0] = call.words[1] = 0;
    return {};
  }
  caller.process().reclaim_freed();
  const auto memory = (*card)->space().memory_statistics();
  call.words[0] = memory.free;
  call.words[1] = memory.total;
  return {};
}

// Words of the answer, in bytes: limit, in use, most at a time; refused calls.
Outcome memory_use(Caller& caller, CallRecord& call) {
  caller.process().reclaim_freed();
  const auto use = caller.process().memory().use();
  call.words[0] = use.limit;
  call.words[1] = use.used();
  call.words[2] = use.most;
  call.words[3] = use.refused;
  return {};
}

Outcome limit_memory(Caller& caller, CallRecord& call) {
  caller.process().limit_memory(call.words[0]);
  return {};
}

// Words of the answer: kind of place, device, bytes of a page; of managed memory whether it is of
// the HAL's heap, and where the page is: nowhere 0, on the device 1, on the host 2.
Outcome pointer_attributes(Caller& caller, CallRecord& call) {
  if (auto own = caller.card(); !own) return forward_fault(own);
  const auto card = caller.card_of(address_of(call), 1);
  if (!card) {
    call.words[0] = kLocationUnregistered;
    call.words[1] = call.words[2] = call.words[3] = call.words[4] = 0;
    return {};
  }
  const auto address = address_of(call);
  auto& managed = caller.process().managed();
  const auto* const allocation = managed.find(address);
  call.words[0] = allocation != nullptr ? kLocationManaged : kLocationDevice;
  call.words[1] = allocation != nullptr ? allocation->device : (*card)->index();
  call.words[2] = driver::kPageSize;
  call.words[3] = allocation != nullptr && allocation->heap ? 1 : 0;
  call.words[4] = 0;
  if (allocation == nullptr) return {};
  const auto all = managed.memory()->attributes(address, 1);
  if (!all) return fault(all.error());
  using Type = driver::MemoryLocation::Type;
  if (all->location.type == Type::kDevice) call.words[4] = 1;
  if (all->location.type == Type::kHost) call.words[4] = 2;
  return {};
}

Outcome place(Caller& caller, CallRecord& call) {
  if (auto own = caller.card(); !own) return forward_fault(own);
  call.words[0] = caller.card_of(address_of(call), 1) ? 1 : 0;
  return {};
}

Outcome reserve(Caller& caller, CallRecord& call) {
  const auto card = caller.card();
  if (!card) return forward_fault(card);
  const auto range = (*card)->space().reserve(call.words[0]);
  if (!range) return fault(range.error());
  call.words[0] = range->value;
  return {};
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

Outcome release(Caller& caller, CallRecord& call) {
  const auto card = caller.card();
  if (!card) return forward_fault(card);
  if (auto ok = not_of_heap(**card, address_of(call)); !ok) return ok;
  return outcome_of((*card)->space().release(address_of(call)));
}

// Words: bytes, device, module.
Outcome allocate_physical(Caller& caller, CallRecord& call) {
  const auto own = caller.card();
  if (!own) return forward_fault(own);
  auto* const card = caller.process().card(static_cast<std::uint32_t>(call.words[1]));
  if (card == nullptr) return fault(kInvalidDevice, "the device is not set");
  const auto memory = card->space().create_memory(call.words[0]);
  if (!memory) return fault(memory.error());
  const Bytes size = call.words[0];
  auto& process = caller.process();
  call.words[0] = process.physicals.add(std::make_shared<Physical>(
      Physical{share_handle(card->space(), *memory), card->index(), size}));
  process.book.add_physical(call.words[0], card->index(), size, call.words[2]);
  return {};
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

Outcome free_physical(Caller& caller, CallRecord& call) {
  const auto held = physical_of(caller, call.words[0]);
  if (!held) return forward_fault(held);
  caller.process().physicals.remove(call.words[0]);
  caller.process().book.remove_physical(call.words[0]);
  return {};
}

Outcome map(Caller& caller, CallRecord& call) {
  const auto held = physical_of(caller, call.words[3]);
  if (!held) return forward_fault(held);
  auto& space = held->card->space();
  const auto at = address_of(call);
  if (auto ok = not_of_heap(*held->card, at); !ok) return ok;
  auto mapped = space.map(at, call.words[1], *held->physical->memory, call.words[2]);
  if (!mapped) return fault(mapped.error());
  auto opened = space.set_access(at, call.words[1], driver::Access::kReadWrite);
  if (!opened) static_cast<void>(space.unmap(at, call.words[1]));
  return outcome_of(opened);
}

Outcome unmap(Caller& caller, CallRecord& call) {
  const auto card = caller.card_of(address_of(call), 1);
  if (!card) return forward_fault(card);
  const auto range = (*card)->space().range_of(address_of(call));
  if (!range || range->begin != address_of(call)) {
    return fault(kRuntimeParameter, "nothing is mapped from there on");
  }
  if (auto ok = not_of_heap(**card, address_of(call)); !ok) return ok;
  caller.process().drop_windows((*card)->index(), range->begin, range->size);
  return outcome_of((*card)->space().unmap(range->begin, range->size));
}

Outcome set_access(Caller& caller, CallRecord& call) {
  const auto card = caller.card_of(address_of(call), call.words[1]);
  if (!card) return forward_fault(card);
  if (call.words[2] != (*card)->index()) return fault(kFeature, "access of another card");
  const auto access = call.words[3] == 0   ? driver::Access::kNone
                      : call.words[3] == 1 ? driver::Access::kRead
                                           : driver::Access::kReadWrite;
  if (call.words[3] > 3 || call.words[3] == 2) return fault(kInvalidParameter, "no access");
  caller.process().drop_windows((*card)->index(), address_of(call), call.words[1]);
  return outcome_of((*card)->space().set_access(address_of(call), call.words[1], access));
}

// One number for all handles of the memory.
Outcome export_memory(Caller& caller, CallRecord& call) {
  const auto held = physical_of(caller, call.words[0]);
  if (!held) return forward_fault(held);
  const auto& memory = held->physical->memory;
  auto& machine = caller.process().machine();
  for (auto each = machine.exported.begin(); each != machine.exported.end();) {
    const auto known = each->second.memory.lock();
    if (known == memory) {
      call.words[0] = each->first;
      return {};
    }
    each = known == nullptr ? machine.exported.erase(each) : std::next(each);
  }
  driver::ShareOptions options;
  options.everyone = true;
  const auto key = machine.shares.share(held->card->space(), *memory, options);
  if (!key) return fault(key.error());
  machine.exported[key->value] = {caller.process().number(), held->card->index(),
                                  held->physical->size, memory};
  call.words[0] = key->value;
  return {};
}

namespace {

// Memory of the program itself, or of another one.
Value<SharedMemoryHandle> imported(Process& process, ProcessCard& card, std::uint64_t number,
                                   const Exported& from) {
  const auto own = from.owner == process.number() ? from.memory.lock() : nullptr;
  if (own != nullptr && from.device == card.index()) return own;
  auto* const owner = own == nullptr ? nullptr : process.card(from.device);
  if (owner != nullptr) return card.peers().import(owner->space(), from.device, *own);
  auto& known = process.imported[{number, card.index()}];
  if (auto there = known.lock()) return there;
  const auto opened = process.machine().shares.open(card.space(), driver::ShareKey{number});
  if (!opened) return fault(opened.error());
  auto shared = share_handle(card.space(), *opened);
  known = shared;
  return shared;
}

}  // namespace

Outcome import_memory(Caller& caller, CallRecord& call) {
  auto& process = caller.process();
  auto* const card = process.card(static_cast<std::uint32_t>(call.words[1]));
  if (card == nullptr) return fault(kInvalidDevice, "the device is not set");
  const auto found = process.machine().exported.find(call.words[0]);
  if (found == process.machine().exported.end()) {
    return fault(kRuntimeParameter, fmt::format("{} is no memory's number", call.words[0]));
  }
  const auto from = found->second;
  const auto memory = imported(process, *card, call.words[0], from);
  if (!memory) return forward_fault(memory);
  call.words[0] = process.physicals.add(
      std::make_shared<Physical>(Physical{*memory, card->index(), from.size}));
  return {};
}

}  // namespace npu::exec::acl
