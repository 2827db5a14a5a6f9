// SPDX-License-Identifier: Apache-2.0
#include "driver/time_slices/arbiter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "driver/device/device_parts.hpp"
#include "npu/abi/telemetry.hpp"

namespace npu::driver {
namespace {

constexpr unsigned kTries = 3;
constexpr std::int64_t kSlices = 5;  // of a window
constexpr std::uint64_t kAllOnes = ~0ULL;

}  // namespace

TimeSliceScheduler::Impl::Impl(Device& card, const TimeSliceOptions& wanted)
    : link(DeviceParts::link(card)),
      features(DeviceParts::features(card)),
      platform(link.platform()),
      options(wanted),
      lock(platform.tasks().make_mutex()),
      changed(platform.tasks().make_condition()),
      ledger(wanted) {}

Status TimeSliceScheduler::Impl::start() {
  window_end_ = now() + options.window;
  auto task = platform.tasks().spawn("turns", [this] { run(); });
  if (!task) return forward_error(task);
  task_ = std::move(*task);
  return {};
}

TimeSliceScheduler::Impl::~Impl() {
  {
    const MutexHolder holder(*lock);
    stopping_ = true;
    changed->notify_all();
  }
  if (task_) task_->join();
}

// --- Clients ----------------------------------------------------------------------------------

Result<unsigned> TimeSliceScheduler::Impl::add(std::string name,
                                               std::shared_ptr<TimeSliceSeat> seat,
                                               TimeSliceInbox& inbox, const CoreQuota& quota) {
  const MutexHolder holder(*lock);
  auto member = std::make_shared<Member>();
  member->name = std::move(name);
  member->vmid = seat->process().vmid();
  member->seat = std::move(seat);
  member->inbox = &inbox;
  const unsigned id = ids_++;
  members[id] = member;
  ledger.add(id, quota);
  static_cast<void>(bill(id, 0));
  member->busy = {};
  ++statistics.joined;
  if (options.policy == SharingPolicy::kBestEffort && quota.token > 0)
    member->seat->allow(++slices_);
  return id;
}

void TimeSliceScheduler::Impl::remove(unsigned client) {
  const MutexHolder holder(*lock);
  const auto member = members.at(client);
  while (member->in_use) static_cast<void>(changed->wait(*lock, Instant::never()));
  if (has_slice(client)) end_slice(100);
  members.erase(client);
  ledger.remove(client);
  ++statistics.left;
  changed->notify_all();
}

Status TimeSliceScheduler::Impl::set_quota(unsigned client, const CoreQuota& quota) {
  const MutexHolder holder(*lock);
  const auto member = members.find(client);
  if (member == members.end()) {
    return fail(ErrorCode::kNotFound, fmt::format("no client {} of the card's turns", client));
  }
  const bool off = ledger.of(client).quota.token == 0;
  if (options.policy == SharingPolicy::kBestEffort && off != (quota.token == 0)) {
    return fail(ErrorCode::kUnsupported, "best effort: who has a token of 0 keeps it");
  }
  if (!member->second->quota) member->second->changed = now();
  member->second->quota = quota;
  changed->notify_all();
  return {};
}

void TimeSliceScheduler::Impl::apply_quota(Member& member, unsigned client) {
  ledger.set_quota(client, *member.quota);
  member.quota.reset();
  statistics.update_latency = now() - member.changed;
}

Status TimeSliceScheduler::Impl::set_card_token(unsigned token) {
  const MutexHolder holder(*lock);
  if (options.policy == SharingPolicy::kBestEffort && token != kWholeToken) {
    return fail(ErrorCode::kUnsupported, "best effort: nobody takes turns");
  }
  card_token_ = token;
  if (!card_token_set_) card_token_set_ = now();
  changed->notify_all();
  return {};
}

unsigned TimeSliceScheduler::Impl::card_token() const {
  const MutexHolder holder(*lock);
  return card_token_;
}

void TimeSliceScheduler::Impl::apply_card_token() {
  if (!card_token_set_) return;
  ledger.set_card_token(card_token_);
  statistics.update_latency = now() - *card_token_set_;
  card_token_set_.reset();
}

void TimeSliceScheduler::Impl::look_at_card(unsigned client) {
  if (!has_slice(client) && options.policy != SharingPolicy::kBestEffort) return;
  window_busy_ += bill(client, 100);
}

TimeSliceSchedulerStatistics TimeSliceScheduler::Impl::statistics_now() const {
  auto all = statistics;
  all.clients = static_cast<unsigned>(members.size());
  all.running = slice_ ? 1 : 0;
  all.window_end = window_end_;
  if (options.policy == SharingPolicy::kBestEffort) all.running = all.clients;
  for (const auto& [id, account] : ledger.all()) all.waiting += account.waiting ? 1 : 0;
  return all;
}

TimeSliceClientStatistics TimeSliceScheduler::Impl::statistics_of(unsigned client) const {
  const auto& member = *members.at(client);
  const auto& account = ledger.of(client);
  TimeSliceClientStatistics now;
  now.id = client;
  now.name = member.name;
  now.quota = account.quota;
  now.effective_ppm = account.effective_ppm();
  now.used = std::max(account.used, Picoseconds{});
  now.limit = ledger.budget(account);
  now.debt = account.debt;
  now.busy = member.busy;
  now.time_slices = member.time_slices;
  now.reclaimed = member.reclaimed;
  now.running = has_slice(client);
  now.waiting = account.waiting;
  now.throttled = account.waiting && account.used >= now.limit;
  return now;
}

// --- Messages ---------------------------------------------------------------------------------

void TimeSliceScheduler::Impl::send(const TimeSliceMessage& message, bool again) {
  ++statistics.messages[static_cast<std::size_t>(message.kind)];
  if (again) ++statistics.resent;
  if (lost && lost(message)) {
    ++statistics.lost;
    return;
  }
  const bool to_client =
      message.kind == TimeSliceMessageKind::kGrant || message.kind == TimeSliceMessageKind::kDrop;
  if (to_client) {
    members.at(message.client)->inbox->post(message);
  } else {
    inbox_.push_back(message);
    changed->notify_all();
  }
}

void TimeSliceScheduler::Impl::handle(const TimeSliceMessage& message) {
  const auto member = members.find(message.client);
  if (member == members.end()) return;
  if (message.kind == TimeSliceMessageKind::kRequest) {
    auto& account = ledger.of(message.client);
    // Who has the time slice and does not know it is told so again.
    if (account.waiting || (has_slice(message.client) && slice_->stage == Stage::kGranting)) return;
    account.waiting = true;
    account.asked = message.sent;
    return;
  }
  if (!has_slice(message.client) || slice_->number != message.slice) {
    ++statistics.stale;
    return;
  }
  if (message.kind == TimeSliceMessageKind::kTaken) {
    if (slice_->stage != Stage::kGranting) return;
    slice_->stage = Stage::kRunning;
    plan_look();
  } else {
    end_slice(slice_->stage == Stage::kDropping ? options.tail_percent : 100);
  }
}

// --- Turns ------------------------------------------------------------------------------------

Picoseconds TimeSliceScheduler::Impl::bill(unsigned client, unsigned percent) {
  auto& member = *members.at(client);
  auto& registers = link.registers();
  const auto busy = registers.read64(abi::kSpaceBusyWindow.at(member.vmid));
  if (busy == kAllOnes || busy < member.busy_seen) {  // nobody answers, or it was reset
    if (busy != kAllOnes) member.busy_seen = busy;
    return {};
  }
  const Picoseconds more(static_cast<std::int64_t>(busy - member.busy_seen) * 1000);
  member.busy_seen = busy;
  member.busy += more;
  member.idle = more == Picoseconds{};
  ledger.charge(client, more, more * percent / 100);
  return more;
}

void TimeSliceScheduler::Impl::grant(unsigned client) {
  auto& member = *members.at(client);
  ledger.of(client).waiting = false;
  slice_ = TimeSlice{client, ++slices_, Stage::kGranting, now(), now(), 1, {}};
  ++member.time_slices;
  member.seat->allow(slice_->number);
  send({TimeSliceMessageKind::kGrant, client, slice_->number, now()});
}

void TimeSliceScheduler::Impl::drop() {
  slice_->stage = Stage::kDropping;
  slice_->first_sent = slice_->last_sent = now();
  slice_->sent = 1;
  send({TimeSliceMessageKind::kDrop, slice_->client, slice_->number, now()});
}

void TimeSliceScheduler::Impl::ask_again() {
  ++slice_->sent;
  slice_->last_sent = now();
  const auto kind = slice_->stage == Stage::kGranting ? TimeSliceMessageKind::kGrant
                                                      : TimeSliceMessageKind::kDrop;
  send({kind, slice_->client, slice_->number, slice_->first_sent}, true);
}

// Its process may take a while to leave the card; others' messages wait meanwhile.
void TimeSliceScheduler::Impl::reclaim() {
  const unsigned client = slice_->client;
  const auto member = members.at(client);
  member->in_use = true;
  lock->unlock();
  member->seat->revoke(card_deadline());
  lock->lock();
  member->in_use = false;
  changed->notify_all();
  ++member->reclaimed;
  ++statistics.reclaimed;
  if (has_slice(client)) end_slice(options.tail_percent);
}

void TimeSliceScheduler::Impl::end_slice(unsigned percent) {
  const unsigned client = slice_->client;
  window_busy_ += bill(client, percent);
  members.at(client)->seat->allow(0);
  slice_.reset();
}

void TimeSliceScheduler::Impl::plan_look() {
  const auto left = std::max(ledger.left(slice_->client), 1_ns);
  slice_->next_look =
      ledger.unlimited(slice_->client) ? window_end_ : now() + std::min(options.sample, left);
}

void TimeSliceScheduler::Impl::look() {
  const unsigned client = slice_->client;
  const bool due = now() >= slice_->next_look;
  if (!due && !ledger.must_yield(client)) return;
  const auto more = bill(client, 100);
  window_busy_ += more;
  const bool had_enough = ledger.left(client) <= Picoseconds{} && !ledger.unlimited(client);
  const bool unused = due && more == Picoseconds{} && anybody_waits();
  if (had_enough || unused || ledger.must_yield(client) || has_had_a_slice()) return drop();
  plan_look();
}

// On what nobody has a right to those that want it take time slices.
bool TimeSliceScheduler::Impl::has_had_a_slice() const {
  const auto& account = ledger.of(slice_->client);
  return account.used >= ledger.budget(account) && anybody_waits() &&
         now() - slice_->first_sent >= options.window / kSlices;
}

bool TimeSliceScheduler::Impl::anybody_waits() const {
  const auto& all = ledger.all();
  return std::any_of(all.begin(), all.end(), [](const auto& each) { return each.second.waiting; });
}

// --- Time -------------------------------------------------------------------------------------

void TimeSliceScheduler::Impl::roll() {
  if (now() < window_end_) return;
  std::optional<unsigned> holder;
  if (slice_) {
    holder = slice_->client;
    window_busy_ += bill(*holder, 100);
  }
  // What lies back further than a few windows is forgotten.
  const auto passed = 1 + (now() - window_end_) / options.window;
  for (std::int64_t i = 0; i < std::min<std::int64_t>(passed, 8); ++i) ledger.roll(holder);
  statistics.windows += static_cast<std::uint64_t>(passed);
  window_end_ = window_end_ + options.window * passed;
  for (auto& [id, member] : members) {
    if (member->quota) apply_quota(*member, id);
  }
  apply_card_token();
  const bool idle = window_busy_ == Picoseconds{};
  window_busy_ = {};
  if (!slice_ || slice_->stage != Stage::kRunning) return;
  if (idle) return drop();
  plan_look();
}

void TimeSliceScheduler::Impl::advance() {
  roll();
  if (slice_) {
    if (slice_->stage == Stage::kRunning) {
      look();
    } else if (now() >= slice_->last_sent + options.timeout) {
      if (members.at(slice_->client)->seat->at_work()) {
        slice_->last_sent = now();  // it has heard: what takes so long is the card
      } else if (slice_->sent < kTries) {
        ask_again();
      } else {
        reclaim();
      }
    }
  }
  if (slice_ || options.policy == SharingPolicy::kBestEffort) return;
  if (const auto next = ledger.next()) grant(*next);
}

Instant TimeSliceScheduler::Impl::next_event() const {
  const bool changes = std::any_of(members.begin(), members.end(), [](const auto& member) {
    return member.second->quota.has_value();
  });
  Instant next =
      slice_ || changes || card_token_set_ || anybody_waits() ? window_end_ : Instant::never();
  if (!slice_) return next;
  const auto due =
      slice_->stage == Stage::kRunning ? slice_->next_look : slice_->last_sent + options.timeout;
  return std::min(next, due);
}

// Whether nobody gets anything by time alone: the holder does nothing, and others wait for nothing
// but a time slice.
bool TimeSliceScheduler::Impl::only_looks() const {
  if (!slice_ || slice_->stage != Stage::kRunning) return false;
  if (card_token_set_ || !members.at(slice_->client)->idle) return false;
  return std::all_of(members.begin(), members.end(), [this](const auto& member) {
    const auto& account = ledger.of(member.first);
    const Picoseconds budget = ledger.budget(account);
    const bool throttled = account.waiting && account.used >= budget && budget > Picoseconds{};
    return !throttled && !member.second->quota;
  });
}

void TimeSliceScheduler::Impl::run() {
  const MutexHolder holder(*lock);
  while (!stopping_) {
    while (!inbox_.empty()) {
      const auto message = inbox_.front();
      inbox_.pop_front();
      handle(message);
    }
    advance();
    if (!inbox_.empty() || stopping_) continue;
    const auto next = next_event();
    if (next <= now()) continue;
    static_cast<void>(only_looks() ? changed->daemon_wait(*lock, next)
                                   : changed->wait(*lock, next));
  }
}

}  // namespace npu::driver
