// SPDX-License-Identifier: Apache-2.0
#include "driver/turns/turn_agent.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "driver/device/device_impl.hpp"
#include "driver/queue/process_impl.hpp"
#include "npu/abi/telemetry.hpp"

namespace npu::driver {

TurnClient::Impl::Impl(std::shared_ptr<TurnScheduler::Impl> of, ProcessContext& process)
    : scheduler(std::move(of)),
      seat(std::make_shared<TurnSeat>(scheduler->platform, process)),
      arrived_(scheduler->platform.tasks().make_condition()),
      turn_begun_(scheduler->platform.tasks().make_condition()),
      launches_lock_(scheduler->platform.tasks().make_mutex()),
      window_(scheduler->options.launches),
      window_size_(window_.size()),
      last_lock_(scheduler->platform.tasks().make_mutex()) {}

Status TurnClient::Impl::start(std::string name, const TurnShare& share) {
  const bool free = scheduler->options.policy == SharingPolicy::kBestEffort && share.token > 0;
  if (!free) {
    if (auto off = seat->begin(scheduler->card_deadline()); !off) return off;
  }
  const auto added = scheduler->add(std::move(name), seat, *this, share);
  if (!added) return forward_error(added);
  id = *added;
  joined = true;
  entries_.store(entries_of_process());
  seat->process().impl().turn.store(this);
  turn_.store(seat->allowed());
  if (free) return {};
  auto task = scheduler->platform.tasks().spawn(fmt::format("turns.{}", id), [this] { run(); });
  if (!task) return forward_error(task);
  task_ = std::move(*task);
  return {};
}

TurnClient::Impl::~Impl() {
  if (joined) seat->process().impl().turn.store(nullptr);
  {
    const MutexHolder holder(*scheduler->lock);
    ending_ = true;
    arrived_->notify_all();
    turn_begun_->notify_all();
  }
  if (task_) task_->join();
  if (joined) scheduler->remove(id);
  seat->end(scheduler->card_deadline());
}

// --- The agent --------------------------------------------------------------------------------

void TurnClient::Impl::post(const TurnMessage& message) {
  inbox_.push_back(message);
  arrived_->notify_all();
}

bool TurnClient::Impl::has_turn() const {
  const auto turn = turn_.load();
  return turn != 0 && seat->allowed() == turn;
}

void TurnClient::Impl::run() {
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
      // What came by other ways than submit() wants a turn, too.
      if (entries != entries_seen_) request();
      entries_seen_ = entries;
      request_again();
      asked_last_ = now();
    }
    static_cast<void>(arrived_->daemon_wait(lock, next_look()));
  }
}

// Without a turn it looks now and then.
Instant TurnClient::Impl::next_look() const {
  if (has_turn()) return Instant::never();
  const auto& options = scheduler->options;
  return asked_last_ + (waiting_ ? options.timeout : options.window);
}

void TurnClient::Impl::answer(const TurnMessage& message) {
  if (message.kind == TurnMessageKind::kGrant) {
    const bool entered = seat->enter(message.turn, scheduler->card_deadline());
    const MutexHolder holder(*scheduler->lock);
    if (!entered) {
      ++scheduler->statistics.stale;
      return;
    }
    without_turn_.fetch_add((now() - left_).count());
    turn_.store(message.turn);
    waiting_ = false;
    scheduler->send({TurnMessageKind::kTaken, id, message.turn, now()});
    turn_begun_->notify_all();
    return;
  }
  const Instant left = now();
  seat->leave(message.turn, scheduler->card_deadline());
  // Counted before it is looked at, so that what comes meanwhile is found by its number: whoever
  // submits it may still see the turn.
  const auto entries = entries_of_process();
  const auto submitted = entries_.load();
  const bool work = has_work();
  const MutexHolder holder(*scheduler->lock);
  scheduler->send({TurnMessageKind::kRelease, id, message.turn, now()});
  if (turn_.load() == message.turn) {
    turn_.store(0);
    left_ = left;
  }
  entries_seen_ = entries;
  asked_last_ = now();
  if (work || kept_ > 0 || entries_.load() != submitted) request();
}

void TurnClient::Impl::request() {
  if (waiting_ || has_turn()) return;
  waiting_ = true;
  asked_ = asked_last_ = now();
  scheduler->send({TurnMessageKind::kRequest, id, 0, asked_});
  arrived_->notify_all();
}

void TurnClient::Impl::request_again() {
  if (!waiting_ || has_turn() || now() < asked_last_ + scheduler->options.timeout) return;
  scheduler->send({TurnMessageKind::kRequest, id, 0, asked_}, true);
}

void TurnClient::Impl::stop(bool stopped) {
  const MutexHolder holder(*scheduler->lock);
  stopped_ = stopped;
  arrived_->notify_all();
}

std::uint64_t TurnClient::Impl::entries_of_process() {
  auto& process = seat->process().impl();
  const MutexHolder holder(*process.mutex);
  return process.queues.entries();
}

// --- Its tasks --------------------------------------------------------------------------------

Status TurnClient::Impl::await_turn(Instant deadline) {
  if (has_turn()) return {};
  const MutexHolder holder(*scheduler->lock);
  ++kept_;
  request();
  while (!has_turn() && !ending_ && now() < deadline) {
    static_cast<void>(turn_begun_->wait(*scheduler->lock, deadline));
  }
  --kept_;
  if (has_turn()) return {};
  return fail(ErrorCode::kTimeout, fmt::format("client {} of the card's turns has got none", id));
}

void TurnClient::Impl::note(const Launch& launch) {
  if (!has_turn()) return;
  window_.note(launch.begin, turn_time());
  window_size_.store(window_.size());
}

bool TurnClient::Impl::is_late(const Launch& launch) const {
  return has_turn() && turn_time() - launch.begin > scheduler->options.launches.target;
}

void TurnClient::Impl::drop_oldest() {
  launches_.pop_front();
  under_way_.store(static_cast<unsigned>(launches_.size()));
}

// What is found done has ended since the last look, perhaps long ago: too late for the window to
// say that it was late.
void TurnClient::Impl::drop_done() {
  while (!launches_.empty()) {
    const auto& oldest = launches_.front();
    const auto done = oldest.channel->is_done(oldest.ticket);
    const bool goes_on = done && !*done;
    if (done && is_late(oldest) == goes_on) note(oldest);
    if (goes_on) return;
    drop_oldest();
  }
}

// Whether the launch waits for what comes behind it: a client that has the turn and for so long not
// one core computes nothing that would end it.
bool TurnClient::Impl::waits_for_later(Launch& launch) {
  const auto turn = has_turn() ? turn_.load() : 0;
  const auto busy = scheduler->device.impl().link->registers().read64(
      abi::kSpaceBusyWindow.at(seat->process().vmid()));
  const bool idle = turn != 0 && launch.seen_in == turn && launch.busy_seen == busy;
  launch.seen_in = turn;
  launch.busy_seen = busy;
  return idle || ++launch.looks == kMostLooks;
}

bool TurnClient::Impl::make_room(Instant deadline) {
  const MutexHolder holder(*launches_lock_);
  if (launches_.size() >= window_.size()) drop_done();
  if (launches_.size() < window_.size()) return true;
  auto& oldest = launches_.front();
  const Instant timeout = now() + scheduler->options.launches.target;
  const auto done =
      oldest.channel->wait(oldest.ticket, WaitPolicy::kAdaptive, std::min(deadline, timeout));
  const bool goes_on = !done && done.error().code == ErrorCode::kTimeout;
  if (!goes_on || is_late(oldest)) note(oldest);
  if (!goes_on || (now() >= timeout && waits_for_later(oldest))) drop_oldest();
  return launches_.size() < window_.size() && has_turn();
}

Result<QueueTicket> TurnClient::Impl::submit(Queue& queue, const abi::QueueEntry* entries,
                                             std::size_t count, bool launch, Instant deadline,
                                             const QueueEntryOptions& options) {
  while (launch) {
    if (auto ok = await_turn(deadline); !ok) return forward_error(ok);
    if (make_room(deadline)) break;
    if (now() >= deadline) {
      return fail(ErrorCode::kTimeout,
                  fmt::format("client {} of the card's turns has {} launches under way", id,
                              under_way_.load()));
    }
  }
  auto& channel = *queue.impl().channel;
  Launch made{&channel, {}, turn_time()};
  auto ticket = queue.submit(entries, count, deadline, options);
  if (!ticket) return ticket;
  // One without completion is as good as done when the next one with it is.
  if (ticket->sequence != 0) {
    made.ticket = *ticket;
    if (launch) {
      const MutexHolder holder(*launches_lock_);
      launches_.push_back(made);
      under_way_.store(static_cast<unsigned>(launches_.size()));
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
  entries_.fetch_add(count);  // behind what it counts, and before the turn is looked at
  if (has_turn()) return ticket;
  const MutexHolder holder(*scheduler->lock);
  request();
  return ticket;
}

std::vector<TurnClient::Impl::Last>::iterator TurnClient::Impl::last_of(
    const QueueChannel& channel) {
  return std::find_if(last_.begin(), last_.end(),
                      [&](const Last& last) { return last.channel == &channel; });
}

// What came by other ways than submit() is the card's to say.
bool TurnClient::Impl::has_work() {
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

void TurnClient::Impl::forget(const QueueChannel& channel) {
  {
    const MutexHolder holder(*launches_lock_);
    launches_.erase(
        std::remove_if(launches_.begin(), launches_.end(),
                       [&](const Launch& launch) { return launch.channel == &channel; }),
        launches_.end());
    under_way_.store(static_cast<unsigned>(launches_.size()));
  }
  const MutexHolder holder(*last_lock_);
  const auto last = last_of(channel);
  if (last != last_.end()) last_.erase(last);
}

Status TurnClient::Impl::settle(QueueChannel& channel, Instant deadline) {
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

TurnClientStatistics TurnClient::Impl::statistics() const {
  TurnClientStatistics now;
  now.launches = launched_.load();
  now.launch_window = window_size_.load();
  now.launches_under_way = under_way_.load();
  return now;
}

}  // namespace npu::driver
