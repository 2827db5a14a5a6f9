// SPDX-License-Identifier: Apache-2.0
// Accesses of each address space between translation and response. Each invalidation opens a new
// generation of the spaces it concerns and is over when none of older generations goes on.
#pragma once

#include <array>
#include <vector>

#include "model/core/space_id.hpp"
#include "model/mmu/tagged_address.hpp"

namespace npu::model {

class AccessGenerations {
 public:
  class Waiter {
   public:
    virtual ~Waiter() = default;
    virtual unsigned function() const = 0;
    // An access of the function has ended.
    virtual void finish_if_drained() = 0;
  };

  explicit AccessGenerations(std::size_t spaces) : spaces_(spaces) {}

  bool has(SpaceId space) const { return space < spaces_.size(); }
  // An access begins; the generation it is of.
  unsigned begin(SpaceId space) {
    auto& at = spaces_[space];
    ++at.count[at.generation];
    return at.generation;
  }
  void end(SpaceId space, unsigned generation);
  // One that has reached nothing: nobody waits for it.
  void forget(SpaceId space, unsigned generation) { --spaces_[space].count[generation]; }

  // Accesses of these spaces that begin from now on are told from those before.
  void open(const TaggedRange& range);
  // No access of the function goes on that is older than the present generation of its space.
  bool drained(unsigned function) const;
  void add(Waiter& waiter) { waiters_.push_back(&waiter); }
  void remove(Waiter& waiter);

 private:
  // Four, because a reset may leave one unfinished.
  static constexpr unsigned kGenerations = 4;
  struct Space {
    std::array<std::uint32_t, kGenerations> count{};
    unsigned generation = 0;
  };

  std::vector<Space> spaces_;
  std::vector<Waiter*> waiters_;
};

}  // namespace npu::model
