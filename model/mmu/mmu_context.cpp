// SPDX-License-Identifier: Apache-2.0
#include "model/mmu/mmu_context.hpp"

#include <algorithm>
#include <utility>

#include "npu/base/checked.hpp"

namespace npu::model {
namespace {

using Register = abi::MmuInvalidate;

TaggedRange range_of(unsigned function, Register value, std::uint64_t address, std::uint64_t size) {
  constexpr std::uint64_t kLast = (std::uint64_t{1} << abi::kVirtualBits) - 1;
  const auto vmid = value.get<Register::Vmid>();
  const auto scope = value.get<Register::Scope>();
  if (scope != Register::kVmid && scope != Register::kRange) return all_of_function(function);
  if (vmid >= abi::kVmids) return kNoAddresses;
  const auto space = space_of(function, vmid);
  if (scope == Register::kVmid) return all_of_spaces(space, 1);
  if (size == 0 || address > kLast) return kNoAddresses;
  const std::uint64_t last = address + std::min(size - 1, kLast - address);
  return {tagged_address(space, address), tagged_address(space, last)};
}

}  // namespace

MmuContext::MmuContext(CardRegisters& registers, Mmu& mmu)
    : bank_(registers.bank()),
      function_(registers.function()),
      mmu_(mmu),
      invalidation_(mmu, function_, [this] { invalidated(); }),
      page_invalidation_(mmu, function_, [] {}) {
  mmu.attach(*this);
  bank_.on_write<abi::MmuContextBase>(
      [this](abi::MmuContextBase) { mmu_.drop(all_of_function(function_)); });
  bank_.on_write<Register>([this](Register value) { written(value); });
  bank_.on_write<abi::PageInvalidate>([this](abi::PageInvalidate value) { page_written(value); });
  bank_.on_read<abi::PageInvalidate>([this] { return page_read(); });
}

std::uint64_t MmuContext::base() const {
  return align_down(bank_.get<abi::MmuContextBase>().raw, abi::kTableSize);
}

void MmuContext::written(Register value) {
  if (invalidation_.busy()) {
    bank_.set(value_);
    return;
  }
  if (value.get<Register::Start>() == 0) return;
  value_ = value;
  invalidation_.start(range_of(function_, value, bank_.get<abi::MmuInvalidateAddress>().raw,
                               bank_.get<abi::MmuInvalidateSize>().raw));
}

void MmuContext::reset() {
  invalidation_.reset();
  page_invalidation_.reset();
  writes_lost_ = lost_before_ = false;
  page_number_ = 0;
}

void MmuContext::page_written(abi::PageInvalidate value) {
  if (page_invalidation_.busy() || value.get<abi::PageInvalidate::Start>() == 0) return;
  lost_before_ = std::exchange(writes_lost_, false);
  page_number_ = value.get<abi::PageInvalidate::Number>();
  const auto vmid = value.get<abi::PageInvalidate::Vmid>();
  const std::uint64_t page =
      align_down(bank_.get<abi::PageInvalidateAddress>().raw, abi::entry_span(0));
  if (vmid >= abi::kVmids || page >> abi::kVirtualBits != 0) return;
  const auto space = space_of(function_, vmid);
  page_invalidation_.start(
      {tagged_address(space, page), tagged_address(space, page + abi::entry_span(0) - 1)});
}

abi::PageInvalidate MmuContext::page_read() const {
  return abi::PageInvalidate{}
      .set<abi::PageInvalidate::Number>(page_number_)
      .set<abi::PageInvalidate::WritesLost>(lost_before_ ? 1 : 0)
      .set<abi::PageInvalidate::Start>(page_invalidation_.busy() ? 1 : 0);
}

void MmuContext::invalidated() {
  value_.set<Register::Start>(0);
  bank_.set(value_);
}

}  // namespace npu::model
