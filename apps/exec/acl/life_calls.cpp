// SPDX-License-Identifier: Apache-2.0
// Life, devices, contexts.
#include <algorithm>
#include <cstring>

#include "apps/exec/acl/handlers.hpp"

namespace npu::exec::acl {
namespace {

void give_text(CallRecord& call, const std::string& text) {
  const auto size = std::min<std::size_t>(text.size(), 4096);
  std::memcpy(call.window.data, text.data(), size);
  call.words[0] = size;
}

std::int64_t device_of(const CallRecord& call, std::size_t word = 0) {
  return static_cast<std::int64_t>(call.words[word]);
}

Outcome check_device(Caller& caller, std::int64_t device) {
  if (device >= 0 && device < caller.process().machine().cards.count()) return {};
  return fault(kInvalidDevice, "device " + std::to_string(device));
}

}  // namespace

Outcome init(Caller& caller, CallRecord& call) {
  static_cast<void>(call);
  auto& process = caller.process();
  if (process.inits++ > 0) return fault(kRepeatInitialise, "aclInit() was called before");
  process.finalised = false;
  return {};
}

Outcome finalize(Caller& caller, CallRecord& call) {
  static_cast<void>(call);
  auto& process = caller.process();
  if (process.finalised) return fault(kRepeatFinalise, "aclFinalize() was called before");
  if (process.inits == 0) return fault(kUninitialised, "aclInit() was not called");
  process.finish();
  process.inits = 0;
  process.finalised = true;
  return {};
}

Outcome finalize_reference(Caller& caller, CallRecord& call) {
  auto& process = caller.process();
  if (process.inits > 1) {
    call.words[0] = --process.inits;
    return {};
  }
  auto done = finalize(caller, call);
  call.words[0] = 0;
  return done;
}

Outcome error_message(Caller& caller, CallRecord& call) {
  give_text(call, caller.error());
  caller.error().clear();
  return {};
}

Outcome sleep(Caller& caller, CallRecord& call) {
  caller.sleep_until(after(caller.clock(), call.words[0], 1_ns));
  return {};
}

Outcome get_device_count(Caller& caller, CallRecord& call) {
  call.words[0] = caller.process().machine().cards.count();
  return {};
}

Outcome set_device(Caller& caller, CallRecord& call) {
  const auto device = device_of(call);
  if (auto set = caller.process().set_device(device); !set) return set;
  caller.set_context(caller.process().primary_context(static_cast<std::uint32_t>(device)));
  return {};
}

// As set_device(), and the thread's context stays what it is.
Outcome open_device(Caller& caller, CallRecord& call) {
  return caller.process().set_device(device_of(call));
}

Outcome reset_device(Caller& caller, CallRecord& call) {
  return caller.process().reset_device(device_of(call), false);
}

Outcome reset_device_force(Caller& caller, CallRecord& call) {
  return caller.process().reset_device(device_of(call), true);
}

Outcome get_device(Caller& caller, CallRecord& call) {
  const auto card = caller.card();
  if (!card) return forward_fault(card);
  call.words[0] = (*card)->index();
  return {};
}

Outcome get_soc_name(Caller& caller, CallRecord& call) {
  const auto card = caller.card();
  const std::uint32_t index = card ? (*card)->index() : 0;
  give_text(call, caller.process().machine().cards.soc_name(index));
  return {};
}

Outcome get_device_info(Caller& caller, CallRecord& call) {
  const auto card = caller.process().machine().cards.open(device_of(call));
  if (!card) return forward_fault(card);
  const auto count = [&](Cores kind) { return (*card)->cores[static_cast<std::size_t>(kind)]; };
  switch (call.words[1]) {
    case 1:
      call.words[0] = (*card)->aicpus;
      return {};
    case 101:
    case 102:
      call.words[0] = count(Cores::kCube);
      return {};
    case 201:
      call.words[0] = count(Cores::kVector);
      return {};
    default:
      return fault(kInvalidParameter, "attribute " + std::to_string(call.words[1]));
  }
}

// Memory is what the program sees of it, as device management tells it, too.
Outcome get_utilization(Caller& caller, CallRecord& call) {
  const auto device = device_of(call);
  const auto use = caller.process().card_use(device);
  if (!use) return forward_fault(use);
  const auto busy = (*use)->take();
  if (!busy) return forward_fault(busy);
  call.words[0] = busy->cube;
  call.words[1] = busy->vector;
  call.words[2] = busy->aicpus;
  const auto card = caller.process().card_management(device);
  if (!card) return forward_fault(card);
  caller.process().reclaim_freed();
  const auto memory = (*card)->memory_use();
  if (!memory) return fault(memory.error());
  call.words[3] = memory->used_percent();
  return {};
}

Outcome query_device_status(Caller& caller, CallRecord& call) {
  const auto card = caller.process().machine().cards.open(device_of(call));
  if (!card) return forward_fault(card);
  call.words[0] = (*card)->device->lost() ? 1 : 0;
  return {};
}

// Words: 0: can it, 1: it may, 2: it may no longer; device, peer. The answer to 0 is 1 or 0.
Outcome peer_access(Caller& caller, CallRecord& call) {
  auto& cards = caller.process().machine().cards;
  std::int64_t device = device_of(call, 1);
  if (call.words[0] != 0) {
    const auto own = caller.card();
    if (!own) return forward_fault(own);
    device = (*own)->index();
  }
  const auto card = cards.open(device);
  if (!card) return forward_fault(card);
  const auto peer = device_of(call, 2);
  if (auto there = check_device(caller, peer); !there) return there;
  const auto linked = (*card)->device->has_link_to(static_cast<std::uint32_t>(peer));
  if (!linked) return fault(linked.error());
  const bool can = *linked && peer != device;
  if (call.words[0] == 0) {
    call.words[0] = can ? 1 : 0;
    return {};
  }
  if (!can) return fault(kFeature, "there is no link between the cards");
  return {};
}

Outcome create_context(Caller& caller, CallRecord& call) {
  const auto device = device_of(call);
  if (auto there = check_device(caller, device); !there) return there;
  auto& process = caller.process();
  const auto index = static_cast<std::uint32_t>(device);
  const bool opens = process.card(index) == nullptr;
  if (opens) {
    if (auto set = process.set_device(device); !set) return set;
  }
  const auto made =
      process.contexts.add(std::make_shared<Context>(Context{index, false, 0, opens}));
  caller.set_context(made);
  call.words[0] = made;
  return {};
}

Outcome destroy_context(Caller& caller, CallRecord& call) {
  auto& process = caller.process();
  const auto context = process.contexts.find(call.words[0]);
  if (context == nullptr) return fault(kNoContext, "it is no context");
  if (context->primary) return fault(kRuntimeParameter, "primary contexts end with their device");
  std::vector<std::uint64_t> streams;
  for (const auto& [handle, stream] : process.streams.all()) {
    if (stream->context == call.words[0]) streams.push_back(handle);
  }
  for (const auto handle : streams) process.close_stream(handle, false);
  process.contexts.remove(call.words[0]);
  if (caller.context() == call.words[0]) caller.set_context(0);
  if (!context->has_opened) return {};
  for (const auto& [handle, other] : process.contexts.all()) {  // one that keeps the device open
    if (other->primary || other->device != context->device) continue;
    other->has_opened = true;
    return {};
  }
  return process.reset_device(context->device, false);
}

Outcome set_current_context(Caller& caller, CallRecord& call) {
  if (caller.process().contexts.find(call.words[0]) == nullptr) {
    return fault(kNoContext, "it is no context");
  }
  caller.set_context(call.words[0]);
  return {};
}

Outcome get_current_context(Caller& caller, CallRecord& call) {
  if (auto card = caller.card(); !card) return forward_fault(card);
  call.words[0] = caller.context();
  return {};
}

// Word 0: of a stream; 1: device or stream; 2: kind of core; 3: how many.
namespace {

Value<std::shared_ptr<ProgramStream>> limited_stream(Caller& caller, const CallRecord& call) {
  return caller.stream(call.words[1]);
}

// aclrtDevResLimitType: cube 0, vector 1.
std::size_t kind_of(const CallRecord& call) {
  return static_cast<std::size_t>(call.words[2] == 0 ? Cores::kCube : Cores::kVector);
}

Value<ProcessCard*> limited_card(Caller& caller, const CallRecord& call) {
  if (call.words[0] != 0) return caller.card();
  const auto device = device_of(call, 1);
  if (auto there = check_device(caller, device); !there) return forward_fault(there);
  auto* const card = caller.process().card(static_cast<std::uint32_t>(device));
  if (card == nullptr) return fault(kNoContext, "the device is not set");
  return card;
}

// Those that a kernel of the stream, or of the device, would have.
Value<CoreLimits> limits_in(Caller& caller, const CallRecord& call, ProcessCard& card) {
  if (call.words[0] == 0) return card.limits();
  const auto stream = limited_stream(caller, call);
  if (!stream) return forward_fault(stream);
  return limits_of(**stream, card.limits());
}

}  // namespace

// A stream's own limit stays whatever the device's is; work that is queued keeps what it had.
Outcome set_res_limit(Caller& caller, CallRecord& call) {
  auto card = limited_card(caller, call);
  if (!card) return forward_fault(card);
  if (call.words[2] > 1) return fault(kInvalidParameter, "no kind of core");
  CoreLimits* limits = &(*card)->limits();
  std::shared_ptr<ProgramStream> of_stream;
  if (call.words[0] != 0) {
    auto stream = limited_stream(caller, call);
    if (!stream) return forward_fault(stream);
    of_stream = *stream;
    limits = &of_stream->own;
  }
  const auto kind = kind_of(call);
  if (call.words[3] == 0 || call.words[3] > (*card)->card().cores[kind]) {
    return fault(kRuntimeParameter,
                 "the card has " + std::to_string((*card)->card().cores[kind]) + " cores");
  }
  (*limits)[kind] = static_cast<std::uint32_t>(call.words[3]);
  return {};
}

Outcome get_res_limit(Caller& caller, CallRecord& call) {
  auto card = limited_card(caller, call);
  if (!card) return forward_fault(card);
  if (call.words[2] > 1) return fault(kInvalidParameter, "no kind of core");
  const auto limits = limits_in(caller, call, **card);
  if (!limits) return forward_fault(limits);
  call.words[0] = (*limits)[kind_of(call)];
  return {};
}

Outcome reset_res_limit(Caller& caller, CallRecord& call) {
  auto card = limited_card(caller, call);
  if (!card) return forward_fault(card);
  if (call.words[0] == 0) {
    (*card)->limits() = (*card)->card().cores;
    return {};
  }
  const auto stream = limited_stream(caller, call);
  if (!stream) return forward_fault(stream);
  (*stream)->own = {};
  return {};
}

// Words: stream; 1: no longer. The thread's queries are about its limits from now on.
Outcome use_stream_limits(Caller& caller, CallRecord& call) {
  if (auto card = caller.card(); !card) return forward_fault(card);
  if (call.words[1] != 0) {
    if (caller.limits_of() == nullptr) return fault(kRuntimeParameter, "no stream is in use");
    caller.set_limits_of(nullptr);
    return {};
  }
  const auto stream = caller.stream(call.words[0]);
  if (!stream) return forward_fault(stream);
  caller.set_limits_of(*stream);
  return {};
}

// Words: not used, not used, kind of core.
Outcome get_thread_limit(Caller& caller, CallRecord& call) {
  const auto card = caller.card();
  if (!card) return forward_fault(card);
  if (call.words[2] > 1) return fault(kInvalidParameter, "no kind of core");
  const auto stream = caller.limits_of();
  const auto limits = stream == nullptr ? (*card)->limits() : limits_of(*stream, (*card)->limits());
  call.words[0] = limits[kind_of(call)];
  return {};
}

}  // namespace npu::exec::acl
