// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/acl/managed_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "apps/exec/acl/guard.hpp"
#include "apps/exec/acl/process_card.hpp"

namespace npu::exec::acl {

ManagedSpace::ManagedSpace(pid_t program, platform::Tasks& tasks,
                           std::shared_ptr<driver::UnifiedAddresses> addresses,
                           const DriverSettings& settings)
    : program_(program),
      addresses_(std::move(addresses)),
      settings_(settings),
      lock_(tasks.make_mutex()) {}

Value<ManagedView*> ManagedSpace::view() {
  const Guard held(*lock_);
  if (view_ != nullptr) return view_.get();
  auto made = ManagedView::make(program_);
  if (!made) return fault(made.error());
  view_ = std::move(*made);
  return view_.get();
}

Status ManagedSpace::keep_free(std::uint64_t pages) {
  if (pages == 0 || view_->given()) return {};
  if (pages > compat::kManagedBytes / compat::kManagedPage) {
    return fail(ErrorCode::kOutOfResources, "more pages than managed memory has");
  }
  return addresses_->keep_managed(pages * compat::kManagedPage);
}

Outcome ManagedSpace::come(ProcessCard& card) {
  const Guard held(*lock_);
  if (memory_ != nullptr) {
    auto joined = memory_->join({card.card().device.get(), &card.space()}, pager_);
    if (!joined) return fault(joined.error());
  }
  cards_.push_back(&card);
  return {};
}

void ManagedSpace::go(ProcessCard& card) {
  const Guard held(*lock_);
  reclaim_freed();
  for (const auto& [begin, allocation] : std::map(allocations_)) {
    if (allocation.device != card.index()) continue;
    allocations_.erase(begin);
    static_cast<void>(memory_->free({begin}));
  }
  cards_.erase(std::remove(cards_.begin(), cards_.end(), &card), cards_.end());
  if (memory_ == nullptr) return;
  if (cards_.empty()) {
    freed_.clear();
    memory_.reset();
  } else {
    static_cast<void>(memory_->leave(*card.card().device));
  }
}

// Called with the lock held. The program's number of a card is found when there is a warning.
Status ManagedSpace::open(ConstByteSpan pager) {
  if (memory_ != nullptr) return {};
  pager_ = pager;
  driver::ManagedOptions options;
  options.pager = pager;
  options.view = view_.get();
  options.error_threshold = settings_.fault_warning_errors;
  options.error_window = settings_.fault_warning_window;
  options.on_fault_errors = [this](const driver::FaultErrorWarning& warning) {
    for (auto* const card : cards_) {
      const bool meant = card->card().device->info().device_index == warning.device;
      if (meant && settings_.on_fault_errors) settings_.on_fault_errors(card->index(), warning);
    }
  };
  std::vector<driver::ManagedCard> all;
  for (auto* const card : cards_) all.push_back({card->card().device.get(), &card->space()});
  auto opened = driver::ManagedMemory::open(all, options);
  if (!opened) return forward_error(opened);
  memory_ = std::move(*opened);
  return {};
}

Value<driver::DeviceAddress> ManagedSpace::allocate(const ProcessCard& card, Bytes size, bool heap,
                                                    ConstByteSpan pager) {
  {
    const Guard held(*lock_);
    if (auto ready = open(pager); !ready) return fault(ready.error());
  }
  reclaim_freed();
  const auto address = memory_->allocate(size);
  if (!address) return fault(address.error());
  allocations_[address->value] = {size, card.index(), heap};
  return *address;
}

Outcome ManagedSpace::free(driver::DeviceAddress address,
                           std::vector<driver::StreamMark> in_flight) {
  reclaim_freed();
  const auto found = allocations_.find(address.value);
  if (found == allocations_.end()) {
    return fault(kRuntimeParameter,
                 fmt::format("{:#x} is inside of an allocation, not its beginning", address.value));
  }
  const Bytes size = found->second.pages() * driver::kPageSize;
  allocations_.erase(found);
  freed_.add(address, size, std::move(in_flight),
             [this, address] { static_cast<void>(memory_->free(address)); });
  return {};
}

// What begins there or before; end(): nothing.
std::map<std::uint64_t, ManagedSpace::Allocation>::const_iterator ManagedSpace::at(
    driver::DeviceAddress address) const {
  const auto next = allocations_.upper_bound(address.value);
  return next == allocations_.begin() ? allocations_.end() : std::prev(next);
}

bool ManagedSpace::has(driver::DeviceAddress address, Bytes size) const {
  const auto found = at(address);
  if (found == allocations_.end()) return false;
  const Bytes offset = address.value - found->first;
  return offset < found->second.size && size <= found->second.size - offset;
}

const ManagedSpace::Allocation* ManagedSpace::find(driver::DeviceAddress address) const {
  return has(address, 1) ? &at(address)->second : nullptr;
}

void ManagedSpace::count(std::uint32_t device, Leftovers& left) const {
  for (const auto& [begin, allocation] : allocations_) {
    if (allocation.device != device) continue;
    ++left.blocks;
    left.memory += allocation.pages() * driver::kPageSize;
  }
}

}  // namespace npu::exec::acl
