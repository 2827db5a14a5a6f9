// SPDX-License-Identifier: Apache-2.0
// What a function shows of the MMU: where its context table is, and invalidation
// (abi/registers.hpp).
#pragma once

#include "model/mmu/mmu.hpp"
#include "model/registers/card_registers.hpp"

namespace npu::model {

class MmuContext {
 public:
  // Installs itself behind the MMU registers of `registers` and attaches itself to `mmu`.
  MmuContext(CardRegisters& registers, Mmu& mmu);
  MmuContext(const MmuContext&) = delete;
  MmuContext& operator=(const MmuContext&) = delete;

  // Address of the context table in the function's memory; 0: none.
  std::uint64_t base() const;
  // An access of the function has ended.
  void access_ended() {
    if (invalidation_ == Invalidation::kDraining) finish_if_drained();
  }
  void reset();

 private:
  void written(abi::MmuInvalidate value);
  void due(std::uint64_t epoch);
  void finish_if_drained();

  RegisterBank& bank_;
  const unsigned function_;
  Mmu& mmu_;

  enum class Invalidation { kNone, kWritten, kDraining };
  Invalidation invalidation_ = Invalidation::kNone;
  abi::MmuInvalidate value_;  // as last written
  TaggedRange range_ = kNoAddresses;
  std::uint64_t epoch_ = 0;  // resets so far
};

}  // namespace npu::model
