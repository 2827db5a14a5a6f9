// SPDX-License-Identifier: Apache-2.0
#include "model/mmu/invalidation.hpp"

#include "model/mmu/mmu.hpp"

namespace npu::model {

void Invalidation::start(const TaggedRange& range) {
  range_ = range;
  state_ = State::kStarted;
  mmu_.sim().agenda.at<&Invalidation::due>(sim_now() + mmu_.invalidate_time(), *this, epoch_);
}

void Invalidation::due(std::uint64_t epoch) {
  if (epoch != epoch_) return;
  mmu_.drop(range_);
  mmu_.accesses().open(range_);
  state_ = State::kDraining;
  mmu_.accesses().add(*this);
  finish_if_drained();
}

void Invalidation::finish_if_drained() {
  if (!mmu_.accesses().drained(function_)) return;
  mmu_.accesses().remove(*this);
  state_ = State::kNone;
  mmu_.count_invalidation();
  done_();
}

void Invalidation::reset() {
  ++epoch_;
  if (state_ == State::kDraining) mmu_.accesses().remove(*this);
  state_ = State::kNone;
}

}  // namespace npu::model
