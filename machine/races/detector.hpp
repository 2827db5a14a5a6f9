// SPDX-License-Identifier: Apache-2.0
// Finds races of programs: of two accesses to the same bytes, one of them a write, of which nothing
// says which comes first. What orders is the order of queues, signals of the card, and what the
// host has waited for. The host is one: what it does is in the order in which it is told.
//
// What the host and cards tell is taken in the order in which it happens. Entries of queues are
// looked at when they have ended, which is after all that they wait for.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "machine/races/access_map.hpp"
#include "machine/races/found_races.hpp"
#include "machine/races/memory_ranges.hpp"
#include "machine/races/queue_order.hpp"
#include "machine/races/signals.hpp"
#include "machine/races/site.hpp"
#include "machine/races/work.hpp"

namespace npu::races {

class Detector : private AccessMap::Listener {
 public:
  // Where bytes of an address space lie in the card's memory, piece by piece.
  using Translate = std::function<std::vector<Piece>(std::uint32_t device, std::uint32_t space,
                                                     std::uint64_t begin, Bytes size)>;

  // `found` is called for each race that was not found before; may be empty.
  explicit Detector(std::function<void(const FoundRaces::Race&)> found)
      : races_(std::move(found)) {}

  // Before anything is told.
  void set_translation(Translate translate) { translate_ = std::move(translate); }

  MemoryRanges& memory() { return memory_; }
  const FoundRaces& races() const { return races_; }

  // A call is about to submit something; until end() of what this returns entries may end whose
  // marks nobody knows yet. `site` without a place: accesses are not looked at.
  std::uint32_t begin(const Site& site, std::uint64_t stream);
  // An entry of a queue that was submitted then.
  struct Ticket {
    std::uint32_t device = 0, queue = 0;
    std::uint64_t index = 0;
    Instant submitted;
  };
  // What was submitted ends with this one.
  void made(std::uint32_t submission, const Ticket& ticket);
  void end(std::uint32_t submission);
  // The host has waited for the entry, or seen that it has ended.
  void known(const Ticket& ticket);
  // Whether the host knows that the entry has ended; also while somebody submits, when that is
  // open.
  bool is_over(const Ticket& ticket);
  // The host sets a signal.
  void released(std::uint32_t device, std::uint32_t space, std::uint32_t signal);
  // It does so because it has seen a value at the address.
  void met(std::uint32_t device, std::uint32_t space, std::uint32_t signal, std::uint64_t address);
  // The program frees memory of a card that it has there.
  void freed(const Site& site, std::uint32_t device, std::uint32_t space, std::uint64_t begin,
             Bytes size);
  // It frees pinned memory, or accesses it itself. `place`: of MemoryRanges; `address`: as the
  // program knows it.
  void accessed(const Site& site, AccessKind kind, std::uint64_t place, std::uint64_t address,
                Bytes size);
  // The same of pieces of a card's memory, or of the host's. `label`: as Work::label.
  void accessed(const Site& site, AccessKind kind, std::uint32_t device, std::vector<Piece> pieces,
                std::uint32_t label) {
    add(Accessed{site, kind, device, std::move(pieces), label});
  }
  // A card tells: a queue is there; an entry has ended.
  void created(std::uint32_t device, std::uint32_t queue, Instant now) {
    queues_.created({device, queue}, now);
  }
  void ended(Work work, Instant now);

 private:
  struct Begun {
    std::uint32_t submission;
  };
  struct Ended {
    Work work;
    QueueOrder::Entry entry;
  };
  struct Released {
    std::uint32_t device, space, signal;
    std::optional<std::uint64_t> seen_at;
  };
  struct Accessed {
    Site site;
    AccessKind kind;
    std::uint32_t device;
    std::vector<Piece> pieces;
    std::uint32_t label;
  };
  using Event = std::variant<Begun, QueueOrder::Entry, Released, Accessed, Ended>;

  void add(Event event);
  void drain();
  void take(const Begun& begun);
  void take(const QueueOrder::Entry& known);
  void take(const Released& released);
  void take(const Accessed& accessed);
  void take(const Ended& ended);
  void access(const Access& access, std::uint32_t device, const Piece& piece, const Clock& clock);
  AccessMap& map(std::uint32_t device, const Piece& piece) {
    return maps_[piece.host ? UINT64_MAX : device];
  }
  bool unordered(const Access& earlier, const Access& later, std::uint64_t first,
                 std::uint64_t bytes) override;

  Translate translate_;
  MemoryRanges memory_;
  FoundRaces races_;
  std::deque<Event> events_;
  unsigned submitting_ = 0;
  std::vector<FoundRaces::Work> works_;       // submissions and accesses of the host
  std::map<std::uint32_t, Clock> submitted_;  // what the host knew, by submission
  QueueOrder queues_;
  std::set<std::pair<QueueOrder::Number, std::uint64_t>> given_up_;  // entries that have not ended
  Clock host_{kHost};
  std::map<std::uint64_t, SignalHistory> signals_;
  std::map<std::uint64_t, AccessMap> maps_;  // by device; UINT64_MAX: of the host
  const Piece* piece_ = nullptr;             // that is looked at
};

}  // namespace npu::races
