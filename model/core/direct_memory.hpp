// SPDX-License-Identifier: Apache-2.0
// Bytes of a memory that are read where they lie instead of being copied: a borrower sees them as
// they were when they were lent, because it hears of every change before it happens.
#pragma once

#include <cstddef>

#include "npu/base/units.hpp"

namespace npu::model {

class DirectMemoryUser {
 public:
  virtual ~DirectMemoryUser() = default;
  // Some of the `length` bytes at `from` are about to change: what is needed of them has to be
  // copied now. With that the loan has ended. Neither lends nor writes.
  virtual void invalidate_direct(const std::byte* from, Bytes length) = 0;
};

class DirectMemory {
 public:
  virtual ~DirectMemory() = default;
  // [address, address + length), device-local, until invalidate_direct() or give_back(); null:
  // there is no such memory, or not in one piece. The same bytes may be lent several times, to the
  // same borrower, too.
  virtual const std::byte* direct_pointer(Bytes address, Bytes length, DirectMemoryUser& user) = 0;
  // What direct_pointer() gave for `length` bytes, unless it was recalled.
  virtual void give_back(const std::byte* from, Bytes length, DirectMemoryUser& user) = 0;
};

}  // namespace npu::model
