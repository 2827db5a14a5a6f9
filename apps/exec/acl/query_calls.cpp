// SPDX-License-Identifier: Apache-2.0
// What a program asks of its contexts, streams, events and faults; streams that are given up;
// events of several programs.
#include <utility>

#include "apps/exec/acl/handlers.hpp"
#include "apps/exec/acl/models.hpp"

namespace npu::exec::acl {

Value<wire::Handle> serve(Caller& caller, const CallOf<Call::kDefaultStream>&) {
  const auto stream = caller.stream(0);
  if (!stream) return forward_fault(stream);
  return wire::Handle{caller.process().contexts.find(caller.context())->default_stream};
}

namespace {

Outcome check_number(Caller& caller, std::int64_t device) {
  if (device >= 0 && device < caller.process().machine().cards.count()) return {};
  return fault(kInvalidDevice, "there is no such device");
}

}  // namespace

Value<wire::Number> serve(Caller& caller, const CallOf<Call::kPrimaryState>& call) {
  if (auto there = check_number(caller, call.device); !there) return forward_fault(there);
  return wire::Number{caller.process().card(call.device) != nullptr};
}

// The code of the last fault that the program was told of; 0: none.
Value<wire::Number> serve(Caller& caller, const CallOf<Call::kDeviceError>& call) {
  if (auto there = check_number(caller, call.device); !there) return forward_fault(there);
  if (caller.process().card(call.device) == nullptr) {
    return fault(kNoContext, "the device is not set");
  }
  const auto& told = caller.process().told;
  const auto found = told.find(static_cast<std::uint32_t>(call.device));
  return wire::Number{found == told.end() ? 0U : static_cast<std::uint64_t>(found->second)};
}

Value<wire::StreamInfo> serve(Caller& caller, const CallOf<Call::kStreamInfo>& call) {
  const auto stream = caller.stream(call.handle);
  if (!stream) return forward_fault(stream);
  const auto& all = **stream;
  return wire::StreamInfo{all.priority, all.flags, all.number, all.stops,
                          all.model != nullptr ? 1U : 0U};
}

// At most: a stream takes another queue for kernels of another kind.
Value<wire::Number> serve(Caller& caller, const CallOf<Call::kStreamsLeft>&) {
  const auto card = caller.card();
  if (!card) return forward_fault(card);
  const auto on_card = driver::queue_statistics(*(*card)->card().device).queues;
  std::uint64_t own = 1;  // for copies that are waited for
  for (const auto& [handle, stream] : caller.process().streams.all()) {
    own += stream->device == (*card)->index() ? 1U : 0U;
  }
  const auto left = [](std::uint64_t most, std::uint64_t used) {
    return most - std::min(most, used);
  };
  return wire::Number{std::min(left(abi::kMaxQueues, on_card), left(abi::kQueueDoorbells, own))};
}

namespace {

// The stream goes on with an empty queue.
Outcome give_up(Caller& caller, ProgramStream& record) {
  if (auto plain = may_wait(record); !plain) return plain;
  if (record.model != nullptr) return fault(kFeature, "the stream is bound to a model");
  const auto fresh =
      caller.process().card(record.device)->make_stream(queue_priority(record.priority));
  if (!fresh) return forward_fault(fresh);
  if (record.stops) (*fresh)->stream->set_error_mode(driver::StreamErrorMode::kStop);
  auto& given_up = *record.stream;
  record.aborted.push_back(std::exchange(record.stream, std::move((*fresh)->stream)));
  given_up.close(caller.clock().now());
  return {};
}

}  // namespace

Outcome serve(Caller& caller, const CallOf<Call::kStreamAbort>& call) {
  const auto found = caller.stream(call.handle);
  if (!found) return forward_fault(found);
  return give_up(caller, **found);
}

Outcome serve(Caller& caller, const CallOf<Call::kStreamStop>& call) {
  const auto found = caller.stream(call.handle);
  if (!found) return forward_fault(found);
  auto& record = **found;
  if ((record.flags & kDeviceOnly) == 0) {
    return fault(kFeature, "the stream was made without ACL_STREAM_DEVICE_USE_ONLY");
  }
  if (auto plain = may_wait(record); !plain) return plain;
  const auto done = is_done(record);
  if (!done) return forward_fault(done);
  if (*done) return {};
  if (auto given = give_up(caller, record); !given) return given;
  record.broken = "what ran in the stream was stopped by aclrtStreamStop()";
  return {};
}

Value<wire::EventInfo> serve(Caller& caller, const CallOf<Call::kEventInfo>& call) {
  const auto left = kMostEvents - caller.process().events.size();
  if (call.handle == 0) return wire::EventInfo{0, left};
  const auto event = caller.event(call.handle);
  if (!event) return forward_fault(event);
  return wire::EventInfo{(*event)->number, left};
}

Value<wire::Number> serve(Caller& caller, const CallOf<Call::kEventTimestamp>& call) {
  const auto event = caller.event(call.handle);
  if (!event) return forward_fault(event);
  const auto record = (*event)->record;
  const auto time = (*event)->time;
  const auto done = record ? record->mark().query() : Result<bool>(false);
  if (done && *done) return wire::Number{time->nanoseconds()};
  return fault(kRuntimeParameter, "the event was not recorded, or is not complete");
}

Value<wire::Number> serve(Caller& caller, const CallOf<Call::kLastTask>&) {
  const auto stream = caller.last_stream();
  if (stream == nullptr) return fault(kRuntimeParameter, "the thread has had no work");
  return wire::Number{stream->stream->last().ticket().index};
}

Value<wire::FaultInfo> serve(Caller& caller, const CallOf<Call::kLastFault>&) {
  return caller.fault_told();
}

Value<wire::Number> serve(Caller& caller, const CallOf<Call::kEventShare>& call) {
  const auto event = caller.event(call.handle);
  if (!event) return forward_fault(event);
  if (!(*event)->may_be_shared) return fault(kRuntimeParameter, "the event is this program's own");
  auto& machine = caller.process().machine();
  auto& shared = (*event)->shared;
  if (shared == nullptr) {
    shared = std::make_shared<SharedEvent>();
    shared->writer = caller.process().number();
    shared->device = (*event)->device;
    if ((*event)->record) shared->mark = (*event)->record->mark();
  }
  for (const auto& [key, known] : machine.shared_events) {
    if (known.lock() == shared) return wire::Number{key};
  }
  machine.shared_events[++machine.event_keys] = shared;
  return wire::Number{machine.event_keys};
}

Value<wire::Handle> serve(Caller& caller, const CallOf<Call::kEventOpen>& call) {
  const auto card = caller.card();
  if (!card) return forward_fault(card);
  auto& process = caller.process();
  const auto& all = process.machine().shared_events;
  const auto found = all.find(call.number);
  const auto shared = found == all.end() ? nullptr : found->second.lock();
  if (shared == nullptr) return fault(kRuntimeParameter, "there is no such event");
  if (process.events.size() >= kMostEvents) return fault(kNoEvent, "too many events");
  auto event = std::make_shared<ProgramEvent>();
  event->device = (*card)->index();
  event->number = process.events_made++;
  event->may_be_shared = true;
  event->shared = shared;
  return wire::Handle{process.events.add(std::move(event))};
}

}  // namespace npu::exec::acl
