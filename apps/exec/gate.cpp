// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/gate.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "apps/exec/host/id_order.hpp"
#include "apps/exec/host/program.hpp"
#include "apps/exec/quiescence.hpp"

namespace npu::exec {
namespace {

// Between two looks at programs that run: wall time.
constexpr long kFirstWait = 20'000;       // ns
constexpr long kLongestWait = 2'000'000;  // ns

// Those that have made calls before, and the others in the order in which they began.
bool is_before(const ClientThread* a, const ClientThread* b) {
  const std::pair numbers_of_a(a->process.number, a->number);
  const std::pair numbers_of_b(b->process.number, b->number);
  if (numbers_of_a != numbers_of_b) return numbers_of_a < numbers_of_b;
  return IdOrder(a->process.id)(a->id, b->id);
}

}  // namespace

Gate::Gate(platform::Platform& platform, Listener& listener, std::chrono::milliseconds timeout,
           Body body)
    : platform_(platform),
      listener_(listener),
      timeout_(timeout),
      body_(std::move(body)),
      lock_(platform.tasks().make_mutex()),
      to_clean_(platform.tasks().make_condition()),
      given_back_(platform.tasks().make_condition()),
      nobody_(platform.tasks().make_condition()) {}

void Gate::add(std::string name, std::string title, pid_t id) {
  processes_.add(std::move(name), std::move(title), id);
}

bool Gate::is_over() const {
  return (!has_orphans_ || left_orphans_) &&
         std::all_of(processes_.begin(), processes_.end(),
                     [](const ClientProcess& process) { return process.cleaned; });
}

void Gate::run(const std::function<void(ClientProcess&)>& end_calls,
               const std::function<void(ClientProcess&)>& clean) {
  await_quiescence(nullptr);
  for (;;) {
    lock_->lock();
    while (!has_more_for_first_task()) {
      static_cast<void>(to_clean_->wait(*lock_, Instant::never()));
    }
    lock_->unlock();
    const bool ends_calls = !in_calls_.empty();
    auto& queue = ends_calls ? in_calls_ : ended_;
    if (queue.empty()) break;
    auto& process = *queue.front();
    queue.pop_front();
    if (ends_calls) {
      end_calls(process);
    } else {
      clean(process);
      process.to_clean = false;
      process.cleaned = !process.alive;
      lock_->lock();
      given_back_->notify_all();
      lock_->unlock();
      if (process.alive) take_over(process);
    }
    --busy_;
    await_quiescence(nullptr);
  }
  for (auto& process : processes_) {
    for (auto& thread : process.threads) thread->task.reset();
  }
}

bool Gate::next(ClientThread& thread, CallRecord& call) {
  if (thread.stage != Stage::kReady) {
    lock_->lock();
    while (thread.stage == Stage::kRunning && !thread.gone) {
      static_cast<void>(thread.called->wait(*lock_, Instant::never()));
    }
    lock_->unlock();
  }
  if (thread.gone) return false;
  wait_for_relatives(thread.process);
  if (thread.gone) return false;
  thread.stage = Stage::kInCall;
  call = thread.channel->take();
  return call.call != compat::Call::kEnd;
}

// What a program of the same tree had is given back before whoever has waited for its end goes on.
void Gate::wait_for_relatives(const ClientProcess& process) {
  if (!processes_.has_ending_relatives(process)) return;
  lock_->lock();
  while (processes_.has_ending_relatives(process)) {
    static_cast<void>(given_back_->wait(*lock_, Instant::never()));
  }
  lock_->unlock();
}

// What the thread makes others do with its answer comes at the time of the answer: simulated time
// catches up with what the call has taken.
void Gate::answer(ClientThread& thread, int status, const CallRecord& call) {
  nobody_->notify_all();
  thread.stage = Stage::kReady;
  if (thread.gone) return;
  thread.stage = Stage::kRunning;
  --busy_;
  thread.channel->answer(status, call);
  await_quiescence(&thread);
}

void Gate::leave(ClientThread& thread) {
  auto& process = thread.process;
  thread.stage = Stage::kEnded;
  thread.channel.reset();
  --busy_;
  --process.tasks;
  if (!process.alive || process.replaced) finish(process);
  await_quiescence(nullptr);
}

// Nobody is served any more for the process, or for the image that it was.
void Gate::finish(ClientProcess& process) {
  if (process.tasks != 0 || process.to_clean) return;
  process.to_clean = true;
  ++busy_;
  ended_.push_back(&process);
}

void Gate::await_quiescence(const ClientThread* self) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point since;
  long wait = kFirstWait;
  for (bool first = true;; first = false) {
    look_for_calls();
    if (is_quiescent_by_count()) break;
    if (!first) {
      if (idle_) idle_();
      if (interrupted_ && interrupted_()) stay();
      look_for_arrivals();
      reap_processes();
      look_for_calls();
      if (is_over() && busy_ == 0) break;
      // Who sleeps may have called or connected since that was looked for, and sleep for that.
      if (is_quiescent() && !look_for_arrivals() && !look_for_calls()) break;
    }
    if (first) {
      since = Clock::now();
    } else if (Clock::now() - since > timeout_) {
      give_up_on_silent();
    }
    wait_for_programs(self, wait);
    if (!first) wait = std::min(2 * wait, kLongestWait);
  }
  resume(self);
}

// Whoever stops the simulation does so between two of its events.
void Gate::stay() {
  for (;;) platform_.clock().relax({}, Instant::never());
}

bool Gate::look_for_calls() {
  const auto before = woken_.size();
  for (auto& process : processes_) {
    for (auto& thread : process.threads) {
      if (thread->stage != Stage::kRunning || !thread->channel->has_posted()) continue;
      thread->stage = Stage::kReady;
      process.stalled = false;
      ++busy_;
      woken_.push_back(thread.get());
    }
  }
  return woken_.size() != before;
}

bool Gate::look_for_arrivals() {
  auto arrivals = listener_.accept();
  std::sort(arrivals.begin(), arrivals.end(), [](const Arrival& a, const Arrival& b) {
    return std::pair(a.process, a.thread) < std::pair(b.process, b.thread);
  });
  for (auto& arrival : arrivals) {
    auto& process = processes_.of(arrival.process, arrival.program);
    const bool first = process.threads.empty();
    if (!first && arrival.image != process.image) replace(process, arrival.image);
    process.image = arrival.image;
    if (process.replaced) {
      process.newcomers.push_back(std::move(arrival));
    } else {
      add_thread(process, std::move(arrival));
    }
  }
  return !arrivals.empty();
}

void Gate::add_thread(ClientProcess& process, Arrival arrival) {
  auto thread = std::make_unique<ClientThread>(process, arrival.thread, std::move(arrival.channel));
  thread->called = platform_.tasks().make_condition();
  process.threads.push_back(std::move(thread));
}

// execve(): all threads have gone, and with them what the program was. The new image's wait for
// their first answer until what the old one had was given back.
void Gate::replace(ClientProcess& process, std::uint64_t image) {
  process.newcomers.clear();
  if (process.replaced || image == process.image) return;
  process.replaced = true;
  end_threads(process);
}

void Gate::take_over(ClientProcess& process) {
  process.replaced = false;
  process.threads.clear();
  for (auto& arrival : std::exchange(process.newcomers, {})) {
    add_thread(process, std::move(arrival));
  }
}

void Gate::reap_processes() {
  for (auto& process : processes_) {
    if (!process.alive) continue;
    int status = 0;
    const pid_t ended = ::waitpid(process.id, &status, WNOHANG);
    if (ended == process.id) reap(process, status);
    // A child of a program's is not ours to wait for.
    if (ended < 0 && errno == ECHILD && has_ended(process.id)) reap(process, 0);
  }
  check_orphans();
}

// Who has never called, and whose parent has ended before it: it may call still.
void Gate::check_orphans() {
  const bool had = std::any_of(processes_.begin(), processes_.end(), [](const auto& process) {
    return process.alive && had_children(process);
  });
  if (!had && !may_have_orphans_) return;
  has_orphans_ = has_orphans([this](pid_t id) { return processes_.is_known(id); });
  may_have_orphans_ = has_orphans_;
}

void Gate::reap(ClientProcess& process, int status) {
  process.alive = false;
  process.status = status;
  process.newcomers.clear();
  may_have_orphans_ = true;
  end_threads(process);
}

void Gate::end_threads(ClientProcess& process) {
  for (auto& thread : process.threads) {
    thread->gone = true;
    if (!thread->has_task) {
      if (thread->stage == Stage::kReady) --busy_;
      woken_.erase(std::remove(woken_.begin(), woken_.end(), thread.get()), woken_.end());
      thread->stage = Stage::kEnded;
    }
    if (thread->stage != Stage::kRunning) continue;
    thread->stage = Stage::kReady;
    ++busy_;
    woken_.push_back(thread.get());
  }
  const bool in_calls =
      std::any_of(process.threads.begin(), process.threads.end(),
                  [](const auto& thread) { return thread->stage == Stage::kInCall; });
  if (in_calls) {
    ++busy_;
    in_calls_.push_back(&process);
  }
  finish(process);
}

bool Gate::is_quiescent_by_count() {
  return busy_ > 0 && !may_have_orphans_ && are_quiet_by_count(processes_);
}

bool Gate::is_quiescent() {
  if (busy_ == 0) return false;
  const auto orphans_are_quiet = [this] {
    return !has_orphans_ || left_orphans_ ||
           are_quiet(::getpid(), [this](pid_t id) { return processes_.is_known(id); });
  };
  return orphans_are_quiet() && are_quiet(processes_) && orphans_are_quiet();
}

// Nothing that is to be served waits for them if nobody is left but orphans.
void Gate::give_up_on_silent() {
  left_orphans_ = left_orphans_ || busy_ > 0 || !processes_.is_any_alive();
  if (busy_ == 0) return;
  for (auto& process : processes_) {
    if (!process.alive || process.stalled) continue;
    if (is_quiet(process, [this](pid_t id) { return processes_.is_known(id); })) continue;
    process.stalled = true;
    ++process.stalls;
  }
}

void Gate::give_up() {
  processes_.number_children();
  for (auto& process : processes_) {
    if (std::exchange(process.alive, false)) process.status = SIGKILL;
  }
}

// The next call most likely comes from the thread that was answered.
void Gate::wait_for_programs(const ClientThread* self, long nanoseconds) {
  if (self != nullptr && self->stage == Stage::kRunning) {
    self->channel->wait(nanoseconds);
    return;
  }
  for (auto& process : processes_) {
    for (auto& thread : process.threads) {
      if (!process.alive || process.stalled || thread->stage != Stage::kRunning) continue;
      thread->channel->wait(nanoseconds);
      return;
    }
  }
  constexpr long kMillisecond = 1'000'000;
  pollfd arrivals{listener_.file(), POLLIN, 0};
  ::poll(&arrivals, 1, static_cast<int>(std::max(1L, nanoseconds / kMillisecond)));
}

// From here on the thread is its task's to end, though that begins later: spawn() takes simulated
// time, in which the thread's process may end.
void Gate::name_task(ClientThread& thread) {
  auto& process = thread.process;
  thread.has_task = true;
  thread.number = process.named++;
  thread.name = process.name + ".t" + std::to_string(thread.number);
  ++process.tasks;
}

void Gate::spawn_task(ClientThread& thread) {
  auto task = platform_.tasks().spawn(thread.name, [this, &thread] {
    body_(thread);
    leave(thread);
  });
  if (task) thread.task = std::move(*task);
}

// Whoever was woken is served from here on. Simulated time passes in here.
void Gate::resume(const ClientThread* self) {
  processes_.number_children();
  for (auto& process : processes_) {
    if (!process.alive || process.stalled == process.told_stalled) continue;
    process.told_stalled = process.stalled;
    if (stall_told_) stall_told_(process);
  }
  auto woken = std::exchange(woken_, {});
  woken.erase(std::remove(woken.begin(), woken.end(), self), woken.end());
  if (woken.empty() && !has_more_for_first_task()) return;
  std::sort(woken.begin(), woken.end(), is_before);
  const auto first_new = std::stable_partition(
      woken.begin(), woken.end(), [](const ClientThread* thread) { return thread->has_task; });
  std::for_each(first_new, woken.end(), [this](ClientThread* thread) { name_task(*thread); });
  lock_->lock();
  std::for_each(woken.begin(), first_new,
                [](ClientThread* thread) { thread->called->notify_all(); });
  if (has_more_for_first_task()) to_clean_->notify_all();
  lock_->unlock();
  std::for_each(first_new, woken.end(), [this](ClientThread* thread) { spawn_task(*thread); });
}

}  // namespace npu::exec
