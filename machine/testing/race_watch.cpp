// SPDX-License-Identifier: Apache-2.0
#include "machine/testing/race_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "npu/abi/dma.hpp"
#include "npu/abi/layout.hpp"
#include "npu/abi/queue_descriptor.hpp"
#include "npu/abi/registers.hpp"

namespace npu::testkit {
namespace {

using Kind = races::AccessKind;
using races::Work;

// Queues of the detector that are streams of a ring: numbers behind those of compute queues.
constexpr std::uint32_t kFirstStream = 0x10000;
// The largest of what tells of an end: an entry of a completion ring.
constexpr Bytes kMostTold = 16;

// Reads that say what commands have ended.
bool tells(const Access& access) {
  if (access.bar != abi::kRegisterBar) {  // streams, and rings in the card's memory
    return access.name == "HBM" || access.name == "QUEUE_MEMORY" ||
           access.name.rfind("STREAM", 0) == 0;
  }
  return access.name.rfind("EVENT", 0) == 0 || access.name == abi::DmaQueueStatus::kName;
}

std::string_view name_of(std::uint8_t opcode) {
  if (const auto* const dma = abi::find_dma_operation(opcode)) return dma->name;
  return "kernel";
}

}  // namespace

RaceWatch::RaceWatch(model::System& system, OwnerOf owner_of)
    : CardWork(detector_), system_(system), owner_of_(std::move(owner_of)) {
  detector_.memory().add_cards();
  attach(system);
  system.simulation().recorder.add(*this);
}

RaceWatch::~RaceWatch() {
  system_.simulation().recorder.remove(*this);
}

Instant RaceWatch::host_now() const {
  return model::instant(system_.cpus().local_now());
}

std::uint32_t RaceWatch::label(const Done& done) {
  done_.push_back(done);
  return static_cast<std::uint32_t>(done_.size() - 1);
}

// --- the host writes doorbells -------------------------------------------------------------------

std::optional<RaceWatch::Bell> RaceWatch::bell_of(const testkit::Access& access) const {
  if (access.kind != AccessKind::kMmioWrite && access.kind != AccessKind::kCombiningStore) {
    return std::nullopt;
  }
  const auto owner = owner_of_(access.bdf);
  if (!owner) return std::nullopt;
  if (access.bar == abi::kRegisterBar) {
    if (access.name != abi::DmaDoorbell::kName) return std::nullopt;
    return Bell{owner->card, owner->function, true, 0, 0};
  }
  const Bytes first = owner->memory + abi::kReservedDoorbellOffset;
  const Bytes end = owner->memory + abi::kReservedQueueOffset;
  if (access.offset < first || access.offset >= end) return std::nullopt;
  const Bytes at = access.offset - first;
  return Bell{owner->card, owner->function, false, at / abi::kDoorbellPageSize,
              at % abi::kDoorbellPageSize / abi::kDoorbellSize};
}

void RaceWatch::before(testkit::Access& access) {
  if (access.name == abi::DmaQueueControl::kName && access.kind == AccessKind::kMmioWrite) {
    if (const auto owner = owner_of_(access.bdf)) {
      rings_[{owner->card, owner->function}] = {++generations_, {}};
      rung_.erase(Bell{owner->card, owner->function, true, 0, 0});
    }
    return;
  }
  const auto bell = bell_of(access);
  if (!bell) return;
  const auto number = static_cast<std::uint32_t>(submissions_.size());
  submissions_.push_back(host_now());
  const auto submission = detector_.begin({sites_.here(), number}, races::FoundRaces::Work::kNone);
  detector_.end(submission);
  rung_[*bell].push_back({access.value, submission});
}

// Which submission the doorbell was. Those in front of it were lost on their way.
std::optional<std::uint32_t> RaceWatch::take(const Doorbell& doorbell) {
  auto& waiting =
      rung_[Bell{doorbell.device, doorbell.function, doorbell.ring, doorbell.page, doorbell.bell}];
  const auto found = std::find_if(waiting.begin(), waiting.end(),
                                  [&](const Rung& each) { return each.value == doorbell.value; });
  if (found == waiting.end()) return std::nullopt;
  const auto submission = found->submission;
  waiting.erase(waiting.begin(), std::next(found));
  return submission;
}

void RaceWatch::rung(const Doorbell& doorbell) {
  const auto submission = take(doorbell);
  if (!submission) return;
  if (doorbell.ring) {
    rings_[{doorbell.device, doorbell.function}].claims[doorbell.last] = *submission;
  } else {
    detector_.made(*submission, {doorbell.device, doorbell.queue, doorbell.last, now()});
  }
}

void RaceWatch::released(unsigned device, model::SpaceId space, std::uint32_t slot) {
  detector_.released(device, space, slot);
}

// --- cards end work ------------------------------------------------------------------------------

std::uint32_t RaceWatch::queue_of(const Stream& stream) {
  const auto next = kFirstStream + static_cast<std::uint32_t>(streams_.size());
  return streams_.try_emplace(stream, next).first->second;
}

void RaceWatch::ended(const Entry& entry) {
  opcode_ = entry.entry.opcode;
  cause_ = entry.cause;
  CardWork::ended(entry);
}

void RaceWatch::transferred(const Transfer& transfer) {
  auto& ring = rings_[{transfer.device, transfer.function}];
  Work work;
  work.device = transfer.device;
  work.queue =
      queue_of({transfer.device, transfer.function, ring.generation, transfer.entry.stream});
  work.index = transfer.position;
  work.space = transfer.space;
  if (const auto* const operation = abi::find_ring_operation(transfer.entry.opcode)) {
    add_copy(work, *operation, transfer.entry.source(), transfer.entry.destination(),
             transfer.entry.size());
  }
  const auto claim = ring.claims.lower_bound(transfer.position);
  if (claim != ring.claims.end()) {
    detector_.made(claim->second, {work.device, work.queue, work.index, now()});
  }
  opcode_ = transfer.entry.opcode;
  cause_ = transfer.cause;
  stream_ = transfer.entry.stream;
  tell(std::move(work));
}

void RaceWatch::tell(Work work) {
  const bool ring = work.queue >= kFirstStream;
  Done done;
  done.host = false;
  done.ring = ring;
  done.card = work.device;
  done.queue = ring ? stream_ : work.queue;
  done.index = work.index;
  done.opcode = opcode_;
  done.ended = now();
  work.label = label(done);
  const Queue queue{work.device, work.queue};
  last_[queue] = over_[cause_].second = {work.index, now()};
  over_[cause_].first = queue;
  detector_.ended(std::move(work), now());
}

// --- what the host knows -------------------------------------------------------------------------

// The card writes of an end for its cause, behind the data.
void RaceWatch::landed(std::uint64_t cause, Bytes bytes) {
  if (bytes <= kMostTold) told(cause);
}

void RaceWatch::told(std::uint64_t cause) {
  const auto found = over_.find(cause);
  if (found == over_.end()) return;
  told_[found->second.first] = found->second.second;
  over_.erase(found);
}

void RaceWatch::host_looks() {
  for (const auto& [queue, entry] : told_) knows(queue, entry);
  told_.clear();
}

void RaceWatch::knows(const Queue& queue, const Over& entry) {
  detector_.known({queue.first, queue.second, entry.index, entry.ended});
}

void RaceWatch::after(const testkit::Access& access) {
  if (access.kind == AccessKind::kReadBarrier || access.kind == AccessKind::kPoll) {
    return host_looks();
  }
  if (access.kind != AccessKind::kMmioRead || !tells(access)) return;
  for (const auto& [queue, entry] : last_) knows(queue, entry);
  last_.clear();
}

void RaceWatch::on_event(const platform::TraceEvent& event) {
  if (event.activity == platform::Activity::kInterrupt) told(event.cause);
}

// --- memory of the host --------------------------------------------------------------------------

// What was there before is gone by now.
void RaceWatch::memory_made(platform::Bdf bdf, ByteSpan cpu, platform::BusAddress bus) {
  const auto owner = owner_of_(bdf);
  if (!owner) return;
  auto& known = memories_[cpu.data];
  if (known.size == 0) known = {cpu.size, detector_.memory().add_host(cpu.size)};
  buses_[known.place] = bus.value;
  auto& mapped = mapped_[owner->card];
  auto each = mapped.upper_bound(bus.value);
  if (each != mapped.begin()) --each;
  while (each != mapped.end() && each->first < bus.value + cpu.size) {
    if (each->first + each->second <= bus.value) {
      ++each;
      continue;
    }
    detector_.memory().unmap_host(owner->card, each->first);
    each = mapped.erase(each);
  }
  mapped[bus.value] = cpu.size;
  detector_.memory().map_host(owner->card, bus.value, cpu.size, known.place);
}

// A card may still be at work there: the bus address stays known until it is another's.
void RaceWatch::memory_gone(ByteSpan cpu) {
  host_access(Kind::kFree, cpu.data, cpu.size);
  memories_.erase(cpu.data);
}

void RaceWatch::host_accesses(ConstByteSpan bytes, bool write) {
  host_access(write ? Kind::kWrite : Kind::kRead, bytes.data, bytes.size);
}

void RaceWatch::host_access(Kind kind, const std::byte* data, Bytes size) {
  auto memory = memories_.upper_bound(data);
  if (size == 0 || memory == memories_.begin()) return;
  --memory;
  const auto offset = static_cast<Bytes>(data - memory->first);
  if (offset >= memory->second.size) return;
  Done done;
  done.submitted = done.ended = host_now();
  const auto place = memory->second.place + offset;
  detector_.accessed(
      {sites_.here(), 0}, kind, 0,
      {{true, kind != Kind::kRead, offset, place, std::min(size, memory->second.size - offset)}},
      label(done));
}

// --- in words ------------------------------------------------------------------------------------

RacePlace RaceWatch::place_of(const races::FoundRaces::Place& place) const {
  const auto& done = done_[place.label];
  const std::string_view does = place.kind == Kind::kRead    ? "reads"
                                : place.kind == Kind::kWrite ? "writes"
                                                             : "frees";
  RacePlace text;
  text.stack = sites_.text_of(place.work.site.place);
  text.submitted = done.submitted;
  text.ended = done.ended;
  if (done.host) {
    text.who = "host";
    text.what = does;
    return text;
  }
  text.who = fmt::format("card{} {} {}", done.card, done.ring ? "stream" : "queue", done.queue);
  text.what = fmt::format("{} {}", name_of(done.opcode), does);
  text.index = done.index;
  text.submitted = submissions_[place.work.site.number];
  return text;
}

Race RaceWatch::race_of(const races::FoundRaces::Race& race) const {
  Race found;
  const auto& host = done_[race.earlier.label].host ? race.earlier : race.later;
  if (!done_[host.label].host) {
    found.kind = RaceKind::kWork;
  } else if (host.kind == Kind::kFree) {
    found.kind = RaceKind::kFree;
  } else {
    found.kind = host.kind == Kind::kRead ? RaceKind::kHostRead : RaceKind::kHostWrite;
  }
  found.earlier = place_of(race.earlier);
  found.later = place_of(race.later);
  found.host_memory = race.host;
  found.address = race.address;
  if (race.host) {
    const auto memory = std::prev(buses_.upper_bound(race.local));
    found.address = memory->second + (race.local - memory->first);
  }
  found.bytes = race.bytes;
  found.times = race.times;
  return found;
}

std::vector<Race> RaceWatch::races() const {
  std::vector<Race> all;
  for (const auto& race : detector_.races().all()) all.push_back(race_of(race));
  return all;
}

}  // namespace npu::testkit
