// SPDX-License-Identifier: Apache-2.0
#include "driver/managed/exposed_pages.hpp"

#include <fmt/format.h>

#include "driver/managed/kernel_costs.hpp"
#include "npu/base/checked.hpp"

namespace npu::driver {

Status ExposedPages::admit(std::uint64_t address, bool write, ServiceTrace& trace) {
  const std::uint64_t at = align_down(address, kPageSize);
  auto* const page = all_.find(address);
  if (page == nullptr) {
    return fail(ErrorCode::kNotFound, fmt::format("{:#x} is no managed memory", address));
  }
  trace.begin(ServiceTrace::kAllocate);
  KernelCosts(all_.platform().tasks()).meet(own(*page));
  if (auto ok = all_.hold_copy(at, *page); !ok) return ok;
  const bool upgrade = write && own(*page).mapped && !own(*page).writable;
  if (write) {
    page->read_mostly = false;
    if (auto ok = all_.own_frame(at, *page, true); !ok) return ok;
  }
  trace.begin(ServiceTrace::kMap);
  if (auto ok = all_.expose(at, *page); !ok) return ok;
  ++all_.statistics().faults;
  if (upgrade) ++all_.statistics().upgrades;
  return {};
}

// A write to what is to be read is asked for anew.
Status ExposedPages::expose(std::uint64_t at, ManagedPage& page) {
  auto& mine = own(page);
  const bool write = !page.read_mostly && page.frame.use_count() == 1;
  const bool done = mine.mapped && mine.writable == write;
  if (!in_place() || paging_.ended() || done) return {};
  if (mine.mapped && !write) {
    if (auto ok = hide(at, page); !ok) return ok;
  }
  auto ok = paging_.expose(vmid_, at, *page.frame, write);
  if (!ok) return ok;
  mine.mapped = true;
  mine.writable = write;
  return {};
}

Status ExposedPages::hide(std::uint64_t at, ManagedPage& page) {
  auto& mine = own(page);
  if (!in_place() || !mine.mapped) return {};
  mine.mapped = mine.writable = false;
  return paging_.ended() ? Status{} : paging_.hide(vmid_, at);
}

}  // namespace npu::driver
