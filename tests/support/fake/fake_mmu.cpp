// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake/fake_mmu.hpp"

namespace npu::test {
namespace {

constexpr std::uint64_t kAddressMask = 0x0000'FFFF'FFFF'F000;
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

FakeMmu::Translation FakeMmu::translate(unsigned vmid, std::uint64_t address, bool write) {
  using abi::FaultCode;
  if (vmid == 0) {
    if (address >= size_) return {FaultCode::kDeviceAddress, 0, 0};
    return {FaultCode::kNone, address, size_ - address};
  }
  if (vmid > 15 || address >> 48 != 0) return {FaultCode::kTranslation, 0, 0};
  std::uint64_t raw = entry({vmid, 3, 0}, context_base_ + 8 * vmid);
  for (unsigned level = 3; level-- > 0;) {
    if (!(raw & 1)) return {FaultCode::kTranslation, 0, 0};
    const auto table = raw & kAddressMask;
    const auto index = address >> kShift[level] & 511;
    raw = entry({vmid, level, address >> kShift[level]}, table + 8 * index);
    const bool leaf = (raw & 2) != 0;
    if ((raw & 1) && leaf != (level == 0) && (level != 1)) return {FaultCode::kPageTable, 0, 0};
    if (!(raw & 1) || !leaf) continue;
    if (!(raw & (write ? 8 : 4))) return {FaultCode::kDevicePermission, 0, 0};
    const Bytes page = Bytes{1} << kShift[level];
    const Bytes offset = address & (page - 1);
    const auto base = raw & kAddressMask;
    if (base & (page - 1)) return {FaultCode::kPageTable, 0, 0};
    if (base + page > size_) return {FaultCode::kDeviceAddress, 0, 0};
    return {FaultCode::kNone, base + offset, page - offset};
  }
  return {FaultCode::kTranslation, 0, 0};
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
