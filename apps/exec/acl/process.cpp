// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/acl/process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "apps/exec/acl/guard.hpp"

namespace npu::exec::acl {
namespace {

// For work of a stream that ends with it.
constexpr Picoseconds kDrain = 60'000'000_us;

// Handles of what is on the device.
template <class T>
std::vector<std::uint64_t> on_device(const HandleTable<T>& table, std::uint32_t device) {
  std::vector<std::uint64_t> handles;
  for (const auto& [handle, thing] : table.all()) {
    if (thing->device == device) handles.push_back(handle);
  }
  return handles;
}

template <class Map, class Condition>
void erase_if(Map& map, Condition condition) {
  for (auto each = map.begin(); each != map.end();) {
    each = condition(*each) ? map.erase(each) : std::next(each);
  }
}

template <class T>
void erase_if_of(std::vector<T>& waits, std::uint32_t device) {
  waits.erase(std::remove_if(waits.begin(), waits.end(),
                             [device](const auto& each) { return each.device == device; }),
              waits.end());
}

template <class T>
void drop(HandleTable<T>& table, std::uint32_t device) {
  for (const auto handle : on_device(table, device)) table.remove(handle);
}

}  // namespace

Process::Process(Machine& machine, std::uint64_t number, std::uint64_t root, pid_t id)
    : callbacks(machine.platform.tasks()),
      machine_(machine),
      number_(number),
      id_(id),
      lock_(machine.platform.tasks().make_mutex()),
      calls_(machine.platform.tasks()),
      managed_(id, machine.platform.tasks(), addresses_, machine.cards.settings()) {
  machine.process_ids[number] = id;
  sharing_.name = fmt::format("p{}", number - 1);
  if (machine.sharing.empty()) return;
  const std::size_t others = machine.sharing.size() - 1;
  sharing_ = machine.sharing[root == 0 ? others : std::min<std::size_t>(root - 1, others)];
  if (root != number) sharing_.name = fmt::format("p{}", number - 1);
  if (sharing_.quota == nullptr) return;
  memory_ = sharing_.quota;
  most_memory_ = memory_->limit();
}

void Process::limit_memory(Bytes limit) {
  memory_->set_limit(std::min(limit, most_memory_));
}

Outcome Process::set_device(std::int64_t device) {
  const auto card = machine_.cards.open(device);
  if (!card) return forward_fault(card);
  const auto index = static_cast<std::uint32_t>(device);
  const Guard held(*lock_);
  auto& opened = cards_[index];
  ++opened.uses;
  if (opened.card != nullptr) return {};
  driver::ProcessOptions options;
  options.process = {number_};
  options.addresses = addresses_;
  options.quota = memory_;
  auto made = ProcessCard::open(machine_.platform, **card, index, options, sharing_);
  if (!made) {
    cards_.erase(index);
    return forward_fault(made);
  }
  if (auto joined = managed_.come(**made); !joined) {
    cards_.erase(index);
    return joined;
  }
  opened.card = std::move(*made);
  opened.card->watch_races(machine_.races);
  opened.card->set_kernel_timeout(kernel_timeout_);
  opened.primary = contexts.add(std::make_shared<Context>(Context{index, true, 0}));
  return {};
}

Value<CardUse*> Process::card_use(std::int64_t device) {
  const auto card = machine_.cards.open(device);
  if (!card) return forward_fault(card);
  auto& use = card_uses_[device];
  if (use == nullptr) use = std::make_unique<CardUse>(machine_.platform, *(*card)->device);
  return use.get();
}

Value<CardManagement*> Process::card_management(std::int64_t device) {
  const auto card = machine_.cards.open(device);
  if (!card) return forward_fault(card);
  auto& access = management_[device];
  if (access == nullptr) {
    access = std::make_unique<CardManagement>(
        **card, ManagedBy{memory_, sharing_.share.token, [this](std::uint64_t number) {
                            const auto known = machine_.process_ids.find(number);
                            return known == machine_.process_ids.end()
                                       ? 0
                                       : static_cast<std::uint64_t>(known->second);
                          }});
  }
  return access.get();
}

ProcessCard* Process::card(std::int64_t device) {
  if (device < 0 || device >= machine_.cards.count()) return nullptr;
  const auto found = cards_.find(static_cast<std::uint32_t>(device));
  return found == cards_.end() ? nullptr : found->second.card.get();
}

std::uint64_t Process::primary_context(std::uint32_t device) const {
  const auto found = cards_.find(device);
  return found == cards_.end() ? 0 : found->second.primary;
}

Outcome Process::reset_device(std::int64_t device, bool force) {
  if (device < 0 || device >= machine_.cards.count()) {
    return fault(kInvalidDevice, fmt::format("device {}", device));
  }
  const auto index = static_cast<std::uint32_t>(device);
  const auto found = cards_.find(index);
  if (found == cards_.end()) {
    return fault(kInvalidDevice, fmt::format("device {} is not set", device));
  }
  if (!force && found->second.uses > 1) {
    --found->second.uses;
    return {};
  }
  count_left(index);
  // Threads that wait for streams come back, and end their calls.
  for (const auto handle : on_device(streams, index)) close_stream(handle, force);
  const CallGate::Alone alone(calls_);
  if (cards_.count(index) != 0) give_back(index, force);
  return {};
}

// Of its own: a context's default stream is npusim's to close.
void Process::count_left(std::uint32_t device) {
  auto& opened = cards_.at(device);
  if (std::exchange(opened.counted, true) || opened.card == nullptr) return;
  opened.card->count(left_);
  managed_.count(device, left_);
  for (const auto& [handle, physical] : physicals.all()) {
    if (physical->device != device) continue;
    ++left_.blocks;
    left_.memory += physical->size;
  }
  left_.events += on_device(events, device).size();
  std::set<std::uint64_t> own;
  for (const auto& [handle, context] : contexts.all()) own.insert(context->default_stream);
  for (const auto handle : on_device(streams, device)) left_.streams += own.count(handle) == 0;
}

void Process::count_all_left() {
  for (const auto& [device, opened] : cards_) count_left(device);
}

void Process::count_pinned() {
  for (const auto& [handle, memory] : pinned.all()) {
    ++left_.pinned_blocks;
    left_.pinned += memory->shared->bytes().size;
  }
}

void Process::finish() {
  count_all_left();
  std::vector<std::uint64_t> handles;
  for (const auto& [handle, stream] : streams.all()) handles.push_back(handle);
  for (const auto handle : handles) close_stream(handle, false);
  const CallGate::Alone alone(calls_);
  close(false);
}

void Process::give_back(std::uint32_t device, bool force) {
  end_communicators(*this, device, force);
  for (const auto handle : on_device(streams, device)) close_stream(handle, force);
  controlled_runs.erase(std::remove_if(controlled_runs.begin(), controlled_runs.end(),
                                       [device](const auto& run) { return run->device == device; }),
                        controlled_runs.end());
  drop_models(*this, device);
  // Other programs may still have an event that this one has given back.
  for (const auto& [key, known] : machine_.shared_events) {
    const auto shared = known.lock();
    const bool written = shared != nullptr && shared->writer == number_ && shared->device == device;
    if (written && shared->mark) shared->mark.emplace();
  }
  drop(events, device);
  drop(notifies, device);
  erase_if_of(value_waits, device);
  told.erase(device);
  erase_if_of(profile.runs, device);  // they keep queues of the device
  drop(physicals, device);
  for (const auto& [handle, memory] : pinned.all()) memory->mapped.erase(device);
  drop(contexts, device);
  book.forget(device);
  agents.erase(device);
  erase_if(opened_shares, [&](const auto& share) { return share.second.device == device; });
  std::vector<SharedMemoryHandle> held;  // dies behind that: others come meanwhile
  erase_if(machine_.names, [&](auto& name) {
    const bool own = name.second.owner == number_ && name.second.device == device;
    if (own) held.push_back(std::move(name.second.held));
    return own;
  });
  held.clear();
  // They keep queues of the device.
  erase_if(callbacks.running, [&](const auto& each) { return each.second->device == device; });
  const auto gone = [device](const auto& each) { return each.device == device; };
  callbacks.pending.erase(std::remove_if(callbacks.pending.begin(), callbacks.pending.end(), gone),
                          callbacks.pending.end());
  callbacks.tell();
  auto& opened = cards_.at(device);
  if (auto* const turn = opened.card->turn()) used_.add(turn->statistics());
  for (auto& [other, there] : cards_) {
    if (other == device || there.card == nullptr) continue;
    there.card->reclaim_freed();  // it may wait for work of the card that goes
    there.card->peers().drop(device);
  }
  managed_.go(*opened.card);
  opened.card->close();
  const auto card = cards_.extract(device);
}

void Process::close(bool force) {
  count_all_left();
  if (force) count_pinned();
  while (!cards_.empty()) give_back(cards_.begin()->first, force);
  functions.clear();
  binaries.clear();
}

void Process::end_calls() {
  count_all_left();
  const auto asleep = sleepers;  // threads go meanwhile
  for (const auto& [number, sleeper] : asleep) sleeper->end();
  callbacks.over = true;
  callbacks.tell();
  if (machine_.communicators != nullptr) machine_.communicators->tell();
  std::vector<std::uint64_t> handles;
  for (const auto& [handle, stream] : streams.all()) handles.push_back(handle);
  for (const auto handle : handles) close_stream(handle, true);
}

void Process::stop(bool stopped) {
  const Guard held(*lock_);
  for (auto* const on : cards()) {
    if (auto* const turn = on->turn()) turn->stop(stopped);
  }
}

ClientUse Process::use() const {
  auto all = used_;
  for (auto* const on : cards()) {
    if (auto* const turn = on->turn()) all.add(turn->statistics());
  }
  if (sharing_.quota) all.memory = sharing_.quota->use();
  return all;
}

std::vector<ProcessCard*> Process::cards() const {
  std::vector<ProcessCard*> all;
  for (const auto& [device, opened] : cards_) {
    if (opened.card != nullptr) all.push_back(opened.card.get());
  }
  return all;
}

void Process::reclaim_freed() {
  for (auto* const card : cards()) card->reclaim_freed();
  managed_.reclaim_freed();
}

void Process::forget(unsigned thread) {
  // Cards come and go meanwhile; one that is being opened has nothing of the thread.
  for (std::uint32_t device = 0; device < machine_.cards.count(); ++device) {
    if (auto* const on = card(device)) on->forget_staging(thread);
  }
}

Value<SharedMemoryHandle> Process::opened_share(ProcessCard& card, driver::ShareKey key) {
  auto& known = imported_[{key.value, card.index()}];
  if (auto there = known.lock()) return there;
  const auto opened = machine_.shares.open(card.space(), key);
  if (!opened) return fault(opened.error());
  auto shared = share_handle(card.space(), *opened);
  known = shared;
  return shared;
}

Value<std::pair<std::uint64_t, std::shared_ptr<ProgramStream>>> Process::make_stream(
    std::uint64_t context, unsigned priority) {
  const auto in = contexts.find(context);
  auto* const on = in == nullptr ? nullptr : card(in->device);
  if (on == nullptr) return fault(kNoContext, "the context is of no device that is set");
  auto stream = on->make_stream(priority);
  if (!stream) return forward_fault(stream);
  (*stream)->context = context;
  (*stream)->number = streams_made++;
  (*stream)->watched = {machine_.races, (*stream)->device, (*stream)->number, {}, {}};
  return std::pair(streams.add(*stream), *stream);
}

void Process::close_stream(std::uint64_t handle, bool force) {
  const auto record = streams.find(handle);
  if (record == nullptr) return;
  streams.remove(handle);
  if (record->model != nullptr) {
    record->model->invalid = true;
    record->model.reset();
  }
  record->helpers.clear();
  const Instant now = machine_.platform.clock().now();
  closing_[handle] = {record->device, record->stream->last()};
  record->stream->close(force ? now : now + kDrain);
  record->watched.known(record->watched.last);
  // Taken out first: what the end of a queue does takes time, in which others look at the list.
  const auto closed = closing_.extract(handle);
  auto* const on = card(record->device);
  if (on != nullptr && record->callback_signal) {
    static_cast<void>(on->process().signals().destroy(*record->callback_signal));
    record->callback_signal.reset();
  }
}

const OpenedShare* Process::opened_share_at(driver::DeviceAddress address) const {
  for (const auto& [at, share] : opened_shares) {
    if (address.value - share.pages.value < share.size) return &share;
  }
  return nullptr;
}

void Process::drop_windows(std::uint32_t device, driver::DeviceAddress at, Bytes size) {
  for (auto* const other : cards()) other->peers().drop(device, at, size);
}

std::vector<driver::StreamMark> Process::in_flight(std::uint32_t device) const {
  std::vector<driver::StreamMark> marks;
  for (const auto& [handle, closing] : std::map(closing_)) {
    if (closing.first == device) marks.push_back(closing.second);
  }
  for (const auto& [handle, stream] : streams.all()) {
    if (stream->device != device) continue;
    auto mark = stream->stream->last();
    if (!mark.is_done()) marks.push_back(std::move(mark));
  }
  return marks;
}

}  // namespace npu::exec::acl
