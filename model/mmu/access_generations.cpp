// SPDX-License-Identifier: Apache-2.0
#include "model/mmu/access_generations.hpp"

#include <algorithm>

namespace npu::model {

void AccessGenerations::end(SpaceId space, unsigned generation) {
  --spaces_[space].count[generation];
  // One that is over is no longer there.
  for (std::size_t i = waiters_.size(); i-- > 0;) {
    if (waiters_[i]->function() == function_of(space)) waiters_[i]->finish_if_drained();
  }
}

void AccessGenerations::open(const TaggedRange& range) {
  if (range.first > range.last) return;
  const std::size_t first = range.first >> abi::kVirtualBits;
  const std::size_t end =
      std::min<std::size_t>(spaces_.size(), (range.last >> abi::kVirtualBits) + 1);
  for (std::size_t space = first; space < end; ++space) {
    spaces_[space].generation = (spaces_[space].generation + 1) % kGenerations;
  }
}

bool AccessGenerations::drained(unsigned function) const {
  const auto first = spaces_.begin() + space_of(function, 0);
  return std::all_of(first, first + abi::kVmids, [](const Space& space) {
    std::uint32_t old = 0;
    for (unsigned g = 0; g < kGenerations; ++g) {
      if (g != space.generation) old += space.count[g];
    }
    return old == 0;
  });
}

void AccessGenerations::remove(Waiter& waiter) {
  waiters_.erase(std::find(waiters_.begin(), waiters_.end(), &waiter));
}

}  // namespace npu::model
