// SPDX-License-Identifier: Apache-2.0
// Streams and events.
#include <algorithm>

#include "exec/acl/handlers.hpp"

namespace npu::exec::acl {

Instant after(platform::Clock& clock, std::uint64_t count, Picoseconds unit) {
  return clock.now() + unit * static_cast<std::int64_t>(std::min<std::uint64_t>(count, INT64_MAX));
}

Instant deadline_of(platform::Clock& clock, std::uint64_t milliseconds) {
  return after(clock, milliseconds, 1_ms);
}

namespace {

// A program that asks again and again is a loop that polls, whatever it is told.
void ask_again(Caller& caller) {
  caller.clock().relax({}, Instant::never());
}

// Streams of the context that the thread has.
std::vector<std::shared_ptr<StreamRecord>> streams_of(Caller& caller) {
  std::vector<std::shared_ptr<StreamRecord>> found;
  for (const auto& [handle, stream] : caller.process().streams.all()) {
    if (stream->context == caller.context()) found.push_back(stream);
  }
  return found;
}

Value<bool> is_complete(EventRecord& event) {
  const auto done = event.lane->queue->is_done(event.ticket);
  if (done) return *done;
  // Forgotten is long ago; of a stream that is gone nothing runs.
  return true;
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
  return (*stream)->stream->wait(deadline_of(caller.clock(), call.words[1]), kStreamTimeout);
}

Outcome synchronize_device(Caller& caller, CallRecord& call) {
  static_cast<void>(call);
  if (auto card = caller.card(); !card) return forward_fault(card);
  Outcome first;
  for (const auto& stream : streams_of(caller)) {
    auto done = stream->stream->wait(Instant::never(), kStreamTimeout);
    if (!done && first) first = std::move(done);
  }
  return first;
}

Outcome stream_query(Caller& caller, CallRecord& call) {
  const auto stream = caller.stream(call.words[0]);
  if (!stream) return forward_fault(stream);
  const auto done = (*stream)->stream->is_done();
  if (!done) return forward_fault(done);
  ask_again(caller);
  call.words[0] = *done ? 0 : 1;
  return {};
}

Outcome stream_wait_event(Caller& caller, CallRecord& call) {
  const auto stream = caller.stream(call.words[0]);
  if (!stream) return forward_fault(stream);
  const auto event = caller.event(call.words[1]);
  if (!event) return forward_fault(event);
  if (!(*event)->recorded) return {};
  if ((*event)->device != (*stream)->device) {
    return fault(kFeature, "streams do not wait for another card's events");
  }
  const auto entry = driver::entries::wait_event((*event)->signal, (*event)->value);
  const auto submitted = (*stream)->stream->follow(&entry, 1);
  return submitted ? Outcome{} : Outcome(forward_fault(submitted));
}

Outcome set_stream_failure_mode(Caller& caller, CallRecord& call) {
  const auto stream = caller.stream(call.words[0]);
  if (!stream) return forward_fault(stream);
  (*stream)->stream->set_failure_mode(call.words[1] == 0 ? FailureMode::kGoOn : FailureMode::kStop);
  return {};
}

Outcome create_event(Caller& caller, CallRecord& call) {
  const auto card = caller.card();
  if (!card) return forward_fault(card);
  const auto place = caller.process().take_time_place(**card);
  if (!place) return forward_fault(place);
  const auto signal = (*card)->process().signals().create();
  if (!signal) {
    caller.process().give_time_place((*card)->index(), *place);
    return fault(signal.error());
  }
  auto event = std::make_shared<EventRecord>();
  event->device = (*card)->index();
  event->signal = *signal;
  event->place = *place;
  call.words[0] = caller.process().events.add(std::move(event));
  return {};
}

Outcome destroy_event(Caller& caller, CallRecord& call) {
  const auto event = caller.event(call.words[0]);
  if (!event) return forward_fault(event);
  auto* const card = caller.process().card((*event)->device);
  caller.process().give_time_place((*event)->device, (*event)->place);
  if (card != nullptr) static_cast<void>(card->process().signals().destroy((*event)->signal));
  caller.process().events.remove(call.words[0]);
  return {};
}

Outcome record_event(Caller& caller, CallRecord& call) {
  const auto event = caller.event(call.words[0]);
  if (!event) return forward_fault(event);
  const auto stream = caller.stream(call.words[1]);
  if (!stream) return forward_fault(stream);
  auto& record = **event;
  if (record.device != (*stream)->device) return fault(kStreamContext, "event of another device");
  const auto value = ++record.value;
  const auto at = caller.process().times(record.device).bus() + record.place;
  const abi::QueueEntry entries[] = {driver::entries::timestamp(at),
                                     driver::entries::record_event(record.signal, value)};
  const auto ticket = (*stream)->stream->follow(entries, 2);
  if (!ticket) return forward_fault(ticket);
  record.lane = ticket->lane;
  record.ticket = ticket->ticket;
  record.recorded = true;
  return {};
}

Outcome reset_event(Caller& caller, CallRecord& call) {
  const auto event = caller.event(call.words[0]);
  if (!event) return forward_fault(event);
  if (const auto stream = caller.stream(call.words[1]); !stream) return forward_fault(stream);
  (*event)->recorded = false;
  return {};
}

Outcome query_event(Caller& caller, CallRecord& call) {
  const auto event = caller.event(call.words[0]);
  if (!event) return forward_fault(event);
  bool done = false;
  if ((*event)->recorded) done = *is_complete(**event);
  ask_again(caller);
  call.words[0] = done ? 1 : 0;
  return {};
}

Outcome synchronize_event(Caller& caller, CallRecord& call) {
  const auto event = caller.event(call.words[0]);
  if (!event) return forward_fault(event);
  auto& record = **event;
  if (!record.recorded) return fault(kRuntimeParameter, "the event was never recorded");
  const auto lane = record.lane;
  const auto done = lane->queue->wait(record.ticket, driver::WaitPolicy::kAdaptive,
                                      deadline_of(caller.clock(), call.words[1]));
  if (done || done.error().code == ErrorCode::kNotFound) return {};
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
    if (!(*event)->recorded || !*is_complete(**event)) {
      return fault(kRuntimeParameter, "the event was not recorded, or is not complete");
    }
    times[i] = caller.process().times((*event)->device).load<std::uint64_t>((*event)->place);
  }
  call.words[0] = times[1] - times[0];
  return {};
}

}  // namespace npu::exec::acl
