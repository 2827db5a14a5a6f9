// SPDX-License-Identifier: Apache-2.0
// A walk through the page tables of a card, as its own walker goes (abi/page_table.hpp).
#include <fmt/format.h>

#include <set>

#include "npu/abi/page_table.hpp"
#include "npu/abi/registers.hpp"
#include "npu/driver/management.hpp"

namespace npu::driver {
namespace {

class TableWalk {
 public:
  explicit TableWalk(platform::MmioRegion& memory) : memory_(memory) {}

  // kBadDevice.
  Status table(std::uint64_t address, unsigned level) {
    if (address + abi::kTableSize > memory_.size()) {
      return fail(ErrorCode::kBadDevice,
                  fmt::format("a page table of level {} at {:#x}", level, address));
    }
    for (unsigned i = 0; i < abi::kTableEntries; ++i) {
      const abi::PageTableEntry entry{memory_.read64(address + Bytes{8} * i)};
      if (!entry.valid()) continue;
      if (entry.leaf()) {
        add(entry, level);
      } else if (level > 0) {
        if (auto ok = table(entry.address(), level - 1); !ok) return ok;
      }
    }
    return {};
  }
  Bytes bytes() const { return pages_.size() * (Bytes{1} << abi::kPageShift); }

 private:
  void add(abi::PageTableEntry entry, unsigned level) {
    if (!entry.is_local()) return;
    const std::uint64_t first = entry.address() >> abi::kPageShift;
    const std::uint64_t pages = abi::entry_span(level) >> abi::kPageShift;
    for (std::uint64_t page = first; page < first + pages; ++page) pages_.insert(page);
  }

  platform::MmioRegion& memory_;
  std::set<std::uint64_t> pages_;  // numbers of 2 MiB pages
};

}  // namespace

Result<Bytes> mapped_bytes(platform::MmioRegion& registers, platform::MmioRegion& memory) {
  const auto base = platform::read_register<abi::MmuContextBase>(registers).raw;
  if (base == 0) return Bytes{0};  // nobody has made address spaces
  if (base + 8 * abi::kVmids > memory.size()) {
    return fail(ErrorCode::kBadDevice, fmt::format("MMU_CONTEXT_BASE {:#x}", base));
  }
  TableWalk walk(memory);
  for (unsigned vmid = abi::kVmidPhysical + 1; vmid < abi::kVmids; ++vmid) {
    const abi::ContextEntry context{memory.read64(base + Bytes{8} * vmid)};
    if (!context.valid()) continue;
    if (auto ok = walk.table(context.address(), abi::kTableLevels - 1); !ok) {
      return forward_error(ok);
    }
  }
  return walk.bytes();
}

}  // namespace npu::driver
