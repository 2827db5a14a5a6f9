// SPDX-License-Identifier: Apache-2.0
// Streams and events.
#include <fmt/format.h>

#include <algorithm>

#include "apps/exec/acl/external_events.hpp"
#include "apps/exec/acl/handlers.hpp"
#include "apps/exec/acl/models.hpp"

namespace npu::exec::acl {

Instant after(platform::Clock& clock, std::uint64_t count, Picoseconds unit) {
  return clock.now() + unit * static_cast<std::int64_t>(std::min<std::uint64_t>(count, INT64_MAX));
}

Instant deadline_of(platform::Clock& clock, std::uint64_t milliseconds) {
  return after(clock, milliseconds, 1_ms);
}

namespace {

// The end of the last record, by whichever program.
std::optional<driver::StreamMark> last_mark(const ProgramEvent& event) {
  if (event.shared != nullptr) return event.shared->mark;
  if (!event.record) return std::nullopt;
  return event.record->mark();
}

// The program knows that the record has ended.
void seen(Caller& caller, const ProgramEvent& event, const driver::StreamMark& mark) {
  auto* const races = caller.process().machine().races;
  const auto& ticket = mark.ticket();
  if (races == nullptr || ticket.sequence == 0) return;
  const auto device = event.shared != nullptr ? event.shared->device : event.device;
  races->known(ticket_of(device, ticket));
}

// The capture is invalid then.
Outcome may_ask(const ProgramEvent& event) {
  const auto model = capture_of(event);
  if (model == nullptr) return {};
  model->invalid = true;
  return fault(kEventCaptured, "the event's record is a capture's");
}

// Streams of the context that the thread has.
std::vector<std::shared_ptr<ProgramStream>> streams_of(Caller& caller) {
  std::vector<std::shared_ptr<ProgramStream>> found;
  for (const auto& [handle, stream] : caller.process().streams.all()) {
    if (stream->context == caller.context()) found.push_back(stream);
  }
  return found;
}

}  // namespace

Value<wire::Handle> serve(Caller& caller, const CallOf<Call::kCreateStream>& call) {
  if (auto card = caller.card(); !card) return forward_fault(card);
  const auto made = caller.process().make_stream(caller.context(), queue_priority(call.priority));
  if (!made) return forward_fault(made);
  made->second->priority = call.priority;
  made->second->flags = call.flags;
  return wire::Handle{made->first};
}

namespace {

// What a thread was told of a fault stays for who asks.
Outcome noted(Caller& caller, const ProgramStream& stream, Outcome ended) {
  if (ended) return ended;
  const auto failed = failures_on(caller.process(), stream.device);
  if (!failed.empty()) ended.error().text += "; " + failed;
  const int code = ended.error().code;
  if (code != kCoreException && code != kVectorException && code != kHbmError) return ended;
  caller.fault_told() = {stream.failed, stream.number, 0, stream.device,
                         static_cast<std::uint64_t>(code)};
  caller.process().told[stream.device] = code;
  return ended;
}

Outcome destroy(Caller& caller, std::uint64_t stream, bool force) {
  if (auto card = caller.card(); !card) return forward_fault(card);
  if (caller.process().streams.find(stream) == nullptr) {
    return fault(kInvalidHandle, "it is no stream");
  }
  caller.process().close_stream(stream, force);
  return {};
}

}  // namespace

Outcome serve(Caller& caller, const CallOf<Call::kDestroyStream>& call) {
  return destroy(caller, call.handle, false);
}

Outcome serve(Caller& caller, const CallOf<Call::kDestroyStreamForce>& call) {
  return destroy(caller, call.handle, true);
}

Outcome serve(Caller& caller, const CallOf<Call::kSynchronizeStream>& call) {
  const auto stream = caller.stream(call.handle);
  if (!stream) return forward_fault(stream);
  if (auto may = may_wait(**stream); !may) return may;
  const auto deadline = deadline_of(caller.clock(), call.milliseconds);
  return noted(caller, **stream, synchronize(**stream, deadline, kStreamTimeout));
}

// Within so many milliseconds.
Outcome serve(Caller& caller, const CallOf<Call::kSynchronizeDevice>& call) {
  const auto deadline = deadline_of(caller.clock(), call.number);
  if (auto card = caller.card(); !card) return forward_fault(card);
  Outcome first;
  for (const auto& stream : streams_of(caller)) {
    if (auto may = may_wait(*stream); !may) return may;
  }
  for (const auto& stream : streams_of(caller)) {
    auto done = noted(caller, *stream, synchronize(*stream, deadline, kStreamTimeout));
    if (!done && first) first = std::move(done);
  }
  return first;
}

Value<wire::Number> serve(Caller& caller, const CallOf<Call::kStreamQuery>& call) {
  const auto stream = caller.stream(call.handle);
  if (!stream) return forward_fault(stream);
  if (auto may = may_wait(**stream); !may) return forward_fault(may);
  const auto done = is_done(**stream);
  if (!done) {
    static_cast<void>(noted(caller, **stream, forward_fault(done)));
    return forward_fault(done);
  }
  return wire::Number{*done ? 0U : 1U};
}

Outcome serve(Caller& caller, const CallOf<Call::kStreamWaitEvent>& call) {
  const auto stream = caller.stream(call.stream);
  if (!stream) return forward_fault(stream);
  const auto event = caller.event(call.event);
  if (!event) return forward_fault(event);
  if ((*event)->flag != nullptr) return wait_for_flag(**stream, **event);
  const bool external = call.external != 0;
  const bool captured = (*stream)->model != nullptr;
  if (captured || (!external && capture_of(**event) != nullptr)) {
    return capture_wait(*stream, *event, external);
  }
  constexpr std::uint64_t kLongest = std::uint64_t{1000} * UINT32_MAX;  // milliseconds
  const auto limit = 1_ms * static_cast<std::int64_t>(std::min(call.milliseconds, kLongest));
  auto waits = wait_for_event(caller, **stream, **event, limit);
  if (!waits || (*event)->device != (*stream)->device) return waits;
  auto& all = (*event)->waits;
  const auto is_done = [](const driver::StreamMark& each) { return each.is_done(); };
  all.erase(std::remove_if(all.begin(), all.end(), is_done), all.end());
  all.push_back((*stream)->stream->last());
  return {};
}

Value<wire::Number> serve(Caller& caller, const CallOf<Call::kEventWaits>& call) {
  const auto event = caller.event(call.handle);
  if (!event) return forward_fault(event);
  if (auto may = may_ask(**event); !may) return forward_fault(may);
  for (const auto& each : std::vector((*event)->waits)) {
    if (!each.is_done()) return wire::Number{1};
  }
  return wire::Number{0};
}

Outcome serve(Caller& caller, const CallOf<Call::kSetStreamFailureMode>& call) {
  const auto stream = caller.stream(call.stream);
  if (!stream) return forward_fault(stream);
  if (call.stops > 1) return fault(kInvalidParameter, "no mode of failures");
  (*stream)->stops = call.stops != 0;
  (*stream)->stream->set_error_mode(call.stops == 0 ? driver::StreamErrorMode::kContinue
                                                    : driver::StreamErrorMode::kStop);
  return {};
}

Value<wire::Handle> serve(Caller& caller, const CallOf<Call::kCreateEvent>& call) {
  const auto card = caller.card();
  if (!card) return forward_fault(card);
  if (caller.process().events.size() >= kMostEvents) {
    return fault(kNoEvent, fmt::format("{} events, which is the most", kMostEvents));
  }
  auto event = std::make_shared<ProgramEvent>();
  event->device = (*card)->index();
  event->number = caller.process().events_made++;
  event->may_be_shared = (call.number & kIpcEvent) != 0;
  if ((call.number & kExternalEvent) != 0) {
    if (auto made = make_external(**card, *event); !made) return forward_fault(made);
  }
  return wire::Handle{caller.process().events.add(std::move(event))};
}

// Records and waits that are in flight have what they need by themselves.
Outcome serve(Caller& caller, const CallOf<Call::kDestroyEvent>& call) {
  const auto event = caller.event(call.handle);
  if (!event) return forward_fault(event);
  caller.process().events.remove(call.handle);
  auto* const card = caller.process().card((*event)->device);
  if ((*event)->flag != nullptr && card != nullptr) destroy_external(*card, **event);
  return {};
}

Outcome serve(Caller& caller, const CallOf<Call::kRecordEvent>& call) {
  const auto event = caller.event(call.event);
  if (!event) return forward_fault(event);
  const auto stream = caller.stream(call.stream);
  if (!stream) return forward_fault(stream);
  const bool flag = (*event)->flag != nullptr;
  if ((*stream)->model != nullptr) {
    return flag ? set_flag(**stream, **event)
                : capture_record(**stream, *event, call.external != 0);
  }
  auto recorded = record_event(caller, **stream, **event);
  return recorded && flag ? set_flag(**stream, **event) : recorded;
}

Outcome serve(Caller& caller, const CallOf<Call::kResetEvent>& call) {
  const auto event = caller.event(call.event);
  if (!event) return forward_fault(event);
  const auto stream = caller.stream(call.stream);
  if (!stream) return forward_fault(stream);
  const bool flag = (*event)->flag != nullptr;
  if ((*stream)->model != nullptr) {
    return flag ? clear_flag(**stream, **event) : capture_reset(**stream, *event);
  }
  (*event)->record.reset();
  return flag ? clear_flag(**stream, **event) : Outcome{};
}

Value<wire::Number> serve(Caller& caller, const CallOf<Call::kQueryEvent>& call) {
  const auto event = caller.event(call.handle);
  if (!event) return forward_fault(event);
  if (auto may = may_ask(**event); !may) return forward_fault(may);
  const auto mark = last_mark(**event);
  const bool done = mark && mark->is_done();
  if (done) seen(caller, **event, *mark);
  return wire::Number{done};
}

Outcome serve(Caller& caller, const CallOf<Call::kSynchronizeEvent>& call) {
  const auto event = caller.event(call.handle);
  if (!event) return forward_fault(event);
  if (auto may = may_ask(**event); !may) return may;
  const auto mark = last_mark(**event);
  if (!mark) return fault(kRuntimeParameter, "the event was never recorded");
  const auto done = mark->wait(deadline_of(caller.clock(), call.milliseconds));
  const bool late = !done && done.error().code == ErrorCode::kTimeout;
  if (!late) seen(caller, **event, *mark);
  if (done) return {};
  if (done.error().code == ErrorCode::kAborted) return {};  // as streams that wait for it go on
  if (done.error().code == ErrorCode::kTimeout) {
    return fault(kEventTimeout, done.error().message());
  }
  return fault(done.error());
}

namespace {

Value<std::uint64_t> time_of(Caller& caller, std::uint64_t handle) {
  const auto event = caller.event(handle);
  if (!event) return forward_fault(event);
  const auto record = (*event)->record;
  const auto time = (*event)->time;
  const auto done = record ? record->mark().query() : Result<bool>(false);
  if (done && *done) seen(caller, **event, record->mark());
  if (done && *done) return time->nanoseconds();
  return fault(kRuntimeParameter, "the event was not recorded, or is not complete");
}

}  // namespace

Value<wire::Number> serve(Caller& caller, const CallOf<Call::kEventElapsedTime>& call) {
  const auto start = time_of(caller, call.start);
  if (!start) return forward_fault(start);
  const auto end = time_of(caller, call.end);
  if (!end) return forward_fault(end);
  return wire::Number{*end - *start};
}

}  // namespace npu::exec::acl
