// SPDX-License-Identifier: Apache-2.0
// Memory that a program shares under a name, with the programs that it names.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "apps/exec/acl/handlers.hpp"

namespace npu::exec::acl {
namespace {

// The name in the window, of `bytes`.
std::string name_of(const CallRecord& call, std::uint64_t bytes) {
  const auto* const text = reinterpret_cast<const char*>(call.window.data);
  return std::string(text, std::min({bytes, std::uint64_t{call.bytes}, kLongestName}));
}

// Of the caller's own. kRuntimeParameter: it has no such name.
Value<NamedShare*> own_share(Caller& caller, const std::string& name) {
  auto& names = caller.process().machine().names;
  const auto found = names.find(name);
  if (found == names.end() || found->second.owner != caller.process().number()) {
    return fault(kRuntimeParameter, name + " is no name of this program's");
  }
  return &found->second;
}

}  // namespace

// Words: address, bytes. The name is in the window of the answer, its length is word 0.
Outcome share_name(Caller& caller, CallRecord& call) {
  const driver::DeviceAddress address{call.words[0]};
  const auto card = caller.card_of(address, call.words[1]);
  if (!card) return forward_fault(card);
  const auto range = (*card)->space().range_of(address);
  if (!range || !range->mapped || range->begin != address || call.words[1] > range->size) {
    return fault(kRuntimeParameter, "only whole allocations are shared");
  }
  const auto block = (*card)->heap().find(address);
  if (block && !block->own_pages) {
    return fault(kRuntimeParameter, "other allocations are in the same page of 2 MiB");
  }
  auto& machine = caller.process().machine();
  driver::ShareOptions options;
  options.everyone = true;  // whoever is let in by the name
  const auto key = machine.shares.share((*card)->space(), range->memory, options);
  if (!key) return fault(key.error());
  const auto name = fmt::format("npusim-shared-{}", ++machine.names_given);
  machine.names[name] = {
      *key, caller.process().number(), (*card)->index(), range->memory, range->size, {}};
  std::memcpy(call.window.data, name.data(), name.size());
  call.words[0] = name.size();
  return {};
}

// Word 0: bytes of the name.
Outcome share_end(Caller& caller, CallRecord& call) {
  const auto name = name_of(call, call.words[0]);
  const auto share = own_share(caller, name);
  if (!share) return forward_fault(share);
  auto& machine = caller.process().machine();
  for (std::uint32_t device = 0; device < machine.cards.count(); ++device) {
    auto* const card = caller.process().card(device);
    if (card != nullptr) static_cast<void>(machine.shares.withdraw(card->space(), (*share)->key));
  }
  machine.names.erase(name);
  return {};
}

// Words: bytes of the name, process ids behind it, each of 4 bytes.
Outcome share_admit(Caller& caller, CallRecord& call) {
  const auto share = own_share(caller, name_of(call, call.words[0]));
  if (!share) return forward_fault(share);
  const Bytes count = std::min<Bytes>(call.words[1], kMostAdmitted);
  if (call.words[0] > kLongestName || call.words[0] + count * sizeof(std::int32_t) > call.bytes) {
    return fault(kInvalidParameter, "process ids");
  }
  for (Bytes i = 0; i < count; ++i) {
    std::int32_t id = 0;
    std::memcpy(&id, call.window.data + call.words[0] + i * sizeof id, sizeof id);
    (*share)->admitted.insert(id);
  }
  return {};
}

namespace {

// The program's own memory, or what it has of another's.
Value<SharedMemoryHandle> shared_memory(Process& process, ProcessCard& card,
                                        const NamedShare& share) {
  if (share.owner == process.number() && share.device == card.index()) {
    return std::make_shared<const driver::MemoryHandle>(share.memory);
  }
  auto& known = process.imported[{share.key.value, card.index()}];
  if (auto there = known.lock()) return there;
  const auto opened = process.machine().shares.open(card.space(), share.key);
  if (!opened) return fault(opened.error());
  auto shared = share_handle(card.space(), *opened);
  known = shared;
  return shared;
}

}  // namespace

// Word 0: bytes of the name. The answer is the address.
Outcome share_open(Caller& caller, CallRecord& call) {
  const auto card = caller.card();
  if (!card) return forward_fault(card);
  auto& process = caller.process();
  const auto name = name_of(call, call.words[0]);
  const auto found = process.machine().names.find(name);
  if (found == process.machine().names.end()) return fault(kRuntimeParameter, name + " is no name");
  const auto share = found->second;
  if (share.owner != process.number() && share.admitted.count(process.id()) == 0) {
    return fault(kRuntimeParameter, "the program was not let in: " + name);
  }
  auto& space = (*card)->space();
  const auto memory = shared_memory(process, **card, share);
  if (!memory) return forward_fault(memory);
  const auto range = space.reserve(share.size);
  Status mapped = range ? space.map(*range, share.size, **memory) : Status(forward_error(range));
  if (mapped) mapped = space.set_access(*range, share.size, driver::Access::kReadWrite);
  if (!mapped) {
    if (range) static_cast<void>(space.unmap(*range, share.size));
    if (range) static_cast<void>(space.release(*range));
    return fault(mapped.error());
  }
  process.opened_shares[range->value] = {(*card)->index(), share.size, *memory};
  call.words[0] = range->value;
  return {};
}

Outcome share_close(Caller& caller, CallRecord& call) {
  auto& process = caller.process();
  const auto found = process.opened_shares.find(call.words[0]);
  auto* const card =
      found == process.opened_shares.end() ? nullptr : process.card(found->second.device);
  if (card == nullptr) return fault(kRuntimeParameter, "nothing shared is opened there");
  const auto opened = found->second;
  process.opened_shares.erase(found);
  const driver::DeviceAddress address{call.words[0]};
  auto& space = card->space();
  process.drop_windows(card->index(), address, opened.size);
  auto ended = space.unmap(address, opened.size);
  if (ended) ended = space.release(address);
  return outcome_of(ended);
}

}  // namespace npu::exec::acl
