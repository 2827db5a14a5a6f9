// SPDX-License-Identifier: Apache-2.0
// The hazards of a card's programs, and what their cores have in common: places, global memory as
// a call's blocks have accessed it, flags between cores.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "model/aicore/cross_flags.hpp"
#include "model/aicore/hazards/access_map.hpp"
#include "model/aicore/hazards/hazard.hpp"

namespace npu::model {

// What the blocks of one call (of a launch, or of an executor) do to each other.
class CallOrder {
 public:
  // A block begins. One that was there before: it is another call.
  void enter(std::uint32_t block, std::uint32_t role);
  // `member` raises a flag, and knows `clock`; it has waited for one, and learns what the others
  // knew when they raised it.
  void raise(const CrossFlags::Member& member, unsigned flag, const Clock& clock);
  void lower(const CrossFlags::Member& member, unsigned flag, Clock& clock);
  AccessMap& memory() { return memory_; }

 private:
  using Flag = std::tuple<platform::CrossScope, std::uint32_t, unsigned>;  // scope, group, number
  struct Member {
    std::deque<Clock> raises;
    std::uint64_t forgotten = 0, waits = 0;  // raises before those; waits
  };

  std::set<std::pair<std::uint32_t, std::uint32_t>> entered_;
  std::map<Flag, std::vector<Member>> flags_;
  AccessMap memory_;
};

class Hazards {
 public:
  PlaceNumber place(const HazardPlace& place);
  const HazardPlace& place(PlaceNumber number) const { return places_[number]; }
  // In a program, counted if it was found before.
  void found(const Hazard& hazard);
  const std::vector<Hazard>& all() const { return hazards_; }

  CallOrder& call(std::uint64_t context, const platform::KernelCall& call);
  // No core runs anything of the launch any more.
  void forget(std::uint64_t context);

 private:
  using Call = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint32_t>;
  using Same = std::tuple<const void*, platform::Pipe, platform::PipeOperation, HazardPlace::What,
                          platform::Pipe, std::uint8_t>;
  using Found = std::tuple<HazardKind, std::uint32_t, std::uint32_t>;

  std::vector<HazardPlace> places_;
  std::map<Same, PlaceNumber> known_places_;
  std::vector<Hazard> hazards_;
  std::map<Found, std::size_t> known_;
  std::map<Call, CallOrder> calls_;
};

}  // namespace npu::model
