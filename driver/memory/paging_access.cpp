// SPDX-License-Identifier: Apache-2.0
#include "driver/memory/paging_access.hpp"

#include <algorithm>

namespace npu::driver {
namespace {

constexpr Picoseconds kTry = 1_us;  // for the mutex, until the memory is looked at again

}  // namespace

PagingAccess::PagingAccess(MemoryManager& memory, platform::Clock& clock, Picoseconds timeout)
    : memory_(memory) {
  const Instant deadline = clock.now() + timeout;
  auto& loan = memory_.loan();
  do {
    loan.mutex->lock();
    if (loan.lent) {
      loan.used = true;
      has_ = Has::kLoan;
      return;
    }
    loan.mutex->unlock();
    const Instant until = std::min(deadline, clock.now() + kTry);
    if (memory_.mutex().try_lock_until(until)) {
      has_ = Has::kMutex;
      return;
    }
  } while (clock.now() < deadline);
}

PagingAccess::~PagingAccess() {
  if (has_ == Has::kMutex) memory_.mutex().unlock();
  if (has_ == Has::kLoan) memory_.loan().mutex->unlock();
}

MemoryLoan::MemoryLoan(MemoryManager& memory) : memory_(memory) {
  auto& loan = memory_.loan();
  if (loan.pagers.load(std::memory_order_acquire) == 0) return;
  const MutexHolder holder(*loan.mutex);
  loan.lent = open_ = true;
  loan.used = false;
}

bool MemoryLoan::end() {
  if (!open_) return false;
  open_ = false;
  auto& loan = memory_.loan();
  const MutexHolder holder(*loan.mutex);
  loan.lent = false;
  return loan.used;
}

}  // namespace npu::driver
