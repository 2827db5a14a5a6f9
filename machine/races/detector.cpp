// SPDX-License-Identifier: Apache-2.0
#include "machine/races/detector.hpp"

#include <algorithm>
#include <utility>

namespace npu::races {
namespace {

std::uint64_t signal_key(std::uint32_t device, std::uint32_t space, std::uint32_t signal) {
  return std::uint64_t{device} << 48 | std::uint64_t{space} << 32 | signal;
}

}  // namespace

// --- what calls and cards tell -------------------------------------------------------------------

std::uint32_t Detector::begin(const Site& site, std::uint64_t stream) {
  const auto number = static_cast<std::uint32_t>(works_.size());
  works_.push_back({site, stream});
  ++submitting_;
  events_.emplace_back(Begun{number});
  return number;
}

void Detector::made(std::uint32_t submission, const Ticket& ticket) {
  const auto queue = queues_.at({ticket.device, ticket.queue}, ticket.submitted);
  queues_.claim({queue, ticket.index}, submission);
}

void Detector::end(std::uint32_t /*submission*/) {
  --submitting_;
  drain();
}

void Detector::known(const Ticket& ticket) {
  const auto queue = queues_.at({ticket.device, ticket.queue}, ticket.submitted);
  add(QueueOrder::Entry{queue, ticket.index});
}

bool Detector::is_over(const Ticket& ticket) {
  if (submitting_ != 0) return true;
  const auto queue = queues_.at({ticket.device, ticket.queue}, ticket.submitted);
  if (given_up_.count({queue, ticket.index}) != 0) return true;
  const auto* const clock = queues_.known({queue, ticket.index});
  return clock != nullptr && host_.covers({clock->own(), clock->count(clock->own())});
}

void Detector::released(std::uint32_t device, std::uint32_t space, std::uint32_t signal) {
  add(Released{device, space, signal, std::nullopt});
}

void Detector::met(std::uint32_t device, std::uint32_t space, std::uint32_t signal,
                   std::uint64_t address) {
  const auto pieces = translate_(device, space, address, 1);
  if (pieces.empty()) return released(device, space, signal);
  add(Released{device, space, signal, pieces.front().local});
}

void Detector::freed(const Site& site, std::uint32_t device, std::uint32_t space,
                     std::uint64_t begin, Bytes size) {
  add(Accessed{site, AccessKind::kFree, device, translate_(device, space, begin, size), 0});
}

void Detector::accessed(const Site& site, AccessKind kind, std::uint64_t place,
                        std::uint64_t address, Bytes size) {
  add(Accessed{site, kind, 0, {{true, true, address, place, size}}, 0});
}

// Which memory is whose is asked now: it may be given back before the entry is looked at.
void Detector::ended(Work work, Instant now) {
  work.pieces = memory_.of_programs(work.device, work.space, work.pieces);
  const QueueOrder::Entry entry{queues_.at({work.device, work.queue}, now), work.index};
  add(Ended{std::move(work), entry});
}

void Detector::add(Event event) {
  events_.push_back(std::move(event));
  drain();
}

// While somebody submits, entries may have ended that nobody has claimed yet.
void Detector::drain() {
  while (submitting_ == 0 && !events_.empty()) {
    const auto event = std::move(events_.front());
    events_.pop_front();
    std::visit([this](const auto& each) { take(each); }, event);
  }
}

// --- in their order ------------------------------------------------------------------------------

void Detector::take(const Begun& begun) {
  submitted_[begun.submission] = host_;
}

void Detector::take(const QueueOrder::Entry& known) {
  if (const auto* const clock = queues_.known(known)) {
    host_.join(*clock);
  } else {
    given_up_.emplace(known.queue, known.index);  // of a stream that was closed before
  }
}

void Detector::take(const Released& released) {
  auto& signal = signals_[signal_key(released.device, released.space, released.signal)];
  signal.release(host_);
  if (!released.seen_at) return;
  const auto written = maps_[released.device].last_write(*released.seen_at);
  const auto who = written.moment.who;
  if (who != kHost) signal.release(queues_.clock(who - kHost - 1));
}

void Detector::take(const Accessed& accessed) {
  const auto number = static_cast<std::uint32_t>(works_.size());
  works_.push_back({accessed.site, FoundRaces::Work::kNone});
  const Access access{host_.happens(), number, accessed.label, accessed.kind};
  for (const auto& piece : accessed.pieces) this->access(access, accessed.device, piece, host_);
}

void Detector::take(const Ended& ended) {
  const auto& work = ended.work;
  const auto submission = queues_.submission_of(ended.entry);
  Clock& clock = queues_.clock(ended.entry.queue);
  if (submission) {
    const auto knew = submitted_.find(*submission);
    if (knew != submitted_.end()) clock.join(knew->second);
  }
  auto& signal = signals_[signal_key(work.device, work.space, work.signal)];
  if (work.kind == Work::Kind::kWait) {
    signal.wait(static_cast<abi::WaitCondition>(work.condition), work.value, clock);
  }
  const auto moment = clock.happens();
  if (work.kind == Work::Kind::kRecord) signal.record(work.value, clock);
  if (submission && works_[*submission].site.place != 0) {
    for (const auto& piece : work.pieces) {
      const auto kind = piece.write ? AccessKind::kWrite : AccessKind::kRead;
      access({moment, *submission, work.label, kind}, work.device, piece, clock);
    }
  }
  queues_.keep(ended.entry);
  if (given_up_.erase({ended.entry.queue, ended.entry.index}) != 0) host_.join(clock);
}

void Detector::access(const Access& access, std::uint32_t device, const Piece& piece,
                      const Clock& clock) {
  piece_ = &piece;
  map(device, piece).add(piece.local, piece.local + piece.size, access, clock, *this);
}

bool Detector::unordered(const Access& earlier, const Access& later, std::uint64_t first,
                         std::uint64_t bytes) {
  const bool host = piece_->host;
  const auto begin = std::max(first, piece_->local);
  FoundRaces::Race race;
  race.earlier = {works_[earlier.work], earlier.kind, earlier.label};
  race.later = {works_[later.work], later.kind, later.label};
  race.host = host;
  race.address = piece_->address + (begin - piece_->local);
  race.local = begin;
  race.bytes = bytes;
  races_.found(race);
  // What is freed is the next owner's, who has nothing to do with what is still at work there.
  return earlier.kind == AccessKind::kFree;
}

}  // namespace npu::races
