// SPDX-License-Identifier: Apache-2.0
// Streams and events.
#include <fmt/format.h>

#include <algorithm>

#include "apps/exec/acl/handlers.hpp"

namespace npu::exec::acl {

Instant after(platform::Clock& clock, std::uint64_t count, Picoseconds unit) {
  return clock.now() + unit * static_cast<std::int64_t>(std::min<std::uint64_t>(count, INT64_MAX));
}

Instant deadline_of(platform::Clock& clock, std::uint64_t milliseconds) {
  return after(clock, milliseconds, 1_ms);
}

namespace {

constexpr std::size_t kMostEvents = 65535;  // docs/sources/acl.md L4

// Streams of the context that the thread has.
std::vector<std::shared_ptr<ProgramStream>> streams_of(Caller& caller) {
  std::vector<std::shared_ptr<ProgramStream>> found;
  for (const auto& [handle, stream] : caller.process().streams.all()) {
    if (stream->context == caller.context()) found.push_back(stream);
  }
  return found;
}

}  // namespace

Outcome create_stream(Caller& caller, CallRecord& call) {
  if (auto card = caller.card(); !card) return forward_fault(card);
  // The ACL's 0 is the most urgent one of 8, the queues' 15 of 16.
  const auto priority = 14 - 2 * std::min<std::uint64_t>(call.words[0], 7);
  const auto made = caller.process().make_stream(caller.context(), static_cast<unsigned>(priority));
  if (!made) return forward_fault(made);
  call.words[0] = made->first;
  return {};
}

namespace {

Outcome destroy(Caller& caller, const CallRecord& call, bool force) {
  if (auto card = caller.card(); !card) return forward_fault(card);
  if (caller.process().streams.find(call.words[0]) == nullptr) {
    return fault(kInvalidHandle, "it is no stream");
  }
  caller.process().close_stream(call.words[0], force);
  return {};
}

}  // namespace

Outcome destroy_stream(Caller& caller, CallRecord& call) {
  return destroy(caller, call, false);
}

Outcome destroy_stream_force(Caller& caller, CallRecord& call) {
  return destroy(caller, call, true);
}

Outcome synchronize_stream(Caller& caller, CallRecord& call) {
  const auto stream = caller.stream(call.words[0]);
  if (!stream) return forward_fault(stream);
  return synchronize(**stream, deadline_of(caller.clock(), call.words[1]), kStreamTimeout);
}

Outcome synchronize_device(Caller& caller, CallRecord& call) {
  static_cast<void>(call);
  if (auto card = caller.card(); !card) return forward_fault(card);
  Outcome first;
  for (const auto& stream : streams_of(caller)) {
    auto done = synchronize(*stream, Instant::never(), kStreamTimeout);
    if (!done && first) first = std::move(done);
  }
  return first;
}

Outcome stream_query(Caller& caller, CallRecord& call) {
  const auto stream = caller.stream(call.words[0]);
  if (!stream) return forward_fault(stream);
  const auto done = is_done(**stream);
  if (!done) return forward_fault(done);
  call.words[0] = *done ? 0 : 1;
  return {};
}

Outcome stream_wait_event(Caller& caller, CallRecord& call) {
  const auto stream = caller.stream(call.words[0]);
  if (!stream) return forward_fault(stream);
  const auto event = caller.event(call.words[1]);
  if (!event) return forward_fault(event);
  if (!(*event)->record) return {};
  if ((*event)->device != (*stream)->device) {
    return fault(kFeature, "streams do not wait for another card's events");
  }
  const auto record = *(*event)->record;  // which others may make anew
  const auto waits = (*stream)->stream->wait_for(record);
  return waits ? Outcome{} : Outcome(submission_fault(waits.error()));
}

Outcome set_stream_failure_mode(Caller& caller, CallRecord& call) {
  const auto stream = caller.stream(call.words[0]);
  if (!stream) return forward_fault(stream);
  (*stream)->stream->set_error_mode(call.words[1] == 0 ? driver::StreamErrorMode::kContinue
                                                       : driver::StreamErrorMode::kStop);
  return {};
}

Outcome create_event(Caller& caller, CallRecord& call) {
  const auto card = caller.card();
  if (!card) return forward_fault(card);
  if (caller.process().events.size() >= kMostEvents) {
    return fault(kNoEvent, fmt::format("{} events, which is the most", kMostEvents));
  }
  auto event = std::make_shared<ProgramEvent>();
  event->device = (*card)->index();
  call.words[0] = caller.process().events.add(std::move(event));
  return {};
}

// Records and waits that are in flight have what they need by themselves.
Outcome destroy_event(Caller& caller, CallRecord& call) {
  const auto event = caller.event(call.words[0]);
  if (!event) return forward_fault(event);
  caller.process().events.remove(call.words[0]);
  return {};
}

Outcome record_event(Caller& caller, CallRecord& call) {
  const auto event = caller.event(call.words[0]);
  if (!event) return forward_fault(event);
  const auto stream = caller.stream(call.words[1]);
  if (!stream) return forward_fault(stream);
  if ((*event)->device != (*stream)->device)
    return fault(kStreamContext, "event of another device");
  auto time = caller.process().card((*stream)->device)->take_time();
  if (!time) return fault(time.error());
  const auto record = (*stream)->stream->record((*time)->bus(), *time);
  if (!record) return submission_fault(record.error());
  (*event)->record = *record;
  (*event)->time = std::move(*time);
  return {};
}

Outcome reset_event(Caller& caller, CallRecord& call) {
  const auto event = caller.event(call.words[0]);
  if (!event) return forward_fault(event);
  if (const auto stream = caller.stream(call.words[1]); !stream) return forward_fault(stream);
  (*event)->record.reset();
  return {};
}

Outcome query_event(Caller& caller, CallRecord& call) {
  const auto event = caller.event(call.words[0]);
  if (!event) return forward_fault(event);
  const auto record = (*event)->record;
  const bool done = record && record->mark().is_done();
  call.words[0] = done ? 1 : 0;
  return {};
}

Outcome synchronize_event(Caller& caller, CallRecord& call) {
  const auto event = caller.event(call.words[0]);
  if (!event) return forward_fault(event);
  const auto record = (*event)->record;
  if (!record) return fault(kRuntimeParameter, "the event was never recorded");
  const auto done = record->mark().wait(deadline_of(caller.clock(), call.words[1]));
  if (done) return {};
  if (done.error().code == ErrorCode::kAborted) return {};  // as streams that wait for it go on
  if (done.error().code == ErrorCode::kTimeout) {
    return fault(kEventTimeout, done.error().message());
  }
  return fault(done.error());
}

Outcome event_elapsed_time(Caller& caller, CallRecord& call) {
  std::uint64_t times[2] = {};
  for (std::size_t i = 0; i < 2; ++i) {
    const auto event = caller.event(call.words[i]);
    if (!event) return forward_fault(event);
    const auto record = (*event)->record;
    const auto time = (*event)->time;
    const auto done = record ? record->mark().query() : Result<bool>(false);
    if (!done || !*done) {
      return fault(kRuntimeParameter, "the event was not recorded, or is not complete");
    }
    times[i] = time->nanoseconds();
  }
  call.words[0] = times[1] - times[0];
  return {};
}

}  // namespace npu::exec::acl
