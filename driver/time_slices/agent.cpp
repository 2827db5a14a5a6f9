// SPDX-License-Identifier: Apache-2.0
#include "driver/time_slices/agent.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "driver/queue/process_impl.hpp"
#include "driver/support/impl_of.hpp"
#include "npu/abi/telemetry.hpp"

namespace npu::driver {

TimeSliceClient::Impl::Impl(std::shared_ptr<TimeSliceScheduler::Impl> of, ProcessContext& process)
    : scheduler(std::move(of)),
      seat(std::make_shared<TimeSliceSeat>(scheduler->platform, process)),
      arrived_(scheduler->platform.tasks().make_condition()),
      slice_begun_(scheduler->platform.tasks().make_condition()),
      launches_lock_(scheduler->platform.tasks().make_mutex()),
      window_(scheduler->options.launches),
      window_size_(window_.size()),
      last_lock_(scheduler->platform.tasks().make_mutex()) {}

Status TimeSliceClient::Impl::start(std::string name, const CoreQuota& quota) {
  const bool free = scheduler->options.policy == SharingPolicy::kBestEffort && quota.token > 0;
  if (!free) {
    if (auto off = seat->begin(scheduler->card_deadline()); !off) return off;
  }
  const auto added = scheduler->add(std::move(name), seat, *this, quota);
  if (!added) return forward_error(added);
  id = *added;
  joined = true;
  entries_.store(entries_of_process());
  impl_of(seat->process()).queues.set_time_slices(this);
  slice_.store(seat->allowed());
  if (free) return {};
  auto task = scheduler->platform.tasks().spawn(fmt::format("turns.{}", id), [this] { run(); });
  if (!task) return forward_error(task);
  task_ = std::move(*task);
  return {};
}

TimeSliceClient::Impl::~Impl() {
  if (joined) impl_of(seat->process()).queues.set_time_slices(nullptr);
  {
    const MutexHolder holder(*scheduler->lock);
    ending_ = true;
    arrived_->notify_all();
    slice_begun_->notify_all();
  }
  if (task_) task_->join();
  if (joined) scheduler->remove(id);
  seat->end(scheduler->card_deadline());
}

// --- The agent --------------------------------------------------------------------------------

void TimeSliceClient::Impl::post(const TimeSliceMessage& message) {
  inbox_.push_back(message);
  arrived_->notify_all();
}

bool TimeSliceClient::Impl::has_slice() const {
  const auto slice = slice_.load();
  return slice != 0 && seat->allowed() == slice;
}

void TimeSliceClient::Impl::run() {
  auto& lock = *scheduler->lock;
  const MutexHolder holder(lock);
  while (!ending_) {
    if (stopped_) {
      static_cast<void>(arrived_->wait(lock, Instant::never()));
      continue;
    }
    if (!inbox_.empty()) {
      const auto message = inbox_.front();
      inbox_.pop_front();
      lock.unlock();
      answer(message);
      lock.lock();
      continue;
    }
    if (next_look() <= now()) {
      lock.unlock();
      const auto entries = entries_of_process();
      lock.lock();
      // What came by other ways than submit() wants a time slice, too.
      if (entries != entries_seen_) request();
      entries_seen_ = entries;
      request_again();
      asked_last_ = now();
    }
    static_cast<void>(arrived_->daemon_wait(lock, next_look()));
  }
}

// Without a time slice it looks now and then.
Instant TimeSliceClient::Impl::next_look() const {
  if (has_slice()) return Instant::never();
  const auto& options = scheduler->options;
  return asked_last_ + (waiting_ ? options.timeout : options.window);
}

void TimeSliceClient::Impl::answer(const TimeSliceMessage& message) {
  if (message.kind == TimeSliceMessageKind::kGrant) {
    const bool entered = seat->enter(message.slice, scheduler->card_deadline());
    const MutexHolder holder(*scheduler->lock);
    if (!entered) {
      ++scheduler->statistics.stale;
      return;
    }
    without_slice_.fetch_add((now() - left_).count());
    slice_.store(message.slice);
    waiting_ = false;
    scheduler->send({TimeSliceMessageKind::kTaken, id, message.slice, now()});
    slice_begun_->notify_all();
    return;
  }
  const Instant left = now();
  seat->leave(message.slice, scheduler->card_deadline());
  // Counted before it is looked at, so that what comes meanwhile is found by its number: whoever
  // submits it may still see the time slice.
  const auto entries = entries_of_process();
  const auto submitted = entries_.load();
  const bool work = has_work();
  const MutexHolder holder(*scheduler->lock);
  scheduler->send({TimeSliceMessageKind::kRelease, id, message.slice, now()});
  if (slice_.load() == message.slice) {
    slice_.store(0);
    left_ = left;
  }
  entries_seen_ = entries;
  asked_last_ = now();
  if (work || kept_ > 0 || entries_.load() != submitted) request();
}

void TimeSliceClient::Impl::request() {
  if (waiting_ || has_slice()) return;
  waiting_ = true;
  asked_ = asked_last_ = now();
  scheduler->send({TimeSliceMessageKind::kRequest, id, 0, asked_});
  arrived_->notify_all();
}

void TimeSliceClient::Impl::request_again() {
  if (!waiting_ || has_slice() || now() < asked_last_ + scheduler->options.timeout) return;
  scheduler->send({TimeSliceMessageKind::kRequest, id, 0, asked_}, true);
}

void TimeSliceClient::Impl::stop(bool stopped) {
  const MutexHolder holder(*scheduler->lock);
  stopped_ = stopped;
  arrived_->notify_all();
}

std::uint64_t TimeSliceClient::Impl::entries_of_process() {
  auto& process = impl_of(seat->process());
  const MutexHolder holder(process.queues.mutex());
  return process.queues.table().entries();
}

// --- Its tasks --------------------------------------------------------------------------------

Status TimeSliceClient::Impl::await_slice(Instant deadline) {
  if (has_slice()) return {};
  const MutexHolder holder(*scheduler->lock);
  ++kept_;
  request();
  while (!has_slice() && !ending_ && now() < deadline) {
    static_cast<void>(slice_begun_->wait(*scheduler->lock, deadline));
  }
  --kept_;
  if (has_slice()) return {};
  return fail(ErrorCode::kTimeout, fmt::format("client {} of the card has got no time slice", id));
}

void TimeSliceClient::Impl::note(const Launch& launch) {
  if (!has_slice()) return;
  window_.note(launch.begin, slice_time());
  window_size_.store(window_.size());
}

bool TimeSliceClient::Impl::is_late(const Launch& launch) const {
  return has_slice() && slice_time() - launch.begin > scheduler->options.launches.target;
}

void TimeSliceClient::Impl::drop_oldest() {
  launches_.pop_front();
  in_flight_.store(static_cast<unsigned>(launches_.size()));
}

// What is found done has ended since the last look, perhaps long ago: too late for the window to
// say that it was late.
void TimeSliceClient::Impl::drop_done() {
  while (!launches_.empty()) {
    const auto& oldest = launches_.front();
    const auto done = oldest.channel->is_done(oldest.ticket);
    const bool in_flight = done && !*done;
    if (done && is_late(oldest) == in_flight) note(oldest);
    if (in_flight) return;
    drop_oldest();
  }
}

// Whether the launch waits for what comes behind it: a client that has the time slice and for so
// long not one core computes nothing that would end it.
bool TimeSliceClient::Impl::waits_for_later(Launch& launch) {
  const auto slice = has_slice() ? slice_.load() : 0;
  const auto busy =
      scheduler->link.registers().read64(abi::kSpaceBusyWindow.at(seat->process().vmid()));
  const bool idle = slice != 0 && launch.seen_in == slice && launch.busy_seen == busy;
  launch.seen_in = slice;
  launch.busy_seen = busy;
  return idle || ++launch.looks == kMostLooks;
}

bool TimeSliceClient::Impl::make_room(Instant deadline) {
  const MutexHolder holder(*launches_lock_);
  if (launches_.size() >= window_.size()) drop_done();
  if (launches_.size() < window_.size()) return true;
  auto& oldest = launches_.front();
  const Instant timeout = now() + scheduler->options.launches.target;
  const auto done =
      oldest.channel->wait(oldest.ticket, WaitPolicy::kAdaptive, std::min(deadline, timeout));
  const bool in_flight = !done && done.error().code == ErrorCode::kTimeout;
  if (!in_flight || is_late(oldest)) note(oldest);
  if (!in_flight || (now() >= timeout && waits_for_later(oldest))) drop_oldest();
  return launches_.size() < window_.size() && has_slice();
}

Result<QueueTicket> TimeSliceClient::Impl::submit(Queue& queue, const abi::QueueEntry* entries,
                                                  std::size_t count, bool launch, Instant deadline,
                                                  const QueueEntryOptions& options) {
  while (launch) {
    if (auto ok = await_slice(deadline); !ok) return forward_error(ok);
    if (make_room(deadline)) break;
    if (now() >= deadline) {
      return fail(
          ErrorCode::kTimeout,
          fmt::format("client {} of the card has {} launches in flight", id, in_flight_.load()));
    }
  }
  auto& channel = *impl_of(queue).channel;
  Launch made{&channel, {}, slice_time()};
  auto ticket = queue.submit(entries, count, deadline, options);
  if (!ticket) return ticket;
  // One without completion is as good as done when the next one with it is.
  if (ticket->sequence != 0) {
    made.ticket = *ticket;
    if (launch) {
      const MutexHolder holder(*launches_lock_);
      launches_.push_back(made);
      in_flight_.store(static_cast<unsigned>(launches_.size()));
    }
    const MutexHolder holder(*last_lock_);
    const auto last = last_of(channel);
    if (last == last_.end()) {
      last_.push_back({&channel, *ticket});
    } else {
      last->ticket = *ticket;
    }
  }
  if (launch) launched_.fetch_add(1);
  entries_.fetch_add(count);  // behind what it counts, and before the time slice is looked at
  if (has_slice()) return ticket;
  const MutexHolder holder(*scheduler->lock);
  request();
  return ticket;
}

std::vector<TimeSliceClient::Impl::Last>::iterator TimeSliceClient::Impl::last_of(
    const QueueChannel& channel) {
  return std::find_if(last_.begin(), last_.end(),
                      [&](const Last& last) { return last.channel == &channel; });
}

// What came by other ways than submit() is the card's to say.
bool TimeSliceClient::Impl::has_work() {
  {
    const MutexHolder holder(*last_lock_);
    for (auto last = last_.begin(); last != last_.end();) {
      const auto done = last->channel->is_done(last->ticket);
      if (done && !*done) return true;
      last = last_.erase(last);
    }
  }
  if (entries_of_process() == entries_.load()) return false;
  const auto queues = seat->process().snapshot();
  if (!queues) return false;
  return std::any_of(queues->begin(), queues->end(), [](const QueueStatus& queue) {
    return !queue.faulted && queue.completed < queue.write_index;
  });
}

void TimeSliceClient::Impl::forget(const QueueChannel& channel) {
  {
    const MutexHolder holder(*launches_lock_);
    launches_.erase(
        std::remove_if(launches_.begin(), launches_.end(),
                       [&](const Launch& launch) { return launch.channel == &channel; }),
        launches_.end());
    in_flight_.store(static_cast<unsigned>(launches_.size()));
  }
  const MutexHolder holder(*last_lock_);
  const auto last = last_of(channel);
  if (last != last_.end()) last_.erase(last);
}

Status TimeSliceClient::Impl::drain(QueueChannel& channel, Instant deadline) {
  std::optional<QueueTicket> ticket;
  {
    const MutexHolder holder(*last_lock_);
    const auto last = last_of(channel);
    if (last != last_.end()) ticket = last->ticket;
  }
  if (!ticket) return {};
  auto done = channel.wait(*ticket, WaitPolicy::kAdaptive, deadline);
  return done || done.error().code != ErrorCode::kTimeout ? Status() : done;
}

TimeSliceClientStatistics TimeSliceClient::Impl::statistics() const {
  TimeSliceClientStatistics now;
  now.launches = launched_.load();
  now.launch_window = window_size_.load();
  now.launches_in_flight = in_flight_.load();
  return now;
}

}  // namespace npu::driver
