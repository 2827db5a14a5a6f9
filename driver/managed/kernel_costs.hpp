// SPDX-License-Identifier: Apache-2.0
// What a driver in the kernel of an operating system spends on managed pages besides what this one
// does (platform::KernelWork): each thing when it happens first, or again.
#pragma once

#include <utility>

#include "driver/managed/managed_page.hpp"
#include "npu/platform/time.hpp"

namespace npu::driver {

class KernelCosts {
 public:
  explicit KernelCosts(platform::Tasks& tasks) : tasks_(tasks) {}

  // A turn of whoever serves faults.
  void lock() { spend(platform::KernelWork::kPageTableLock); }
  void faults(std::uint64_t records) { tasks_.kernel_work(platform::KernelWork::kFault, records); }
  // The card gets a page: the first time it is new to the driver there.
  void meet(CardPage& page) {
    if (!std::exchange(page.known, true)) spend(platform::KernelWork::kFirstTouch);
  }
  // The program on the host has it no longer.
  void take_from_program(ManagedPage& page) {
    if (unmap(page)) spend(platform::KernelWork::kTlbShootdown);
  }
  // The same of pages that go together; then forget() if any of them was the program's.
  bool unmap(ManagedPage& page) {
    if (!std::exchange(page.host_mapped, false)) return false;
    spend(platform::KernelWork::kUnmap);
    return true;
  }
  void forget() { spend(platform::KernelWork::kTlbShootdown); }
  // The card reads the page out of the host's memory.
  void map_for(CardPage& page) {
    if (!std::exchange(page.dma_mapped, true)) spend(platform::KernelWork::kDmaMap);
  }

 private:
  void spend(platform::KernelWork work) { tasks_.kernel_work(work, 1); }

  platform::Tasks& tasks_;
};

}  // namespace npu::driver
