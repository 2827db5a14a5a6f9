// SPDX-License-Identifier: Apache-2.0
// A card as a program's management calls reach it: by the driver that has it open.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "apps/exec/acl/card.hpp"
#include "apps/exec/acl/outcome.hpp"
#include "npu/driver/management.hpp"

namespace npu::exec::acl {

struct ManagedBy {
  std::shared_ptr<const driver::MemoryQuota> quota;  // what counts of the program's memory
  unsigned token = driver::kWholeToken;              // its own
  // The program's number, as the driver knows it, as its kernel's.
  std::function<std::uint64_t(std::uint64_t)> process_id;
};

class CardManagement {
 public:
  // An open card, which outlives it.
  CardManagement(Card& card, ManagedBy program);

  platform::Bdf bdf() const { return access_->bdf(); }
  // `width`: 4 or 8. kOutOfRange: misaligned, or beyond what may be looked at.
  Result<std::uint64_t> read(Bytes offset, Bytes width);
  // Of what injects and forgets errors of the memory.
  Status write(Bytes offset, Bytes width, std::uint64_t value);
  Result<std::uint32_t> read_config(std::uint64_t offset);
  // As the program may have it of the card: within its quota.
  Result<driver::MemoryUse> memory_use();
  // With the ids of the kernel's.
  Result<std::vector<driver::CardProcess>> processes();
  // kUnsupported: its memory has no limit.
  Result<driver::QuotaUse> quota();
  // The card's, and no more than the program's own.
  unsigned token() const { return std::min(card_.token(), program_.token); }
  Status set_token(std::uint64_t token);
  driver::ManagementAccess& access() { return *access_; }

 private:
  Card& card_;
  const ManagedBy program_;
  const std::unique_ptr<driver::ManagementAccess> access_;
};

}  // namespace npu::exec::acl
