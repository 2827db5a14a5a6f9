// SPDX-License-Identifier: Apache-2.0
// Bytes of a memory that are read where they lie instead of being copied: a borrower sees them as
// they were when they were lent, because it hears of every change before it happens.
#pragma once

#include <cstddef>

#include "npu/base/units.hpp"

namespace npu::model {

class Borrower {
 public:
  virtual ~Borrower() = default;
  // Some of the `length` bytes at `from` are about to change: what is needed of them has to be
  // copied now. With that the loan has ended. Neither lends nor writes.
  virtual void recall(const std::byte* from, Bytes length) = 0;
};

class Lender {
 public:
  virtual ~Lender() = default;
  // [address, address + length), device-local, until recall() or give_back(); null: there is no
  // such memory, or not in one piece. The same bytes may be lent several times, to the same
  // borrower, too.
  virtual const std::byte* lend(Bytes address, Bytes length, Borrower& borrower) = 0;
  // What lend() gave for `length` bytes, unless it was recalled.
  virtual void give_back(const std::byte* from, Bytes length, Borrower& borrower) = 0;
};

}  // namespace npu::model
