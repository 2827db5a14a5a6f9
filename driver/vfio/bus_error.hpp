// SPDX-License-Identifier: Apache-2.0
// Accesses to mapped BARs that the kernel answers with SIGBUS: memory decoding is off, or the
// function is gone (vfio-pci takes the pages away then). A process must not die of that: the page
// becomes ordinary memory full of ones, and whoever has mapped it is told.
#pragma once

#include <atomic>
#include <cstddef>

namespace npu::driver::vfio {

// Guards [begin, begin + size), whole pages, for its life. Other accesses' SIGBUS go to the handler
// that was there before.
class BusErrorGuard {
 public:
  BusErrorGuard(void* begin, std::size_t size);
  ~BusErrorGuard();
  BusErrorGuard(const BusErrorGuard&) = delete;
  BusErrorGuard& operator=(const BusErrorGuard&) = delete;

  // Whether an access has gone wrong. Stays true: what is mapped there is no device any more.
  bool tripped() const { return tripped_.load(std::memory_order_relaxed); }
  // False: too many guards at a time, and none for this.
  bool active() const { return slot_ >= 0; }

 private:
  std::atomic<bool> tripped_{false};
  int slot_ = -1;
};

}  // namespace npu::driver::vfio
