// SPDX-License-Identifier: Apache-2.0
// Races of a driver under test (npu/testing/races.hpp). The card's side is that of `exec --races`.
// Of the host it hears what goes through the platform, and what the test says of loads and stores.
//
// What the host knows to be over is what the card had told of it when the host last looked: by a
// read barrier, a round of a poll loop, an interrupt, or a register that tells.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "machine/card_work.hpp"
#include "machine/races/detector.hpp"
#include "machine/testing/access_observer.hpp"
#include "machine/testing/race_sites.hpp"
#include "npu/platform/trace.hpp"
#include "npu/testing/races.hpp"

namespace npu::testkit {

class RaceWatch final : public AccessObserver, public platform::TraceSink, private sim::CardWork {
 public:
  // A function of a card, and how much memory it has.
  struct Owner {
    unsigned card = 0, function = 0;
    Bytes memory = 0;
  };
  using OwnerOf = std::function<std::optional<Owner>(platform::Bdf)>;

  RaceWatch(model::System& system, OwnerOf owner_of);
  ~RaceWatch() override;

  // AccessObserver
  bool is_listening() const override { return true; }
  void before(testkit::Access& access) override;
  void after(const testkit::Access& access) override;
  void memory_made(platform::Bdf bdf, ByteSpan cpu, platform::BusAddress bus) override;
  void memory_gone(ByteSpan cpu) override;
  void host_accesses(ConstByteSpan bytes, bool write) override;
  void host_looks() override;
  // TraceSink
  void on_event(const platform::TraceEvent& event) override;
  bool hears(platform::Activity activity) const override {
    return activity == platform::Activity::kInterrupt;
  }

  std::vector<Race> races() const;

 private:
  // A doorbell as the host has written it.
  using Bell = std::tuple<unsigned, unsigned, bool, std::uint64_t, std::uint64_t>;
  struct Rung {
    std::uint64_t value = 0;
    std::uint32_t submission = 0;
  };
  // A function's DMA ring.
  struct Ring {
    std::uint32_t generation = 0;
    std::map<std::uint64_t, std::uint32_t> claims;  // submissions by their last positions
  };
  struct HostMemory {
    Bytes size = 0;
    std::uint64_t place = 0;  // of races::MemoryRanges
  };
  // Of a ring: card, function, generation, number.
  using Stream = std::tuple<unsigned, unsigned, std::uint32_t, std::uint32_t>;
  // An entry that the card has ended.
  using Queue = std::pair<std::uint32_t, std::uint32_t>;  // device, queue
  struct Over {
    std::uint64_t index = 0;
    Instant ended;
  };
  // What words are made of, by Work::label.
  struct Done {
    bool host = true, ring = false;
    std::uint32_t card = 0, queue = 0;
    std::uint64_t index = 0;
    std::uint8_t opcode = 0;
    Instant submitted, ended;
  };

  // CardWork
  void ended(const Entry& entry) override;
  void transferred(const Transfer& transfer) override;
  void tell(races::Work work) override;
  void rung(const Doorbell& doorbell) override;
  void released(unsigned device, model::SpaceId space, std::uint32_t slot) override;
  void landed(std::uint64_t cause, Bytes bytes) override;

  std::optional<Bell> bell_of(const testkit::Access& access) const;
  std::optional<std::uint32_t> take(const Doorbell& doorbell);
  std::uint32_t queue_of(const Stream& stream);
  void host_access(races::AccessKind kind, const std::byte* data, Bytes size);
  void told(std::uint64_t cause);
  void knows(const Queue& queue, const Over& entry);
  std::uint32_t label(const Done& done);
  RacePlace place_of(const races::FoundRaces::Place& place) const;
  Race race_of(const races::FoundRaces::Race& race) const;
  Instant host_now() const;

  model::System& system_;
  const OwnerOf owner_of_;
  races::Detector detector_{{}};
  RaceSites sites_;
  std::vector<Done> done_;
  std::vector<Instant> submissions_;  // when, by Site::number
  std::map<Bell, std::deque<Rung>> rung_;
  std::map<std::pair<unsigned, unsigned>, Ring> rings_;
  std::uint32_t generations_ = 0;
  std::map<Stream, std::uint32_t> streams_;  // queue of the detector
  std::map<const std::byte*, HostMemory> memories_;
  std::map<std::uint64_t, std::uint64_t> buses_;  // where memory begins on the bus, by its place
  std::map<unsigned, std::map<std::uint64_t, Bytes>> mapped_;  // by card and bus; also what is gone
  std::map<std::uint64_t, std::pair<Queue, Over>> over_;       // by cause
  std::map<Queue, Over> last_;  // that has ended, since the host asked
  std::map<Queue, Over> told_;  // that the card has told of, since the host looked
  // Of the entry that ends.
  std::uint8_t opcode_ = 0;
  std::uint64_t cause_ = 0;
  std::uint32_t stream_ = 0;
};

}  // namespace npu::testkit
