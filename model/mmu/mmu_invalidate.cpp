// SPDX-License-Identifier: Apache-2.0
// The registers of the MMU: context table and invalidation; reset.
#include <algorithm>

#include "model/mmu/mmu.hpp"

namespace npu::model {
namespace {

using Register = abi::MmuInvalidate;

TaggedRange range_of(Register value, std::uint64_t address, std::uint64_t size) {
  constexpr std::uint64_t kLast = (std::uint64_t{1} << abi::kVirtualBits) - 1;
  const auto vmid = value.get<Register::Vmid>();
  switch (value.get<Register::Scope>()) {
    case Register::kVmid:
      return {tagged_address(vmid, 0), tagged_address(vmid, kLast)};
    case Register::kRange: {
      if (size == 0 || address > kLast) return kNothing;
      const std::uint64_t last = address + std::min(size - 1, kLast - address);
      return {tagged_address(vmid, address), tagged_address(vmid, last)};
    }
    default:
      return kEverything;
  }
}

}  // namespace

void Mmu::install_hooks() {
  bank_.on_write<abi::MmuContextBase>([this](abi::MmuContextBase) { drop(kEverything); });
  bank_.on_write<Register>([this](Register value) { invalidate_written(value); });
}

void Mmu::drop(const TaggedRange& range) {
  tlb_.drop(range);
  walker_.invalidate(range);
}

void Mmu::invalidate_written(Register value) {
  if (invalidation_ != Invalidation::kNone) {
    bank_.set(invalidate_value_);
    return;
  }
  if (value.get<Register::Start>() == 0) return;
  invalidate_value_ = value;
  invalidate_range_ = range_of(value, bank_.get<abi::MmuInvalidateAddress>().raw,
                               bank_.get<abi::MmuInvalidateSize>().raw);
  invalidation_ = Invalidation::kWritten;
  sim_.agenda.at<&Mmu::invalidate_due>(sim_now() + invalidate_time_, *this, epoch_);
}

void Mmu::invalidate_due(std::uint64_t epoch) {
  if (epoch != epoch_) return;
  drop(invalidate_range_);
  for (unsigned vmid = 0; vmid < abi::kVmids; ++vmid) {
    if (!invalidate_range_.overlaps(vmid, abi::kVirtualBits)) continue;
    auto& space = in_flight_[vmid];
    space.generation = (space.generation + 1) % InFlight::kGenerations;
  }
  invalidation_ = Invalidation::kDraining;
  if (drained()) finish_invalidation();
}

// Whether no access goes on that was translated before the last invalidation of its space.
bool Mmu::drained() const {
  return std::all_of(in_flight_.begin(), in_flight_.end(), [](const InFlight& space) {
    std::uint32_t old = 0;
    for (unsigned g = 0; g < InFlight::kGenerations; ++g) {
      if (g != space.generation) old += space.count[g];
    }
    return old == 0;
  });
}

void Mmu::finish_invalidation() {
  invalidation_ = Invalidation::kNone;
  ++statistics_.invalidations;
  invalidate_value_.set<Register::Start>(0);
  bank_.set(invalidate_value_);
}

void Mmu::function_reset(unsigned) {
  ++epoch_;
  invalidation_ = Invalidation::kNone;
  tlb_.drop(kEverything);
  for (auto* const trans : walker_.reset()) fail(*trans, Completion::kCompleterAbort);
}

}  // namespace npu::model
