// SPDX-License-Identifier: Apache-2.0
// The managed memory of a program: one for all cards that it has set, from its first allocation on.
// An allocation is of the card that was the thread's when it was made, and ends with that card's
// reset; every card uses it.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <vector>

#include "apps/exec/acl/driver_settings.hpp"
#include "apps/exec/acl/freed_later.hpp"
#include "apps/exec/acl/leftovers.hpp"
#include "apps/exec/acl/managed_view.hpp"
#include "apps/exec/acl/outcome.hpp"
#include "npu/driver/execution_stream.hpp"
#include "npu/driver/managed.hpp"
#include "npu/driver/process.hpp"

namespace npu::exec::acl {

class ProcessCard;

class ManagedSpace {
 public:
  struct Allocation {
    Bytes size = 0;  // as asked for
    std::uint32_t device = 0;
    bool heap = false;  // of the kind of the HAL's SVM heap

    std::uint64_t pages() const { return (size + driver::kPageSize - 1) / driver::kPageSize; }
  };

  // `settings` and `tasks` outlive it. `addresses`: of all the program's cards.
  ManagedSpace(pid_t program, platform::Tasks& tasks,
               std::shared_ptr<driver::UnifiedAddresses> addresses, const DriverSettings& settings);

  // The program has set the card, which outlives its part in this. What ManagedMemory::join()
  // reports.
  Outcome come(ProcessCard& card);
  // It is reset: nothing is in flight on it. Its allocations are freed; what it has of others comes
  // to the host.
  void go(ProcessCard& card);

  // Of the program's pointers. kOutOfMemory.
  Value<ManagedView*> view();
  // The program's thread that serves the view; 0: none.
  pid_t view_thread() const { return view_ == nullptr ? 0 : view_->thread(); }
  // So many pages from the first on are the program's parent's. kOutOfResources.
  Status keep_free(std::uint64_t pages);

  // `pager`: ManagedOptions::pager, which stays. For a card that has come.
  Value<driver::DeviceAddress> allocate(const ProcessCard& card, Bytes size, bool heap,
                                        ConstByteSpan pager);
  // The address is nobody else's before `in_flight`, which may use it, has ended.
  // kRuntimeParameter: no allocation begins there.
  Outcome free(driver::DeviceAddress address, std::vector<driver::StreamMark> in_flight);
  // Gives back what was freed and is not in use any more.
  void reclaim_freed() { freed_.reclaim(); }

  // Null: there is no managed memory.
  driver::ManagedMemory* memory() { return memory_.get(); }
  // That has the address; null: none, or the program has freed it.
  const Allocation* find(driver::DeviceAddress address) const;
  // Whether all of the bytes are in one.
  bool has(driver::DeviceAddress address, Bytes size) const;
  // By address.
  const std::map<std::uint64_t, Allocation>& allocations() const { return allocations_; }
  // Of what all cards have in common statistics are told by the first.
  bool is_told_by(const ProcessCard& card) const {
    return memory_ != nullptr && cards_.front() == &card;
  }
  // Adds what the program has not freed of the card.
  void count(std::uint32_t device, Leftovers& left) const;

 private:
  Status open(ConstByteSpan pager);
  std::map<std::uint64_t, Allocation>::const_iterator at(driver::DeviceAddress address) const;

  const pid_t program_;
  const std::shared_ptr<driver::UnifiedAddresses> addresses_;
  const DriverSettings& settings_;
  const std::unique_ptr<platform::Mutex> lock_;  // of cards and the memory, while they come and go
  std::unique_ptr<ManagedView> view_;
  ConstByteSpan pager_;
  std::vector<ProcessCard*> cards_;
  std::unique_ptr<driver::ManagedMemory> memory_;
  std::map<std::uint64_t, Allocation> allocations_;
  FreedLater freed_;
};

}  // namespace npu::exec::acl
