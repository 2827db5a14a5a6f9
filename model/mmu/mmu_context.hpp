// SPDX-License-Identifier: Apache-2.0
// What a function shows of the MMU: where its context table is, and invalidation
// (abi/registers.hpp).
#pragma once

#include "model/mmu/invalidation.hpp"
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
  void reset();
  // The host has said something that did not come.
  void host_write_lost() { writes_lost_ = true; }

 private:
  void written(abi::MmuInvalidate value);
  void invalidated();
  void page_written(abi::PageInvalidate value);
  abi::PageInvalidate page_read() const;

  RegisterBank& bank_;
  const unsigned function_;
  Mmu& mmu_;

  Invalidation invalidation_;
  abi::MmuInvalidate value_;  // as last written
  Invalidation page_invalidation_;
  bool writes_lost_ = false;  // since the last Start of PAGE_INVALIDATE
  bool lost_before_ = false;  // and before it
  std::uint32_t page_number_ = 0;
};

}  // namespace npu::model
