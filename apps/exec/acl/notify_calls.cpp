// SPDX-License-Identifier: Apache-2.0
// Notifies: signals of the card; those of several programs are 8 bytes of memory that the programs
// share, which the cards write and wait for by themselves.
#include <algorithm>

#include "apps/exec/acl/models.hpp"
#include "apps/exec/acl/named_shares.hpp"

namespace npu::exec::acl {
namespace {

using driver::entries::record_event;
using driver::entries::record_memory;
using driver::entries::wait_event;
using driver::entries::wait_memory;

constexpr std::uint64_t kLongestNotifyWait = std::uint64_t{1000} * UINT32_MAX;  // milliseconds
constexpr Bytes kCell = sizeof(std::uint64_t);

Value<std::shared_ptr<ProgramNotify>> notify_of(Caller& caller, std::uint64_t handle) {
  const auto found = caller.process().notifies.find(handle);
  if (found == nullptr) return fault(kInvalidHandle, "it is no notify");
  return found;
}

// A notify and a stream of the same device.
struct Pair {
  std::shared_ptr<ProgramNotify> notify;
  std::shared_ptr<ProgramStream> stream;
};
Value<Pair> pair_of(Caller& caller, std::uint64_t notify, std::uint64_t stream) {
  const auto first = notify_of(caller, notify);
  if (!first) return forward_fault(first);
  const auto second = caller.stream(stream);
  if (!second) return forward_fault(second);
  if ((*first)->device != (*second)->device) {
    return fault(kStreamContext, "notify of another device");
  }
  if ((*first)->cell) {
    if (auto plain = may_not_be_captured(**second, "notifies of several programs"); !plain) {
      return forward_fault(plain);
    }
  }
  (*first)->used = true;
  return Pair{*first, *second};
}

abi::QueueEntry record_of(const ProgramNotify& notify, std::uint64_t value) {
  return notify.cell ? record_memory(*notify.cell, value) : record_event(notify.signal, value);
}

Value<std::shared_ptr<ProgramNotify>> make_notify(ProcessCard& card) {
  const auto signal = card.process().signals().create();
  if (!signal) return fault(kNoNotify, signal.error().message());
  ProgramNotify made;
  made.device = card.index();
  made.signal = *signal;
  return std::make_shared<ProgramNotify>(std::move(made));
}

}  // namespace

Value<wire::Handle> serve(Caller& caller, const CallOf<Call::kCreateNotify>&) {
  const auto card = caller.card();
  if (!card) return forward_fault(card);
  auto made = make_notify(**card);
  if (!made) return forward_fault(made);
  return wire::Handle{caller.process().notifies.add(std::move(*made))};
}

namespace {

// Nobody else reaches it any more.
Outcome leave(Caller& caller, ProcessCard& card, const ProgramNotify& notify) {
  auto& process = caller.process();
  if (!notify.cell) return {};
  if (notify.imported) return close_share(process, notify.cell->value);
  if (auto ended = end_share(caller, notify.name); !ended) return ended;
  return card.free(*notify.cell, process.in_flight(notify.device),
                   [&process, device = notify.device](driver::DeviceAddress at, Bytes size) {
                     process.drop_windows(device, at, size);
                   });
}

}  // namespace

Outcome serve(Caller& caller, const CallOf<Call::kDestroyNotify>& call) {
  const auto notify = notify_of(caller, call.handle);
  if (!notify) return forward_fault(notify);
  caller.process().notifies.remove(call.handle);
  auto* const card = caller.process().card((*notify)->device);
  if (card == nullptr) return {};
  auto left = leave(caller, *card, **notify);
  auto ended = outcome_of(card->process().signals().destroy((*notify)->signal));
  return left ? ended : left;
}

Outcome serve(Caller& caller, const CallOf<Call::kRecordNotify>& call) {
  const auto pair = pair_of(caller, call.event, call.stream);
  if (!pair) return forward_fault(pair);
  const auto entry = record_of(*pair->notify, ProgramNotify::kSet);
  return submit(*pair->stream, &entry, 1, pair->notify);
}

Outcome serve(Caller& caller, const CallOf<Call::kWaitNotify>& call) {
  const auto pair = pair_of(caller, call.notify, call.stream);
  if (!pair) return forward_fault(pair);
  const auto& notify = *pair->notify;
  auto& stream = *pair->stream;
  if (notify.imported && notify.far) {
    return fault(kFeature, "streams do not wait for another card's notify");
  }
  const auto limit = 1_ms * static_cast<std::int64_t>(
                                std::min<std::uint64_t>(call.milliseconds, kLongestNotifyWait));
  const abi::QueueEntry entries[] = {
      notify.cell
          ? wait_memory(*notify.cell, ProgramNotify::kSet, limit)
          : wait_event(notify.signal, ProgramNotify::kSet, abi::WaitCondition::kEqual, limit),
      record_of(notify, ProgramNotify::kUnset)};
  if (limit == Picoseconds{} || notify.cell || takes_launches(stream)) {
    return submit(stream, entries, 2, pair->notify);
  }
  if (auto waits = submit(stream, entries, 1, pair->notify); !waits) return waits;
  add_limited(stream, stream.stream->last());
  return submit(stream, entries + 1, 1, pair->notify);
}

Value<wire::Number> serve(Caller& caller, const CallOf<Call::kNotifyNumber>& call) {
  const auto notify = notify_of(caller, call.handle);
  if (!notify) return forward_fault(notify);
  return wire::Number{(*notify)->signal.value};
}

// At once, whatever streams have in flight.
Outcome serve(Caller& caller, const CallOf<Call::kNotifyReset>& call) {
  const auto notify = notify_of(caller, call.handle);
  if (!notify) return forward_fault(notify);
  auto* const card = caller.process().card((*notify)->device);
  if (card == nullptr) return fault(kNoContext, "the device is not set");
  return card->run(record_of(**notify, ProgramNotify::kUnset), caller.site());
}

// The name is in the window of the answer.
Value<wire::Text> serve(Caller& caller, const CallOf<Call::kNotifyShare>& call) {
  const auto found = notify_of(caller, call.notify);
  if (!found) return forward_fault(found);
  auto& notify = **found;
  auto* const card = caller.process().card(notify.device);
  if (card == nullptr) return fault(kNoContext, "the device is not set");
  if (notify.imported || notify.cell) {
    return fault(kRuntimeParameter, "the notify is shared already");
  }
  if (notify.used) return fault(kFeature, "a notify is shared before streams use it");
  const auto cell = card->allocate_shareable(kCell);
  if (!cell) return forward_fault(cell);
  auto ready = card->run(record_memory(*cell, ProgramNotify::kUnset), caller.site());
  const auto name = ready ? share_under_name(caller, *card, *cell, kCell, call.everyone != 0)
                          : Value<std::string>(forward_fault(ready));
  if (!name) {
    static_cast<void>(card->free(*cell, {}, {}));
    return forward_fault(name);
  }
  caller.process().machine().names.at(*name).notify = true;
  notify.cell = *cell;
  notify.name = *name;
  call.give(name->data(), name->size());
  return wire::Text{name->size()};
}

Outcome serve(Caller& caller, const CallOf<Call::kNotifyAdmit>& call) {
  const auto notify = notify_of(caller, call.key);
  if (!notify) return forward_fault(notify);
  if ((*notify)->imported || !(*notify)->cell) {
    return fault(kRuntimeParameter, "the notify is not shared by this program");
  }
  return admit_to_share(caller, (*notify)->name, call, 0, call.count);
}

Value<wire::Handle> serve(Caller& caller, const CallOf<Call::kNotifyOpen>& call) {
  const auto card = caller.card();
  if (!card) return forward_fault(card);
  const auto name = name_of(call, call.bytes);
  if (!name) return forward_fault(name);
  auto& names = caller.process().machine().names;
  const auto share = names.find(*name);
  if (share == names.end() || !share->second.notify) {
    return fault(kRuntimeParameter, *name + " is no name of a notify");
  }
  const bool far = share->second.device != (*card)->index();
  auto made = make_notify(**card);
  if (!made) return forward_fault(made);
  const auto cell = open_share(caller, *name);
  if (!cell) {
    static_cast<void>((*card)->process().signals().destroy((*made)->signal));
    return forward_fault(cell);
  }
  (*made)->cell = *cell;
  (*made)->imported = true;
  (*made)->far = far;
  return wire::Handle{caller.process().notifies.add(std::move(*made))};
}

}  // namespace npu::exec::acl
