// SPDX-License-Identifier: Apache-2.0
// What streams wait for beside events: notifies, and values in device memory.
#include <algorithm>
#include <cstring>

#include "apps/exec/acl/copy_order.hpp"
#include "apps/exec/acl/handlers.hpp"
#include "apps/exec/acl/models.hpp"

namespace npu::exec::acl {
namespace {

using driver::DeviceAddress;
using driver::entries::record_event;
using driver::entries::wait_event;

constexpr Bytes kValue = sizeof(std::uint64_t);
constexpr std::uint64_t kLongestNotifyWait = std::uint64_t{1000} * UINT32_MAX;  // milliseconds
// Between two looks at values.
constexpr Picoseconds kValueLook = 100_us;

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
  return Pair{*first, *second};
}

}  // namespace

Value<wire::Handle> serve(Caller& caller, const CallOf<Call::kCreateNotify>&) {
  const auto card = caller.card();
  if (!card) return forward_fault(card);
  const auto signal = (*card)->process().signals().create();
  if (!signal) return fault(kNoNotify, signal.error().message());
  return wire::Handle{caller.process().notifies.add(
      std::make_shared<ProgramNotify>(ProgramNotify{(*card)->index(), *signal}))};
}

Outcome serve(Caller& caller, const CallOf<Call::kDestroyNotify>& call) {
  const auto notify = notify_of(caller, call.handle);
  if (!notify) return forward_fault(notify);
  caller.process().notifies.remove(call.handle);
  auto* const card = caller.process().card((*notify)->device);
  if (card == nullptr) return {};
  return outcome_of(card->process().signals().destroy((*notify)->signal));
}

Outcome serve(Caller& caller, const CallOf<Call::kRecordNotify>& call) {
  const auto pair = pair_of(caller, call.event, call.stream);
  if (!pair) return forward_fault(pair);
  const auto entry = record_event(pair->notify->signal, ProgramNotify::kSet);
  return submit(*pair->stream, &entry, 1, pair->notify);
}

Outcome serve(Caller& caller, const CallOf<Call::kWaitNotify>& call) {
  const auto pair = pair_of(caller, call.notify, call.stream);
  if (!pair) return forward_fault(pair);
  const auto signal = pair->notify->signal;
  const auto limit = 1_ms * static_cast<std::int64_t>(
                                std::min<std::uint64_t>(call.milliseconds, kLongestNotifyWait));
  const abi::QueueEntry entries[] = {
      wait_event(signal, ProgramNotify::kSet, abi::WaitCondition::kEqual, limit),
      record_event(signal, ProgramNotify::kUnset)};
  return submit(*pair->stream, entries, 2, pair->notify);
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
  return card->run(record_event((*notify)->signal, ProgramNotify::kUnset), caller.site());
}

namespace {

// The stream, if the value is in memory of its device.
Value<std::shared_ptr<ProgramStream>> stream_of(Caller& caller, const wire::ValueWork& work) {
  const auto stream = caller.stream(work.stream);
  if (!stream) return forward_fault(stream);
  if (work.address % kValue != 0) return fault(kRuntimeParameter, "not aligned to 8 bytes");
  const auto card = caller.card_of(DeviceAddress{work.address}, kValue);
  if (!card) return forward_fault(card);
  if ((*card)->index() != (*stream)->device) {
    return fault(kStreamContext, "the stream is of another device than the memory");
  }
  return *stream;
}

}  // namespace

Outcome serve(Caller& caller, const CallOf<Call::kValueWrite>& call) {
  const auto stream = stream_of(caller, call);
  if (!stream) return forward_fault(stream);
  auto& card = *caller.process().card((*stream)->device);
  auto made = card.process().allocate_host(kValue, platform::DmaDirection::kDeviceReads);
  if (!made) return fault(made.error());
  const std::shared_ptr<platform::DmaMemory> value = std::move(*made);
  std::memcpy(value->cpu().data, &call.value, kValue);
  const auto entry =
      driver::entries::copy_to_device(value->bus(), DeviceAddress{call.address}, kValue);
  return submit(**stream, &entry, 1, value, ModelTask::Type::kValueWrite);
}

// The answer is how many there were so far, which kValueLook is told.
Value<wire::Number> serve(Caller& caller, const CallOf<Call::kValueWait>& call) {
  if (call.flag > 3) return fault(kInvalidParameter, "no such condition");
  const auto stream = stream_of(caller, call);
  if (!stream) return forward_fault(stream);
  if (auto plain = may_not_be_captured(**stream, "waits for values"); !plain) {
    return forward_fault(plain);
  }
  auto& process = caller.process();
  auto& signals = process.card((*stream)->device)->process().signals();
  const auto signal = signals.create();
  if (!signal) return fault(signal.error());
  const auto marker = driver::entries::nop();
  Submitting submitting((*stream)->watched);
  const auto behind = (*stream)->stream->submit(&marker, 1);
  if (behind) submitting.made(behind->ticket());
  const auto hold = wait_event(*signal, ProgramNotify::kSet);
  const auto held = behind ? (*stream)->stream->submit(&hold, 1) : behind;
  if (held) submitting.made(held->ticket());
  if (!held) {
    static_cast<void>(signals.destroy(*signal));
    return submission_fault(held.error());
  }
  process.value_waits.push_back({++process.value_waits_begun, (*stream)->device,
                                 DeviceAddress{call.address}, call.value, call.flag, *behind, *held,
                                 *signal});
  return wire::Number{process.value_waits_begun};
}

namespace {

bool is_met(std::uint64_t found, const ValueWaiting& wait) {
  switch (wait.condition) {
    case 0:
      return static_cast<std::int64_t>(found - wait.value) >= 0;
    case 1:
      return found == wait.value;
    case 2:
      return (found & wait.value) != 0;
    default:
      return ~(found | wait.value) != 0;
  }
}

enum class Seen : std::uint8_t { kNotYet, kMet, kGone };

// Reads the value if the stream has come to the wait.
Seen look_at(Caller& caller, const ValueWaiting& wait) {
  auto* const card = caller.process().card(wait.device);
  const auto held = wait.held.query();
  if (card == nullptr || !held || *held) return Seen::kGone;
  const auto come = wait.behind.query();
  if (!come) return Seen::kGone;
  if (!*come) return Seen::kNotYet;
  const auto staging = card->staging(caller.number());
  if (!staging) return Seen::kGone;
  const auto entry = driver::entries::copy_to_host(wait.address, (*staging)->bus(), kValue);
  if (!card->run(entry)) return Seen::kGone;
  std::uint64_t found = 0;
  std::memcpy(&found, (*staging)->cpu().data, kValue);
  return is_met(found, wait) ? Seen::kMet : Seen::kNotYet;
}

// Others may add waits and take some off meanwhile.
void end_wait(Caller& caller, const ValueWaiting& wait) {
  auto& all = caller.process().value_waits;
  const auto place = std::find_if(all.begin(), all.end(),
                                  [&wait](const auto& each) { return each.number == wait.number; });
  if (place == all.end()) return;
  all.erase(place);
  auto* const card = caller.process().card(wait.device);
  if (card == nullptr) return;
  if (auto* const races = caller.process().machine().races) {
    races->met(wait.device, card->process().vmid(), wait.signal.value, wait.address.value);
  }
  auto& signals = card->process().signals();
  static_cast<void>(signals.set(wait.signal));
  static_cast<void>(wait.held.wait(Instant::never()));
  static_cast<void>(signals.destroy(wait.signal));
}

}  // namespace

// A thread of the library's looks for all streams until none waits any more.
Outcome serve(Caller& caller, const CallOf<Call::kValueLook>&) {
  auto& process = caller.process();
  while (!process.value_waits.empty() && !process.callbacks.over) {
    const auto all = process.value_waits;
    for (const auto& wait : all) {
      if (look_at(caller, wait) != Seen::kNotYet) end_wait(caller, wait);
    }
    if (!process.value_waits.empty()) caller.clock().sleep_until(caller.clock().now() + kValueLook);
  }
  return fault(kWaitTimeout, "no stream waits for a value");
}

}  // namespace npu::exec::acl
