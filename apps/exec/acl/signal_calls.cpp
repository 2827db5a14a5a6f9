// SPDX-License-Identifier: Apache-2.0
// What streams wait for in device memory: values, and addresses of copies.
#include <algorithm>
#include <cstring>

#include "apps/exec/acl/copy_order.hpp"
#include "apps/exec/acl/handlers.hpp"
#include "apps/exec/acl/models.hpp"

namespace npu::exec::acl {
namespace {

using driver::DeviceAddress;
using driver::entries::wait_event;

constexpr Bytes kValue = sizeof(std::uint64_t);
// Between two looks at values.
constexpr Picoseconds kValueLook = 100_us;

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

namespace {

// The stream waits behind what it has until a thread of the library's has looked. The answer is how
// many there were so far, which kValueLook is told.
Value<wire::Number> hold(Caller& caller, ProgramStream& stream, ValueWaiting wait) {
  auto& process = caller.process();
  auto& signals = process.card(stream.device)->process().signals();
  const auto signal = signals.create();
  if (!signal) return fault(signal.error());
  const auto marker = driver::entries::nop();
  Submitting submitting(stream.watched);
  const auto behind = stream.stream->submit(&marker, 1);
  if (behind) submitting.made(behind->ticket());
  const auto entry = wait_event(*signal, ProgramNotify::kSet);
  const auto held = behind ? stream.stream->submit(&entry, 1) : behind;
  if (held) submitting.made(held->ticket());
  if (!held) {
    static_cast<void>(signals.destroy(*signal));
    return submission_fault(held.error());
  }
  wait.number = ++process.value_waits_begun;
  wait.device = stream.device;
  wait.behind = *behind;
  wait.held = *held;
  wait.signal = *signal;
  process.value_waits.push_back(std::move(wait));
  return wire::Number{process.value_waits_begun};
}

}  // namespace

Value<wire::Number> serve(Caller& caller, const CallOf<Call::kValueWait>& call) {
  if (call.flag > 3) return fault(kInvalidParameter, "no such condition");
  const auto stream = stream_of(caller, call);
  if (!stream) return forward_fault(stream);
  if (auto plain = may_not_be_captured(**stream, "waits for values"); !plain) {
    return forward_fault(plain);
  }
  ValueWaiting wait;
  wait.address = DeviceAddress{call.address};
  wait.value = call.value;
  wait.condition = call.flag;
  return hold(caller, **stream, std::move(wait));
}

// The addresses are read when the stream comes to the copy.
Value<wire::Number> serve(Caller& caller, const CallOf<Call::kCopyThrough>& call) {
  const auto stream = stream_of(caller, {call.from, 0, 0, call.stream});
  if (!stream) return forward_fault(stream);
  if (call.described == 0) {
    if (auto to = stream_of(caller, {call.to, 0, 0, call.stream}); !to) return forward_fault(to);
  } else if (!caller.card_of(DeviceAddress{call.from}, sizeof(wire::CopyDescription))) {
    return fault(kRuntimeParameter, "the description is no device memory");
  }
  if (auto plain = may_not_be_captured(**stream, "copies through addresses"); !plain) {
    return forward_fault(plain);
  }
  ValueWaiting wait;
  wait.address = DeviceAddress{call.from};
  wait.copy = call;
  wait.stream = *stream;
  return hold(caller, **stream, std::move(wait));
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

Outcome read(ProcessCard& card, platform::DmaMemory& staging, DeviceAddress from, ByteSpan to) {
  auto done = card.run(driver::entries::copy_to_host(from, staging.bus(), to.size));
  if (done) std::memcpy(to.data, staging.cpu().data, to.size);
  return done;
}

template <class T>
ByteSpan bytes_of(T& value) {
  return {reinterpret_cast<std::byte*>(&value), sizeof value};
}

Outcome copy_through(Caller& caller, ProcessCard& card, platform::DmaMemory& staging,
                     const wire::IndirectCopy& copy) {
  wire::CopyDescription what{copy.from, copy.to, copy.bytes, 0};
  Outcome done = read(card, staging, DeviceAddress{copy.from},
                      copy.described != 0 ? bytes_of(what) : bytes_of(what.from));
  if (done && copy.described == 0) {
    done = read(card, staging, DeviceAddress{copy.to}, bytes_of(what.to));
    what.from += copy.from_offset;
    what.to += copy.to_offset;
  }
  if (!done || what.bytes == 0) return done;
  for (const auto each : {what.from, what.to}) {
    const auto on = caller.card_of(DeviceAddress{each}, what.bytes);
    if (!on) return forward_fault(on);
    if (*on != &card) return fault(kRuntimeParameter, "a copy through addresses is on one card");
  }
  return card.run(driver::entries::copy_on_device(DeviceAddress{what.from}, DeviceAddress{what.to},
                                                  what.bytes));
}

enum class Seen : std::uint8_t { kNotYet, kMet, kGone };

// Reads the value, or makes the copy, if the stream has come to the wait.
Seen look_at(Caller& caller, const ValueWaiting& wait) {
  auto* const card = caller.process().card(wait.device);
  const auto held = wait.held.query();
  if (card == nullptr || !held || *held) return Seen::kGone;
  const auto come = wait.behind.query();
  if (!come) return Seen::kGone;
  if (!*come) return Seen::kNotYet;
  const auto staging = card->staging(caller.number());
  if (!staging) return Seen::kGone;
  if (wait.copy) {
    const auto made = copy_through(caller, *card, **staging, *wait.copy);
    const auto stream = wait.stream.lock();
    if (!made && stream != nullptr) stream->broken = made.error().text;
    return Seen::kMet;
  }
  std::uint64_t found = 0;
  if (!read(*card, **staging, wait.address, bytes_of(found))) return Seen::kGone;
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
