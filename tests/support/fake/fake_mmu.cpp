// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake/fake_mmu.hpp"

namespace npu::test {
namespace {

constexpr std::uint64_t kAddressMask = 0x0000'FFFF'FFFF'F000;
constexpr std::uint64_t kPeer = 1ULL << 57;      // card in bits 56..48
constexpr unsigned kShift[] = {21, 30, 39, 48};  // of an entry's share, by level

}  // namespace

void FakeMmu::set_context_base(std::uint64_t base) {
  context_base_ = base;
  seen_.clear();
}

std::uint64_t FakeMmu::entry(const Key& key, std::uint64_t at) {
  const auto kept = seen_.find(key);
  if (kept != seen_.end()) return kept->second;
  std::uint64_t raw = 0;
  memory_.read(at, &raw, sizeof raw);
  if (raw & 1) seen_[key] = raw;
  return raw;
}

// The leaf entry for `address` and its level.
abi::FaultCode FakeMmu::walk(unsigned vmid, std::uint64_t address, std::uint64_t& leaf,
                             unsigned& level) {
  using abi::FaultCode;
  if (vmid > 15 || address >> 48 != 0) return FaultCode::kTranslation;
  std::uint64_t raw = entry({vmid, 3, 0}, context_base_ + 8 * vmid);
  for (level = 2;; --level) {
    if (!(raw & 1)) return FaultCode::kTranslation;
    const auto index = address >> kShift[level] & 511;
    raw = entry({vmid, level, address >> kShift[level]}, (raw & kAddressMask) + 8 * index);
    if (!(raw & 1)) return FaultCode::kTranslation;
    const bool is_leaf = (raw & 2) != 0;
    if (is_leaf ? level == 2 : level == 0) return FaultCode::kPageTable;
    if (!is_leaf) continue;
    const auto base = raw & kAddressMask;
    const Bytes page = Bytes{1} << kShift[level];
    if (base & (page - 1)) return FaultCode::kPageTable;
    if (!(raw & kPeer) && base + page > size_) return FaultCode::kDeviceAddress;
    leaf = raw;
    return FaultCode::kNone;
  }
}

FakeMmu::Translation FakeMmu::translate(unsigned vmid, std::uint64_t address, bool write) {
  using abi::FaultCode;
  if (vmid == 0) {
    if (address >= size_) return {FaultCode::kDeviceAddress, 0, 0};
    return {FaultCode::kNone, address, size_ - address};
  }
  std::uint64_t leaf = 0;
  unsigned level = 0;
  const auto fault = walk(vmid, address, leaf, level);
  if (fault != FaultCode::kNone) return {fault, 0, 0};
  if (!(leaf & (write ? 8 : 4))) return {FaultCode::kDevicePermission, 0, 0};
  const Bytes page = Bytes{1} << kShift[level];
  const Bytes offset = address & (page - 1);
  Translation found{FaultCode::kNone, (leaf & kAddressMask) + offset, page - offset};
  if (leaf & kPeer) found.card = leaf >> 48 & 0x1FF;
  return found;
}

std::optional<std::uint64_t> FakeMmu::locate(unsigned vmid, std::uint64_t address) {
  std::uint64_t leaf = 0;
  unsigned level = 0;
  if (walk(vmid, address, leaf, level) != abi::FaultCode::kNone) return std::nullopt;
  return (leaf & kAddressMask) + (address & ((Bytes{1} << kShift[level]) - 1));
}

void FakeMmu::invalidate_space(unsigned vmid) {
  seen_.erase(seen_.lower_bound({vmid, 0, 0}), seen_.lower_bound({vmid + 1, 0, 0}));
}

void FakeMmu::invalidate_range(unsigned vmid, std::uint64_t begin, Bytes size) {
  if (size == 0) return;
  for (unsigned level = 0; level < 4; ++level) {
    seen_.erase(seen_.lower_bound({vmid, level, begin >> kShift[level]}),
                seen_.upper_bound({vmid, level, (begin + size - 1) >> kShift[level]}));
  }
}

}  // namespace npu::test
