// SPDX-License-Identifier: Apache-2.0
// The MMU: what is forgotten, and when nobody uses it any more.
#include <algorithm>

#include "model/mmu/invalidation.hpp"
#include "model/mmu/mmu.hpp"
#include "model/mmu/mmu_context.hpp"
#include "model/mmu/page_faults.hpp"

namespace npu::model {

void Mmu::drop(const TaggedRange& range) {
  tlb_.drop(range);
  walker_.invalidate(range);
  if (watch_ != nullptr) watch_->translations_dropped(range.first, range.last);
}

void Mmu::open_generation(const TaggedRange& range) {
  if (range.first > range.last) return;
  const std::size_t first = range.first >> abi::kVirtualBits;
  const std::size_t end =
      std::min<std::size_t>(in_flight_.size(), (range.last >> abi::kVirtualBits) + 1);
  for (std::size_t space = first; space < end; ++space) {
    in_flight_[space].generation = (in_flight_[space].generation + 1) % InFlight::kGenerations;
  }
}

bool Mmu::drained(unsigned function) const {
  const auto first = in_flight_.begin() + space_of(function, 0);
  return std::all_of(first, first + abi::kVmids, [](const InFlight& space) {
    std::uint32_t old = 0;
    for (unsigned g = 0; g < InFlight::kGenerations; ++g) {
      if (g != space.generation) old += space.count[g];
    }
    return old == 0;
  });
}

void Mmu::access_ended(SpaceId space, unsigned generation) {
  --in_flight_[space].count[generation];
  // One that is over is no longer there.
  for (std::size_t i = draining_.size(); i-- > 0;) {
    if (draining_[i]->function() == function_of(space)) draining_[i]->finish_if_drained();
  }
}

void Mmu::drains(Invalidation& invalidation, bool waits) {
  if (waits) {
    draining_.push_back(&invalidation);
  } else {
    draining_.erase(std::find(draining_.begin(), draining_.end(), &invalidation));
  }
}

std::uint64_t Mmu::context_base(unsigned function) const {
  return contexts_[function]->base();
}

void Mmu::function_reset(unsigned function) {
  contexts_[function]->reset();
  const auto range = all_of_function(function);
  tlb_.drop(range);
  for (auto* const trans : walker_.reset(range)) fail(*trans, Completion::kCompleterAbort);
  if (faults_.empty()) return;
  for (auto* const trans : faults_[function]->reset()) fail(*trans, Completion::kCompleterAbort);
}

}  // namespace npu::model
