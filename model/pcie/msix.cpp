// SPDX-License-Identifier: Apache-2.0
#include "model/pcie/msix.hpp"

#include "npu/abi/pci.hpp"

namespace npu::model {

namespace pci = abi::pci;

MsixTable::MsixTable(unsigned vectors) : entries_(vectors) {}

bool MsixTable::raise(unsigned vector) {
  auto& entry = entries_[vector];
  if (deliverable(entry)) return true;
  if (!entry.pending) ++pending_;
  entry.pending = true;
  return false;
}

MsixMessage MsixTable::message(unsigned vector) const {
  const auto& entry = entries_[vector];
  return {std::uint64_t{entry.address_high} << 32 | entry.address_low, entry.data};
}

int MsixTable::take_deliverable() {
  if (pending_ == 0) return -1;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (!entries_[i].pending || !deliverable(entries_[i])) continue;
    entries_[i].pending = false;
    --pending_;
    return static_cast<int>(i);
  }
  return -1;
}

void MsixTable::reset() {
  entries_.assign(entries_.size(), Entry{});
  pending_ = 0;
  enabled_ = mask_all_ = false;
}

std::uint32_t MsixTable::read_dword(std::uint32_t offset) const {
  const auto& entry = entries_[offset / pci::kMsixEntrySize];
  switch (offset % pci::kMsixEntrySize) {
    case pci::kMsixEntryAddressLow:
      return entry.address_low;
    case pci::kMsixEntryAddressHigh:
      return entry.address_high;
    case pci::kMsixEntryData:
      return entry.data;
    default:
      return entry.control;
  }
}

void MsixTable::write_dword(std::uint32_t offset, std::uint32_t value) {
  auto& entry = entries_[offset / pci::kMsixEntrySize];
  switch (offset % pci::kMsixEntrySize) {
    case pci::kMsixEntryAddressLow:
      entry.address_low = value & ~3U;
      break;
    case pci::kMsixEntryAddressHigh:
      entry.address_high = value;
      break;
    case pci::kMsixEntryData:
      entry.data = value;
      break;
    default:
      entry.control = value & pci::kMsixEntryMasked;
  }
}

std::uint32_t MsixTable::pending_dword(std::uint32_t offset) const {
  std::uint32_t bits = 0;
  for (std::uint32_t i = 0; i < 32; ++i) {
    const std::size_t vector = std::size_t{offset} * 8 + i;
    if (vector < entries_.size() && entries_[vector].pending) bits |= 1U << i;
  }
  return bits;
}

std::uint64_t MsixTable::read_table(std::uint32_t offset, unsigned width) const {
  const std::uint64_t low = read_dword(offset);
  return width == 8 ? std::uint64_t{read_dword(offset + 4)} << 32 | low : low;
}

void MsixTable::write_table(std::uint32_t offset, unsigned width, std::uint64_t value) {
  write_dword(offset, static_cast<std::uint32_t>(value));
  if (width == 8) write_dword(offset + 4, static_cast<std::uint32_t>(value >> 32));
}

std::uint64_t MsixTable::read_pending(std::uint32_t offset, unsigned width) const {
  const std::uint64_t low = pending_dword(offset);
  return width == 8 ? std::uint64_t{pending_dword(offset + 4)} << 32 | low : low;
}

}  // namespace npu::model
