// SPDX-License-Identifier: Apache-2.0
// Memory that a program shares under a name, with the programs that it names.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "apps/exec/acl/named_shares.hpp"

namespace npu::exec::acl {

Value<std::string> name_of(const CallWindow& call, Bytes bytes) {
  const auto name = call.first(bytes);
  if (!name) return forward_fault(name);
  if (bytes > kLongestName) return fault(kInvalidParameter, "a name is shorter");
  return std::string(reinterpret_cast<const char*>(name->data), bytes);
}

namespace {

// Of the caller's own. kRuntimeParameter: it has no such name.
Value<std::map<std::string, NamedShare>::iterator> own_share(Caller& caller,
                                                             const std::string& name) {
  auto& names = caller.process().machine().names;
  const auto found = names.find(name);
  if (found == names.end() || found->second.owner != caller.process().number()) {
    return fault(kRuntimeParameter, name + " is no name of this program's");
  }
  return found;
}

}  // namespace

namespace {

// Held for the share: pages of small allocations are mapped, and nobody else's to share. Null: they
// are held already.
Value<SharedMemoryHandle> held_for_share(Caller& caller, ProcessCard& card,
                                         driver::MemoryHandle memory) {
  for (const auto& [name, share] : caller.process().machine().names) {
    const bool same = share.owner == caller.process().number() && share.device == card.index() &&
                      share.memory == memory;
    if (same && share.held != nullptr) return share.held;
  }
  const auto held = card.space().import_memory(card.space(), memory);
  if (held) return share_handle(card.space(), *held);
  if (held.error().code == ErrorCode::kAlreadyExists) return SharedMemoryHandle{};
  return fault(held.error());
}

}  // namespace

Value<std::string> share_under_name(Caller& caller, ProcessCard& card,
                                    driver::DeviceAddress address, Bytes bytes, bool everyone) {
  const auto range = card.space().range_of(address);
  const auto block = card.heap().find(address);
  const auto begin = block ? block->address : range ? range->begin : driver::DeviceAddress{};
  if (!range || !range->mapped || begin != address ||
      bytes > range->begin.value + range->size - address.value) {
    return fault(kRuntimeParameter, "allocations are shared from their beginning");
  }
  auto& machine = caller.process().machine();
  driver::ShareOptions options;
  options.everyone = true;  // whoever is let in by the name
  const auto held = held_for_share(caller, card, range->memory);
  if (!held) return forward_fault(held);
  const auto memory = *held != nullptr ? **held : range->memory;
  const auto key = machine.shares.share(card.space(), memory, options);
  if (!key) return fault(key.error());
  auto name = fmt::format("npusim-shared-{}", ++machine.names_given);
  machine.names[name] = {*key,
                         caller.process().number(),
                         card.index(),
                         memory,
                         *held,
                         range->offset,
                         range->size,
                         address.value - range->begin.value,
                         block ? bytes : range->size,
                         {},
                         everyone};
  return name;
}

// The name is in the window of the answer.
Value<wire::Text> serve(Caller& caller, const CallOf<Call::kShareName>& call) {
  const driver::DeviceAddress address{call.address};
  const auto card = caller.card_of(address, call.bytes);
  if (!card) return forward_fault(card);
  const auto name = share_under_name(caller, **card, address, call.bytes, call.everyone != 0);
  if (!name) return forward_fault(name);
  call.give(name->data(), name->size());
  return wire::Text{name->size()};
}

Outcome end_share(Caller& caller, const std::string& name) {
  const auto share = own_share(caller, name);
  if (!share) return forward_fault(share);
  auto& machine = caller.process().machine();
  for (std::uint32_t device = 0; device < machine.cards.count(); ++device) {
    auto* const card = caller.process().card(device);
    if (card != nullptr)
      static_cast<void>(machine.shares.withdraw(card->space(), (*share)->second.key));
  }
  const auto gone = machine.names.extract(*share);  // dies when the table is as it will be
  return {};
}

Outcome serve(Caller& caller, const CallOf<Call::kShareEnd>& call) {
  const auto name = name_of(call, call.bytes);
  if (!name) return forward_fault(name);
  return end_share(caller, *name);
}

Outcome admit_to_share(Caller& caller, const std::string& name, const CallWindow& call, Bytes at,
                       std::uint64_t count) {
  const auto share = own_share(caller, name);
  if (!share) return forward_fault(share);
  const Bytes most = std::min<Bytes>(count, kMostAdmitted);
  const auto all = call.first(at + most * sizeof(std::int32_t));
  if (!all) return forward_fault(all);
  for (Bytes i = 0; i < most; ++i) {
    std::int32_t id = 0;
    std::memcpy(&id, all->data + at + i * sizeof id, sizeof id);
    (*share)->second.admitted.insert(id);
  }
  return {};
}

Outcome serve(Caller& caller, const CallOf<Call::kShareAdmit>& call) {
  const auto name = name_of(call, call.name_bytes);
  if (!name) return forward_fault(name);
  return admit_to_share(caller, *name, call, call.name_bytes, call.count);
}

namespace {

// The program's own memory, or what it has of another's.
Value<SharedMemoryHandle> shared_memory(Process& process, ProcessCard& card,
                                        const NamedShare& share) {
  if (share.owner == process.number() && share.device == card.index()) {
    return std::make_shared<const driver::MemoryHandle>(share.memory);
  }
  return process.opened_share(card, share.key);
}

}  // namespace

Value<driver::DeviceAddress> open_share(Caller& caller, const std::string& name) {
  const auto card = caller.card();
  if (!card) return forward_fault(card);
  auto& process = caller.process();
  const auto found = process.machine().names.find(name);
  if (found == process.machine().names.end()) {
    return fault(kRuntimeParameter, name + " is no name");
  }
  const auto share = found->second;
  if (share.owner != process.number() && !share.everyone &&
      share.admitted.count(process.id()) == 0) {
    return fault(kRuntimeParameter, "the program was not let in: " + name);
  }
  auto& space = (*card)->space();
  const auto memory = shared_memory(process, **card, share);
  if (!memory) return forward_fault(memory);
  const auto range = space.reserve(share.size);
  Status mapped =
      range ? space.map(*range, share.size, **memory, share.offset) : Status(forward_error(range));
  if (mapped) mapped = space.set_access(*range, share.size, driver::Access::kReadWrite);
  if (!mapped) {
    if (range) static_cast<void>(space.unmap(*range, share.size));
    if (range) static_cast<void>(space.release(*range));
    return fault(mapped.error());
  }
  const auto address = range->value + share.place;
  if (auto* const races = process.machine().races) {
    races->memory().add((*card)->index(), (*card)->process().vmid(), address, share.bytes);
  }
  process.opened_shares[address] = {(*card)->index(), *range, share.size, share.bytes,
                                    *memory,          name,   share.place};
  return driver::DeviceAddress{address};
}

Value<wire::Address> serve(Caller& caller, const CallOf<Call::kShareOpen>& call) {
  const auto name = name_of(call, call.bytes);
  if (!name) return forward_fault(name);
  const auto& names = caller.process().machine().names;
  const auto share = names.find(*name);
  if (share != names.end() && share->second.notify) {
    return fault(kRuntimeParameter, *name + " is a notify");
  }
  const auto address = open_share(caller, *name);
  if (!address) return forward_fault(address);
  return wire::Address{address->value};
}

Outcome close_share(Process& process, std::uint64_t at) {
  const auto found = process.opened_shares.find(at);
  auto* const card =
      found == process.opened_shares.end() ? nullptr : process.card(found->second.device);
  if (card == nullptr) return fault(kRuntimeParameter, "nothing shared is opened there");
  const auto opened = found->second;
  process.opened_shares.erase(found);
  auto& space = card->space();
  process.drop_windows(card->index(), opened.pages, opened.size);
  if (auto* const races = process.machine().races) {
    races->memory().remove(card->index(), card->process().vmid(), at);
  }
  auto ended = space.unmap(opened.pages, opened.size);
  if (ended) ended = space.release(opened.pages);
  return outcome_of(ended);
}

// By who has exported the memory, or who has imported it.
Outcome serve(Caller& caller, const CallOf<Call::kShareLeave>& call) {
  const auto name = name_of(call, call.bytes);
  if (!name) return forward_fault(name);
  auto& process = caller.process();
  if (own_share(caller, *name)) {
    return end_share(caller, *name);
  }
  const auto opened = std::find_if(process.opened_shares.begin(), process.opened_shares.end(),
                                   [&name](const auto& each) { return each.second.name == *name; });
  if (opened == process.opened_shares.end()) {
    return fault(kRuntimeParameter, *name + " is neither the program's nor opened by it");
  }
  return close_share(process, opened->first);
}

Outcome serve(Caller& caller, const CallOf<Call::kShareClose>& call) {
  return close_share(caller.process(), call.address);
}

// From now on only these may import what the number says.
Outcome serve(Caller& caller, const CallOf<Call::kMemAdmit>& call) {
  auto& exported = caller.process().machine().exported;
  const auto found = exported.find(call.key);
  if (found == exported.end() || found->second.owner != caller.process().number()) {
    return fault(kRuntimeParameter, "the number is of no memory of this program's");
  }
  const Bytes count = std::min<Bytes>(call.count, kMostAdmitted);
  const auto all = call.first(count * sizeof(std::int32_t));
  if (!all) return forward_fault(all);
  auto& admitted = found->second.admitted;
  if (!admitted) admitted.emplace();
  for (Bytes i = 0; i < count; ++i) {
    std::int32_t id = 0;
    std::memcpy(&id, all->data + i * sizeof id, sizeof id);
    admitted->insert(id);
  }
  return {};
}

}  // namespace npu::exec::acl
