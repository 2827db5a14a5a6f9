// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/acl/card_management.hpp"

#include <fmt/format.h>

#include "npu/abi/layout.hpp"
#include "npu/abi/pci.hpp"
#include "npu/abi/registers.hpp"
#include "npu/driver/device.hpp"
#include "npu/driver/quota.hpp"

namespace npu::exec::acl {
namespace {

Status check(Bytes offset, Bytes width, Bytes begin, Bytes end) {
  const bool whole = (width == 4 || width == 8) && offset % width == 0;
  if (whole && offset >= begin && offset <= end - width) return {};
  return fail(ErrorCode::kOutOfRange, fmt::format("{} bytes at {:#x} of BAR0", width, offset));
}

}  // namespace

CardManagement::CardManagement(Card& card, ManagedBy program)
    : card_(card), program_(std::move(program)), access_(driver::manage(*card.device)) {}

Status CardManagement::set_token(std::uint64_t token) {
  if (token <= driver::kWholeToken) return card_.set_token(static_cast<unsigned>(token));
  return fail(ErrorCode::kInvalidArgument, fmt::format("a token of {}", token));
}

// The pages in front of the MSI-X structures.
Result<std::uint64_t> CardManagement::read(Bytes offset, Bytes width) {
  if (auto ok = check(offset, width, 0, abi::kMsixTableOffset); !ok) return forward_error(ok);
  auto& registers = access_->registers();
  return width == 4 ? registers.read32(offset) : registers.read64(offset);
}

Status CardManagement::write(Bytes offset, Bytes width, std::uint64_t value) {
  constexpr Bytes kEnd = abi::EccClear::kOffset + sizeof(abi::EccClear::raw_type);
  if (auto ok = check(offset, width, abi::EccInjectAddress::kOffset, kEnd); !ok) return ok;
  auto& registers = access_->registers();
  if (width == 4) {
    registers.write32(offset, static_cast<std::uint32_t>(value));
  } else {
    registers.write64(offset, value);
  }
  return {};
}

Result<std::uint32_t> CardManagement::read_config(std::uint64_t offset) {
  if (offset % 4 != 0 || offset >= abi::pci::kConfigSpaceSize) {
    return fail(ErrorCode::kOutOfRange, fmt::format("configuration space has no {:#x}", offset));
  }
  return access_->read_config(static_cast<std::uint32_t>(offset));
}

Result<driver::MemoryUse> CardManagement::memory_use() {
  const auto card = access_->memory_use();
  if (!card) return card;
  driver::MemoryStatistics statistics;
  statistics.total = card->total;
  statistics.free = card->total - card->used;
  const auto seen = program_.quota->seen(statistics);
  return driver::MemoryUse{seen.total, seen.total - seen.free};
}

Result<driver::QuotaUse> CardManagement::quota() {
  const auto use = program_.quota->use();
  if (use.limit != driver::MemoryQuota::kUnlimited) return use;
  return fail(ErrorCode::kUnsupported, "the program has no quota");
}

Result<std::vector<driver::CardProcess>> CardManagement::processes() {
  auto all = access_->processes();
  if (!all) return all;
  for (auto& one : *all) one.process.value = program_.process_id(one.process.value);
  return all;
}

}  // namespace npu::exec::acl
