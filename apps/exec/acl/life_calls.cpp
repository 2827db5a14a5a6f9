// SPDX-License-Identifier: Apache-2.0
// Life, devices, contexts.
#include <algorithm>
#include <utility>

#include "apps/exec/acl/handlers.hpp"

namespace npu::exec::acl {
namespace {

wire::Text give_text(const CallWindow& call, const std::string& text) {
  const auto size = std::min<std::size_t>(text.size(), 4096);
  call.give(text.data(), size);
  return {size};
}

Outcome check_device(Caller& caller, std::int64_t device) {
  if (device >= 0 && device < caller.process().machine().cards.count()) return {};
  return fault(kInvalidDevice, "device " + std::to_string(device));
}

}  // namespace

Outcome serve(Caller& caller, const CallOf<Call::kInit>&) {
  auto& process = caller.process();
  if (process.inits++ > 0) return fault(kRepeatInitialise, "aclInit() was called before");
  process.finalised = false;
  return {};
}

namespace {

Outcome finalize(Process& process) {
  if (process.finalised) return fault(kRepeatFinalise, "aclFinalize() was called before");
  if (process.inits == 0) return fault(kUninitialised, "aclInit() was not called");
  process.finish();
  process.inits = 0;
  process.finalised = true;
  return {};
}

}  // namespace

Outcome serve(Caller& caller, const CallOf<Call::kFinalize>&) {
  return finalize(caller.process());
}

Value<wire::Number> serve(Caller& caller, const CallOf<Call::kFinalizeReference>&) {
  auto& process = caller.process();
  if (process.inits > 1) return wire::Number{--process.inits};
  if (auto done = finalize(process); !done) return forward_fault(done);
  return wire::Number{0};
}

Value<wire::Text> serve(Caller& caller, const CallOf<Call::kErrorMessage>& call) {
  return give_text(call, std::exchange(caller.error(), {}));
}

Outcome serve(Caller& caller, const CallOf<Call::kSleep>& call) {
  caller.sleep_until(after(caller.clock(), call.number, 1_ns));
  return {};
}

Value<wire::Number> serve(Caller& caller, const CallOf<Call::kGetDeviceCount>&) {
  return wire::Number{caller.process().machine().cards.count()};
}

Outcome serve(Caller& caller, const CallOf<Call::kSetDevice>& call) {
  if (auto set = caller.process().set_device(call.device); !set) return set;
  caller.set_context(caller.process().primary_context(static_cast<std::uint32_t>(call.device)));
  return {};
}

// As set_device(), and the thread's context stays what it is.
Outcome serve(Caller& caller, const CallOf<Call::kOpenDevice>& call) {
  return caller.process().set_device(call.device);
}

Outcome serve(Caller& caller, const CallOf<Call::kResetDevice>& call) {
  return caller.process().reset_device(call.device, false);
}

Outcome serve(Caller& caller, const CallOf<Call::kResetDeviceForce>& call) {
  return caller.process().reset_device(call.device, true);
}

Value<wire::Number> serve(Caller& caller, const CallOf<Call::kGetDevice>&) {
  const auto card = caller.card();
  if (!card) return forward_fault(card);
  return wire::Number{(*card)->index()};
}

Value<wire::Text> serve(Caller& caller, const CallOf<Call::kGetSocName>& call) {
  const auto card = caller.card();
  const std::uint32_t index = card ? (*card)->index() : 0;
  return give_text(call, caller.process().machine().cards.soc_name(index));
}

Value<wire::Number> serve(Caller& caller, const CallOf<Call::kGetDeviceInfo>& call) {
  const auto card = caller.process().machine().cards.open(call.device);
  if (!card) return forward_fault(card);
  const auto count = [&](Cores kind) { return (*card)->cores[static_cast<std::size_t>(kind)]; };
  switch (call.attribute) {
    case 1:
      return wire::Number{(*card)->aicpus};
    case 101:
    case 102:
      return wire::Number{count(Cores::kCube)};
    case 201:
      return wire::Number{count(Cores::kVector)};
    default:
      return fault(kInvalidParameter, "attribute " + std::to_string(call.attribute));
  }
}

// Memory is what the program sees of it, as device management tells it, too.
Value<wire::Utilization> serve(Caller& caller, const CallOf<Call::kGetUtilization>& call) {
  const auto use = caller.process().card_use(call.device);
  if (!use) return forward_fault(use);
  const auto busy = (*use)->take();
  if (!busy) return forward_fault(busy);
  const auto card = caller.process().card_management(call.device);
  if (!card) return forward_fault(card);
  caller.process().reclaim_freed();
  const auto memory = (*card)->memory_use();
  if (!memory) return fault(memory.error());
  return wire::Utilization{busy->cube, busy->vector, busy->aicpus, memory->used_percent()};
}

Value<wire::Number> serve(Caller& caller, const CallOf<Call::kQueryDeviceStatus>& call) {
  const auto card = caller.process().machine().cards.open(call.device);
  if (!card) return forward_fault(card);
  return wire::Number{(*card)->device->lost()};
}

// The answer to kCan is 1 or 0.
Value<wire::Number> serve(Caller& caller, const CallOf<Call::kPeerAccess>& call) {
  auto& cards = caller.process().machine().cards;
  const bool asks = call.request == wire::PeerRequest::kCan;
  if (call.request > wire::PeerRequest::kDisable) return fault(kInvalidParameter, "no request");
  std::int64_t device = call.device;
  if (!asks) {
    const auto own = caller.card();
    if (!own) return forward_fault(own);
    device = (*own)->index();
  }
  const auto card = cards.open(device);
  if (!card) return forward_fault(card);
  if (auto there = check_device(caller, call.peer); !there) return forward_fault(there);
  const auto linked = (*card)->device->has_link_to(static_cast<std::uint32_t>(call.peer));
  if (!linked) return fault(linked.error());
  const bool can = *linked && call.peer != device;
  if (!asks && !can) return fault(kFeature, "there is no link between the cards");
  return wire::Number{can};
}

Value<wire::Handle> serve(Caller& caller, const CallOf<Call::kCreateContext>& call) {
  if (auto there = check_device(caller, call.device); !there) return forward_fault(there);
  auto& process = caller.process();
  const auto index = static_cast<std::uint32_t>(call.device);
  const bool opens = process.card(index) == nullptr;
  if (opens) {
    if (auto set = process.set_device(call.device); !set) return forward_fault(set);
  }
  const auto made =
      process.contexts.add(std::make_shared<Context>(Context{index, false, 0, opens}));
  caller.set_context(made);
  return wire::Handle{made};
}

Outcome serve(Caller& caller, const CallOf<Call::kDestroyContext>& call) {
  auto& process = caller.process();
  const auto context = process.contexts.find(call.handle);
  if (context == nullptr) return fault(kNoContext, "it is no context");
  if (context->primary) return fault(kRuntimeParameter, "primary contexts end with their device");
  std::vector<std::uint64_t> streams;
  for (const auto& [handle, stream] : process.streams.all()) {
    if (stream->context == call.handle) streams.push_back(handle);
  }
  for (const auto handle : streams) process.close_stream(handle, false);
  process.contexts.remove(call.handle);
  if (caller.context() == call.handle) caller.set_context(0);
  if (!context->has_opened) return {};
  for (const auto& [handle, other] : process.contexts.all()) {  // one that keeps the device open
    if (other->primary || other->device != context->device) continue;
    other->has_opened = true;
    return {};
  }
  return process.reset_device(context->device, false);
}

Outcome serve(Caller& caller, const CallOf<Call::kSetCurrentContext>& call) {
  if (caller.process().contexts.find(call.handle) == nullptr) {
    return fault(kNoContext, "it is no context");
  }
  caller.set_context(call.handle);
  return {};
}

Value<wire::Handle> serve(Caller& caller, const CallOf<Call::kGetCurrentContext>&) {
  if (auto card = caller.card(); !card) return forward_fault(card);
  return wire::Handle{caller.context()};
}

namespace {

std::size_t kind_of(const wire::CoreLimit& limit) {
  return static_cast<std::size_t>(limit.kind == 0 ? Cores::kCube : Cores::kVector);
}

Value<ProcessCard*> limited_card(Caller& caller, const wire::CoreLimit& limit) {
  if (limit.of_stream != 0) return caller.card();
  const auto device = static_cast<std::int64_t>(limit.of);
  if (auto there = check_device(caller, device); !there) return forward_fault(there);
  auto* const card = caller.process().card(device);
  if (card == nullptr) return fault(kNoContext, "the device is not set");
  return card;
}

// Those that a kernel of the stream, or of the device, would have.
Value<CoreLimits> limits_in(Caller& caller, const wire::CoreLimit& limit, ProcessCard& card) {
  if (limit.of_stream == 0) return card.limits();
  const auto stream = caller.stream(limit.of);
  if (!stream) return forward_fault(stream);
  return limits_of(**stream, card.limits());
}

constexpr std::int64_t kMicrosecond = 1'000'000;  // ps

std::uint64_t microseconds(Picoseconds time) {
  return static_cast<std::uint64_t>(time.count() / kMicrosecond);
}

}  // namespace

// Microseconds; 0: the longest. Answered by what holds.
Value<wire::Number> serve(Caller& caller, const CallOf<Call::kSetKernelTimeout>& call) {
  const std::uint64_t unit = microseconds(kKernelTimeoutUnit);
  const std::uint64_t most = microseconds(kLongestKernel);
  const std::uint64_t wanted = call.number == 0 || call.number > most ? most : call.number;
  const auto units = static_cast<std::int64_t>((wanted + unit - 1) / unit);
  caller.process().set_kernel_timeout(kKernelTimeoutUnit * units);
  return wire::Number{microseconds(kKernelTimeoutUnit * units)};
}

Value<wire::KernelTimeout> serve(Caller& caller, const CallOf<Call::kGetKernelTimeout>& call) {
  static_cast<void>(call);
  return wire::KernelTimeout{microseconds(caller.process().kernel_timeout()),
                             microseconds(kKernelTimeoutUnit)};
}

// A stream's own limit stays whatever the device's is; work that is queued keeps what it had.
Outcome serve(Caller& caller, const CallOf<Call::kSetResLimit>& call) {
  auto card = limited_card(caller, call);
  if (!card) return forward_fault(card);
  if (call.kind > 1) return fault(kInvalidParameter, "no kind of core");
  CoreLimits* limits = &(*card)->limits();
  std::shared_ptr<ProgramStream> of_stream;
  if (call.of_stream != 0) {
    auto stream = caller.stream(call.of);
    if (!stream) return forward_fault(stream);
    of_stream = *stream;
    limits = &of_stream->own;
  }
  const auto kind = kind_of(call);
  if (call.cores == 0 || call.cores > (*card)->card().cores[kind]) {
    return fault(kRuntimeParameter,
                 "the card has " + std::to_string((*card)->card().cores[kind]) + " cores");
  }
  (*limits)[kind] = static_cast<std::uint32_t>(call.cores);
  return {};
}

Value<wire::Number> serve(Caller& caller, const CallOf<Call::kGetResLimit>& call) {
  auto card = limited_card(caller, call);
  if (!card) return forward_fault(card);
  if (call.kind > 1) return fault(kInvalidParameter, "no kind of core");
  const auto limits = limits_in(caller, call, **card);
  if (!limits) return forward_fault(limits);
  return wire::Number{(*limits)[kind_of(call)]};
}

Outcome serve(Caller& caller, const CallOf<Call::kResetResLimit>& call) {
  auto card = limited_card(caller, call);
  if (!card) return forward_fault(card);
  if (call.of_stream == 0) {
    (*card)->limits() = (*card)->card().cores;
    return {};
  }
  const auto stream = caller.stream(call.of);
  if (!stream) return forward_fault(stream);
  (*stream)->own = {};
  return {};
}

// The thread's queries are about its limits from now on.
Outcome serve(Caller& caller, const CallOf<Call::kUseStreamLimits>& call) {
  if (auto card = caller.card(); !card) return forward_fault(card);
  if (call.ends != 0) {
    if (caller.limits_of() == nullptr) return fault(kRuntimeParameter, "no stream is in use");
    caller.set_limits_of(nullptr);
    return {};
  }
  const auto stream = caller.stream(call.stream);
  if (!stream) return forward_fault(stream);
  caller.set_limits_of(*stream);
  return {};
}

Value<wire::Number> serve(Caller& caller, const CallOf<Call::kGetThreadLimit>& call) {
  const auto card = caller.card();
  if (!card) return forward_fault(card);
  if (call.kind > 1) return fault(kInvalidParameter, "no kind of core");
  const auto stream = caller.limits_of();
  const auto limits = stream == nullptr ? (*card)->limits() : limits_of(*stream, (*card)->limits());
  return wire::Number{limits[kind_of(call)]};
}

}  // namespace npu::exec::acl
