// SPDX-License-Identifier: Apache-2.0
// The card's physical memory for who serves page faults. Whoever has the memory manager's mutex may
// wait for work on the card, which waits for pages: for that time it lends the memory (MemoryLoan),
// and paging has it without the mutex.
#pragma once

#include "driver/memory/memory_manager.hpp"
#include "driver/support/spin_lock.hpp"

namespace npu::driver {

class PagingAccess {
 public:
  // Waits for at most `timeout`. Must not be had by who has the mutex.
  PagingAccess(MemoryManager& memory, platform::Clock& clock, Picoseconds timeout);
  ~PagingAccess();
  PagingAccess(const PagingAccess&) = delete;
  PagingAccess& operator=(const PagingAccess&) = delete;
  explicit operator bool() const { return has_ != Has::kNothing; }

 private:
  enum class Has { kNothing, kMutex, kLoan };

  MemoryManager& memory_;
  Has has_ = Has::kNothing;
};

// Under the memory manager's mutex, around a wait for work on the card.
class MemoryLoan {
 public:
  explicit MemoryLoan(MemoryManager& memory);
  ~MemoryLoan() { static_cast<void>(end()); }
  MemoryLoan(const MemoryLoan&) = delete;
  MemoryLoan& operator=(const MemoryLoan&) = delete;

  // Whether the memory was used meanwhile.
  bool end();

 private:
  MemoryManager& memory_;
  bool open_ = false;
};

}  // namespace npu::driver
