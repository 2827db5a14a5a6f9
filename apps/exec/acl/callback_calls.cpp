// SPDX-License-Identifier: Apache-2.0
// Functions of the program in a stream's order: the program runs them, in the thread that has
// subscribed to the stream; here it is told when.
#include <algorithm>

#include "apps/exec/acl/guard.hpp"
#include "apps/exec/acl/handlers.hpp"
#include "apps/exec/acl/models.hpp"

namespace npu::exec::acl {
namespace {

// Between two looks at several streams.
constexpr Picoseconds kLook = 10_us;

bool is_for(const PendingCallback& callback, const wire::ReportWait& by) {
  return callback.thread == by.thread && callback.host == (by.host != 0);
}

// One whose time has come, taken off the list.
std::optional<PendingCallback> take_due(Callbacks& callbacks, const wire::ReportWait& by) {
  for (std::size_t i = 0; i < callbacks.pending.size(); ++i) {
    const auto each = callbacks.pending[i];
    if (!is_for(each, by)) continue;
    const auto done = each.behind.query();
    if (done && !*done) continue;
    // Of a stream that has failed or has been destroyed they are lost, as its other work is.
    const auto place = std::find_if(callbacks.pending.begin(), callbacks.pending.end(),
                                    [&](const auto& other) { return other.number == each.number; });
    if (place != callbacks.pending.end()) callbacks.pending.erase(place);
    if (done) return each;
    return take_due(callbacks, by);
  }
  return std::nullopt;
}

bool waits_for_any(const Callbacks& callbacks, const wire::ReportWait& by) {
  return std::any_of(callbacks.pending.begin(), callbacks.pending.end(),
                     [&by](const auto& each) { return is_for(each, by); });
}

// Until a stream of the thread's has something for it. Meanwhile others may take the device away.
void wait_for_more(Caller& caller, const wire::ReportWait& by, Instant deadline) {
  auto& callbacks = caller.process().callbacks;
  caller.process().calls().leave();
  {
    const Guard held(*callbacks.lock);
    if (!callbacks.over && !waits_for_any(callbacks, by)) {
      static_cast<void>(callbacks.added->wait(*callbacks.lock, deadline));
    }
  }
  caller.process().calls().enter();
}

}  // namespace

Outcome serve(Caller& caller, const CallOf<Call::kSubscribeReport>& call) {
  const auto stream = caller.stream(call.stream);
  if (!stream) return forward_fault(stream);
  auto& subscriber = call.host != 0 ? (*stream)->host_subscriber : (*stream)->subscriber;
  const bool ends = call.ends != 0;
  if (ends ? subscriber != call.thread : subscriber != 0) {
    return fault(kRuntimeParameter, ends ? "the thread has not subscribed to the stream"
                                         : "a thread has subscribed to the stream");
  }
  subscriber = ends ? 0 : call.thread;
  return {};
}

Outcome serve(Caller& caller, const CallOf<Call::kLaunchCallback>& call) {
  const auto found = caller.stream(call.stream);
  if (!found) return forward_fault(found);
  auto& record = **found;
  if (auto plain = may_not_be_captured(record, "functions of the program"); !plain) return plain;
  const bool host = call.host != 0;
  if (!host && record.subscriber == 0) {
    return fault(kRuntimeParameter, "no thread has subscribed to the stream");
  }
  const Guard one_at_a_time(*record.callbacks);
  const auto marker = driver::entries::nop();
  Submitting submitting(record.watched);
  const auto behind = record.stream->submit(&marker, 1);
  if (!behind) return submission_fault(behind.error());
  submitting.made(behind->ticket());
  auto& callbacks = caller.process().callbacks;
  PendingCallback pending;
  pending.number = ++callbacks.given;
  pending.thread = host ? record.host_subscriber : record.subscriber;
  pending.host = host;
  pending.device = record.device;
  pending.function = call.function;
  pending.parameter = call.parameter;
  pending.behind = *behind;
  if (call.blocks != 0) {
    auto& signals = caller.process().card(record.device)->process().signals();
    if (!record.callback_signal) {
      const auto made = signals.create();
      if (!made) return fault(made.error());
      record.callback_signal = *made;
    }
    const auto wait = driver::entries::wait_event(*record.callback_signal, ++record.callback_value);
    const auto held = record.stream->submit(&wait, 1);
    if (!held) return submission_fault(held.error());
    submitting.made(held->ticket());
    pending.stream = *found;
  }
  callbacks.pending.push_back(std::move(pending));
  callbacks.tell();
  return {};
}

Value<wire::DueCallback> serve(Caller& caller, const CallOf<Call::kProcessReport>& call) {
  auto& callbacks = caller.process().callbacks;
  const Instant deadline = deadline_of(caller.clock(), call.milliseconds);
  for (;;) {
    if (auto card = caller.card(); !card) return forward_fault(card);
    if (auto due = take_due(callbacks, call)) {
      if (auto* const races = caller.process().machine().races) {
        races->known(ticket_of(due->device, due->behind.ticket()));
      }
      if (due->stream == nullptr) return wire::DueCallback{due->function, due->parameter, 0};
      callbacks.running[due->number] = due->stream;
      return wire::DueCallback{due->function, due->parameter, due->number};
    }
    const Instant now = caller.clock().now();
    if (callbacks.over || now >= deadline)
      return fault(kWaitTimeout, "no function of the thread's is due");
    if (waits_for_any(callbacks, call)) {
      caller.clock().sleep_until(std::min(now + kLook, deadline));
    } else {
      wait_for_more(caller, call, deadline);
    }
  }
}

// The stream that waits for it goes on.
Outcome serve(Caller& caller, const CallOf<Call::kCallbackDone>& call) {
  auto& running = caller.process().callbacks.running;
  const auto found = running.find(call.number);
  if (found == running.end())
    return fault(kRuntimeParameter, "no function that a stream waits for");
  const auto stream = found->second;
  running.erase(found);
  auto* const card = caller.process().card(stream->device);
  if (card == nullptr || !stream->callback_signal) return {};
  if (auto* const races = stream->watched.races) {
    races->released(stream->device, card->process().vmid(), stream->callback_signal->value);
  }
  return outcome_of(card->process().signals().set(*stream->callback_signal));
}

}  // namespace npu::exec::acl
