// SPDX-License-Identifier: Apache-2.0
#include "driver/managed/managed_pages.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "npu/base/checked.hpp"

namespace npu::driver {
namespace {

constexpr Bytes kTableSpan = abi::entry_span(1);  // that one page table maps

}  // namespace

Result<std::uint64_t> ManagedPages::allocate(Bytes size) {
  const auto whole = checked_align_up(size, kPageSize);
  if (size == 0 || !whole) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("{} bytes of managed memory", size));
  }
  const MutexHolder holder(device_.memory->mutex());
  const auto at = space_.reserve_managed(*whole);
  if (!at) return at;
  auto& range = ranges_[*at];
  range.size = size;
  range.pages.resize(static_cast<std::size_t>(*whole / kPageSize));
  for (auto part = align_down(*at, kTableSpan); part < *at + *whole; part += kTableSpan) {
    range.tables.push_back(
        align_down(space_.entry_address(std::max(part, *at)), Bytes{abi::kTableSize}));
  }
  return at;
}

ManagedPages::Ranges::iterator ManagedPages::range_of(std::uint64_t address) {
  auto found = ranges_.upper_bound(address);
  if (found == ranges_.begin()) return ranges_.end();
  --found;
  const bool inside = address - found->first < found->second.pages.size() * kPageSize;
  return inside ? found : ranges_.end();
}

// Of what is known to be a managed page.
ManagedPages::Page& ManagedPages::page_of(std::uint64_t at) {
  auto& range = *range_of(at);
  return range.second.pages[static_cast<std::size_t>((at - range.first) / kPageSize)];
}

std::uint64_t ManagedPages::entry_of(const Ranges::value_type& range, std::uint64_t at) const {
  const auto table = (at - align_down(range.first, kTableSpan)) / kTableSpan;
  return range.second.tables[static_cast<std::size_t>(table)] +
         sizeof(abi::PageTableEntry) * abi::table_index(at, 0);
}

std::uint64_t ManagedPages::entry_of(std::uint64_t at) {
  return entry_of(*range_of(at), at);
}

Status ManagedPages::free(std::uint64_t at) {
  const auto found = ranges_.find(at);
  if (found == ranges_.end()) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("{:#x} is no managed memory", at));
  }
  auto& pages = found->second.pages;
  for (std::size_t i = 0; i < pages.size(); ++i) {
    if (auto ok = release(at + i * kPageSize, pages[i]); !ok) return ok;
  }
  const MutexHolder holder(device_.memory->mutex());
  if (auto ok = space_.release_managed(at); !ok) return ok;
  ranges_.erase(found);
  return {};
}

Status ManagedPages::free_all() {
  while (!ranges_.empty()) {
    if (auto ok = free(ranges_.begin()->first); !ok) return ok;
  }
  frames_.clear();
  return {};
}

// What it held is gone.
Status ManagedPages::release(std::uint64_t at, Page& page) {
  if (page.slot != abi::kNoSlot) {
    if (page.mapped) {
      const auto dirty = paging_.unmap(page.slot, entry_of(at));
      if (!dirty) return forward_error(dirty);
    }
    statistics_.dropped_bytes += kPageSize;
    statistics_.resident_bytes -= kPageSize;
    paging_.give(page.slot);
  }
  if (page.frame) frames_.push_back(std::move(page.frame));
  page = {};
  return {};
}

Result<ManagedPages::Brought> ManagedPages::bring(std::uint64_t address, bool write,
                                                  std::uint32_t slot) {
  const auto range = range_of(address);
  if (range == ranges_.end()) {
    return fail(ErrorCode::kNotFound, fmt::format("{:#x} is no managed memory", address));
  }
  static_cast<void>(write);
  const std::uint64_t at = align_down(address, kPageSize);
  auto& page = page_of(at);
  Brought brought;
  brought.entry = entry_of(*range, at);
  if (page.slot != abi::kNoSlot) {
    brought.was_there = true;
    if (page.mapped) return brought;  // it has come since
    // Its way home has failed.
    if (auto ok = keep(page.slot); !ok) return forward_error(ok);
    return brought;
  }
  const auto& memory = paging_.slots()[slot];
  if (page.host) {
    trace_.begin(ServiceTrace::kCopy);
    if (auto ok = copy_to_card(page, slot); !ok) return forward_error(ok);
  } else {
    statistics_.created_on_card_bytes += kPageSize;
  }
  statistics_.resident_bytes += kPageSize;
  ++statistics_.faults;
  if (page.evicted) ++statistics_.thrash;
  page.same = page.host;
  page.host = false;
  page.mapped = true;
  page.slot = slot;
  paging_.slots().fill(slot, *this, at);
  brought.value = abi::PageTableEntry::page(memory.address, true, true);
  return brought;
}

Result<std::unique_ptr<platform::DmaMemory>> ManagedPages::take_frame() {
  if (frames_.empty()) {
    return device_.platform.allocate_dma(device_.card.bdf(), kPageSize, kPageSize,
                                         platform::DmaDirection::kBidirectional);
  }
  auto frame = std::move(frames_.back());
  frames_.pop_back();
  return frame;
}

Status ManagedPages::copy_to_card(const Page& page, std::uint32_t slot) {
  auto& clock = device_.platform.clock();
  const Instant begin = clock.now();
  auto ok = mover_.to_card(page.frame->bus(), paging_.slots()[slot].address, kPageSize);
  statistics_.copying_to_card += clock.now() - begin;
  if (ok) statistics_.migrated_to_card_bytes += kPageSize;
  return ok;
}

Status ManagedPages::copy_to_host(Page& page, std::uint32_t slot) {
  auto& clock = device_.platform.clock();
  const Instant begin = clock.now();
  auto ok = mover_.to_host(paging_.slots()[slot].address, page.frame->bus(), kPageSize);
  statistics_.copying_to_host += clock.now() - begin;
  if (ok) statistics_.migrated_to_host_bytes += kPageSize;
  return ok;
}

void ManagedPages::note_eviction(std::uint64_t at) {
  page_of(at).evicted = true;
  ++statistics_.evictions;
}

Status ManagedPages::leave(std::uint32_t slot, bool dirty) {
  auto& page = page_of(paging_.slots()[slot].at);
  page.mapped = false;
  if (!page.frame) {
    auto frame = take_frame();
    if (!frame) return forward_error(frame);
    page.frame = std::move(*frame);
  }
  if (dirty || !page.same) {
    if (auto ok = copy_to_host(page, slot); !ok) return ok;
  } else {
    statistics_.dropped_bytes += kPageSize;
  }
  statistics_.resident_bytes -= kPageSize;
  page.host = true;
  page.slot = abi::kNoSlot;
  paging_.give(slot);
  return {};
}

Status ManagedPages::keep(std::uint32_t slot) {
  const std::uint64_t at = paging_.slots()[slot].at;
  auto& page = page_of(at);
  const auto value = abi::PageTableEntry::page(paging_.slots()[slot].address, true, true);
  auto ok = paging_.map(slot, entry_of(at), value);
  page.mapped = static_cast<bool>(ok);
  return ok;
}

Status ManagedPages::evict(std::uint32_t slot) {
  const std::uint64_t at = paging_.slots()[slot].at;
  bool dirty = true;
  if (page_of(at).mapped) {
    const auto written = paging_.unmap(slot, entry_of(at));
    if (!written) return forward_error(written);
    dirty = *written;
  }
  if (auto ok = leave(slot, dirty); !ok) return ok;
  note_eviction(at);
  return {};
}

// The host has touched it: a trap into the operating system.
Status ManagedPages::bring_to_host(std::uint64_t at, Page& page) {
  if (page.host) return {};
  device_.platform.tasks().system_calls(1);
  ++statistics_.host_faults;
  if (page.slot != abi::kNoSlot) {
    bool dirty = true;
    if (page.mapped) {
      const auto written = paging_.unmap(page.slot, entry_of(at));
      if (!written) return forward_error(written);
      dirty = *written;
    }
    return leave(page.slot, dirty);
  }
  auto frame = take_frame();
  if (!frame) return forward_error(frame);
  page.frame = std::move(*frame);
  page.host = true;
  return {};
}

Status ManagedPages::check(std::uint64_t at, Bytes size) {
  const auto range = range_of(at);
  const bool inside =
      range != ranges_.end() && range_fits(at - range->first, size, range->second.size);
  if (inside) return {};
  return fail(ErrorCode::kOutOfRange,
              fmt::format("{} bytes at {:#x} are not in one managed allocation", size, at));
}

// copy(frame's bytes, offset in what is touched) for each page.
template <class Copy>
Status ManagedPages::touch(std::uint64_t at, Bytes size, Copy copy) {
  if (size == 0) return {};
  if (auto ok = check(at, size); !ok) return ok;
  const auto range = range_of(at);
  for (Bytes done = 0; done < size;) {
    const std::uint64_t begin = align_down(at + done, kPageSize);
    const Bytes offset = at + done - begin;
    const Bytes piece = std::min(size - done, kPageSize - offset);
    auto& page = range->second.pages[static_cast<std::size_t>((begin - range->first) / kPageSize)];
    if (auto ok = bring_to_host(begin, page); !ok) return ok;
    copy(ByteSpan{page.frame->cpu().data + offset, static_cast<std::size_t>(piece)}, done);
    done += piece;
  }
  return {};
}

Status ManagedPages::read(std::uint64_t at, ByteSpan to) {
  return touch(at, to.size, [&](ByteSpan bytes, Bytes done) {
    device_.platform.copy({to.data + done, bytes.size}, {bytes.data, bytes.size});
  });
}

Status ManagedPages::write(std::uint64_t at, ConstByteSpan from) {
  return touch(at, from.size, [&](ByteSpan bytes, Bytes done) {
    device_.platform.copy(bytes, {from.data + done, bytes.size});
  });
}

}  // namespace npu::driver
