// SPDX-License-Identifier: Apache-2.0
#include "driver/managed/managed_pages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "npu/base/checked.hpp"

namespace npu::driver {

Result<std::uint64_t> ManagedPages::allocate(Bytes size) {
  const auto whole = checked_align_up(size, kPageSize);
  if (size == 0 || !whole) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("{} bytes of managed memory", size));
  }
  const MutexHolder holder(device_.memory->mutex());
  const auto at = space_.reserve_managed(*whole);
  if (!at) return at;
  ranges_.add(*at, size, space_);
  return at;
}

abi::PageTableEntry ManagedPages::value_of(const ManagedPage& page) const {
  auto value = abi::PageTableEntry::page(paging_.slots()[page.slot].address, true, page.writable);
  if (page.parts) value.raw |= abi::PageTableEntry::Partial::kMask;
  return value;
}

Status ManagedPages::free(std::uint64_t at) {
  auto* const range = ranges_.find_range(at);
  if (range == nullptr) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("{:#x} is no managed memory", at));
  }
  for (std::size_t i = 0; i < range->pages.size(); ++i) {
    if (auto ok = release(at + i * kPageSize, range->pages[i]); !ok) return ok;
  }
  const MutexHolder holder(device_.memory->mutex());
  if (auto ok = space_.release_managed(at); !ok) return ok;
  ranges_.remove(at);
  return {};
}

Status ManagedPages::free_all() {
  while (const auto first = ranges_.first()) {
    if (auto ok = free(*first); !ok) return ok;
  }
  frames_.clear();
  return {};
}

// What it held is gone.
Status ManagedPages::release(std::uint64_t at, ManagedPage& page) {
  if (page.on_card()) {
    if (const auto dirty = unmap(at, page); !dirty) return forward_error(dirty);
    statistics_.dropped_bytes += page.bytes_on_card();
    leave_slot(page);
  }
  if (page.frame) frames_.push_back(std::move(page.frame));
  page = {};
  return {};
}

// --- To the card ------------------------------------------------------------------------------

Result<ManagedPages::Brought> ManagedPages::bring(std::uint64_t address, bool write,
                                                  std::uint32_t slot) {
  const std::uint64_t at = align_down(address, kPageSize);
  auto* const page = find(address);
  if (page == nullptr) {
    return fail(ErrorCode::kNotFound, fmt::format("{:#x} is no managed memory", address));
  }
  Brought brought;
  brought.was_there = page->on_card();
  if (brought.was_there) {
    if (write && !page->writable) {
      if (auto ok = take_exclusive(at, *page); !ok) return forward_error(ok);
    } else if (!page->mapped) {  // its way home has failed
      if (auto ok = publish(at, *page); !ok) return forward_error(ok);
    }
    return brought;  // or it has come since
  }
  if (page->read_mostly && !write) {
    if (auto ok = hold_copy(*page); !ok) return forward_error(ok);
  }
  if (page->host) {
    trace_.begin(ServiceTrace::kCopy);
    const Instant begin = device_.platform.clock().now();
    auto ok = mover_.to_card(page->frame->bus(), paging_.slots()[slot].address, kPageSize);
    if (ok) ok = mover_.wait();
    statistics_.copying_to_card += device_.platform.clock().now() - begin;
    if (!ok) return forward_error(ok);
  }
  settle(at, *page, slot, write);
  ++statistics_.faults;
  if (page->evicted) ++statistics_.thrash;
  page->mapped = true;
  brought.entry = ranges_.entry_of(at);
  brought.value = value_of(*page);
  return brought;
}

// The host has what there is of the page.
Status ManagedPages::hold_copy(ManagedPage& page) {
  if (page.host) return {};
  if (auto ok = give_frame(page); !ok) return ok;
  page.host = true;
  return {};
}

// The page's bytes are in the slot, or come there part by part.
void ManagedPages::settle(std::uint64_t at, ManagedPage& page, std::uint32_t slot, bool write) {
  const Bytes come = page.bytes_on_card();
  (page.host ? statistics_.migrated_to_card_bytes : statistics_.created_on_card_bytes) += come;
  statistics_.resident_bytes += come;
  page.same = page.host;
  if (write) page.read_mostly = false;
  // What is made there has to come home anyway.
  page.writable = !page.read_mostly && (write || !page.same || paging_.tells_writes());
  page.host = page.host && page.read_mostly;
  page.slot = slot;
  paging_.slots().fill(slot, *this, at);
}

Status ManagedPages::publish(std::uint64_t at, ManagedPage& page) {
  auto ok = paging_.map(page.slot, ranges_.entry_of(at), value_of(page));
  page.mapped = static_cast<bool>(ok);
  return ok;
}

Status ManagedPages::bring_parts(std::uint64_t at, const PageParts& touched, bool write,
                                 std::uint32_t slot, unsigned density) {
  auto& page = page_of(at);
  if (!page.on_card()) {
    if (page.read_mostly && !write) {
      if (auto ok = hold_copy(page); !ok) return ok;
    }
    if (page.host) page.parts = std::make_unique<PageParts>();
    settle(at, page, slot, write);
    if (page.evicted) ++statistics_.thrash;
  } else {
    paging_.slots().renew(page.slot);
    if (write && !page.writable) {
      if (auto ok = take_exclusive(at, page); !ok) return ok;
    }
  }
  ++statistics_.faults;
  if (page.parts) {
    const auto missing = wanted_parts(touched, *page.parts, density) & ~*page.parts;
    if (auto ok = fetch_parts(page, missing); !ok) return ok;
  }
  trace_.begin(ServiceTrace::kMap);
  return page.mapped ? Status{} : publish(at, page);
}

// From the frame; the card may use them at once.
Status ManagedPages::fetch_parts(ManagedPage& page, const PageParts& missing) {
  if (missing.none()) return {};
  trace_.begin(ServiceTrace::kCopy);
  const Instant begin = device_.platform.clock().now();
  Status status;
  const std::uint64_t memory = paging_.slots()[page.slot].address;
  for_each_run(missing, [&](unsigned first, unsigned count) {
    const Bytes offset = Bytes{first} << abi::kPartShift;
    const platform::BusAddress from{page.frame->bus().value + offset};
    if (status) status = mover_.to_card(from, memory + offset, Bytes{count} << abi::kPartShift);
  });
  auto moved = mover_.wait();
  statistics_.copying_to_card += device_.platform.clock().now() - begin;
  if (!status) return status;
  if (!moved) return moved;
  const Bytes bytes = missing.count() << abi::kPartShift;
  statistics_.migrated_to_card_bytes += bytes;
  statistics_.resident_bytes += bytes;
  *page.parts |= missing;
  paging_.show_parts(page.slot, *page.parts);
  return {};
}

Status ManagedPages::complete(std::uint64_t at) {
  auto& page = page_of(at);
  if (!page.parts || page.parts->all()) return {};
  ++statistics_.prefetched;
  return fetch_parts(page, ~*page.parts);
}

// The card writes what it could only read: other copies go.
Status ManagedPages::take_exclusive(std::uint64_t at, ManagedPage& page) {
  trace_.begin(ServiceTrace::kInvalidate);
  if (const auto dirty = unmap(at, page); !dirty) return forward_error(dirty);
  trace_.begin(ServiceTrace::kMap);
  page.host = page.read_mostly = false;
  page.writable = true;
  ++statistics_.upgrades;
  return publish(at, page);
}

Status ManagedPages::create_on_card(std::uint64_t at) {
  auto& page = page_of(at);
  if (page.touched()) return {};
  const auto slot = paging_.take();
  if (!slot) return forward_error(slot);
  settle(at, page, *slot, true);
  return publish(at, page);
}

Result<std::uint64_t> ManagedPages::bring_run(std::uint64_t first, std::uint64_t count) {
  std::vector<std::uint32_t> slots;
  const Instant begin = device_.platform.clock().now();
  Status status;
  while (status && slots.size() < count) {
    const auto slot = paging_.take();
    if (!slot && slots.empty()) return forward_error(slot);
    if (!slot) break;
    const auto& page = page_of(first + slots.size() * kPageSize);
    slots.push_back(*slot);
    status = mover_.to_card(page.frame->bus(), paging_.slots()[*slot].address, kPageSize);
  }
  auto moved = mover_.wait();
  if (status) status = std::move(moved);
  statistics_.copying_to_card += device_.platform.clock().now() - begin;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (!status) {
      paging_.give(slots[i]);
      continue;
    }
    const std::uint64_t at = first + i * kPageSize;
    auto& page = page_of(at);
    settle(at, page, slots[i], !page.read_mostly);
    ++statistics_.prefetched;
    status = publish(at, page);
  }
  if (!status) return forward_error(status);
  return slots.size();
}

std::function<void()> ManagedPages::look_for_errors(Instant now) {
  if (!error_watch_.look(statistics_.fault_errors, now)) return {};
  ++statistics_.fault_error_warnings;
  if (!on_fault_errors_) return {};
  return [call = on_fault_errors_,
          warning = FaultErrorWarning{statistics_.fault_errors, space_.vmid()}] { call(warning); };
}

// --- To the host ------------------------------------------------------------------------------

Status ManagedPages::give_frame(ManagedPage& page) {
  if (page.frame) return {};
  if (!frames_.empty()) {
    page.frame = std::move(frames_.back());
    frames_.pop_back();
    return {};
  }
  auto frame = device_.platform.allocate_dma(device_.card.bdf(), kPageSize, kPageSize,
                                             platform::DmaDirection::kBidirectional);
  if (!frame) return forward_error(frame);
  page.frame = std::move(*frame);
  return {};
}

// Whether it was written since it was mapped.
Result<bool> ManagedPages::unmap(std::uint64_t at, ManagedPage& page) {
  if (!page.mapped) return true;
  const auto written = paging_.unmap(page.slot, ranges_.entry_of(at));
  if (!written) return written;
  page.mapped = false;
  return *written && page.writable;
}

void ManagedPages::leave_slot(ManagedPage& page) {
  statistics_.resident_bytes -= page.bytes_on_card();
  page.parts.reset();
  paging_.give(std::exchange(page.slot, abi::kNoSlot));
}

Status ManagedPages::leave(std::uint32_t slot, bool dirty) {
  const std::uint64_t at = paging_.slots()[slot].at;
  auto& page = page_of(at);
  page.mapped = false;
  return leave_in_run(at, 1, {dirty && page.writable});
}

// Pages that nobody on the card uses any more, `dirty` by their numbers.
Status ManagedPages::leave_in_run(std::uint64_t first, std::uint64_t count,
                                  const std::vector<bool>& dirty) {
  const Instant begin = device_.platform.clock().now();
  Status status;
  std::vector<bool> copied(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < copied.size() && status; ++i) {
    auto& page = page_of(first + i * kPageSize);
    copied[i] = !page.host && (dirty[i] || !page.same);
    if (!copied[i]) continue;
    status = give_frame(page);
    if (!status) break;
    status = copy_home(page);
  }
  auto moved = mover_.wait();
  statistics_.copying_to_host += device_.platform.clock().now() - begin;
  if (!status) return status;
  if (!moved) return moved;
  for (std::size_t i = 0; i < copied.size(); ++i) {
    auto& page = page_of(first + i * kPageSize);
    (copied[i] ? statistics_.migrated_to_host_bytes : statistics_.dropped_bytes) +=
        page.bytes_on_card();
    page.host = true;
    page.thrash.left(device_.platform.clock().now());
    leave_slot(page);
  }
  return {};
}

// Begins it.
Status ManagedPages::copy_home(const ManagedPage& page) {
  const std::uint64_t memory = paging_.slots()[page.slot].address;
  if (!page.parts) return mover_.to_host(memory, page.frame->bus(), kPageSize);
  Status status;
  for_each_run(*page.parts, [&](unsigned first, unsigned count) {
    const Bytes offset = Bytes{first} << abi::kPartShift;
    const platform::BusAddress to{page.frame->bus().value + offset};
    if (status) status = mover_.to_host(memory + offset, to, Bytes{count} << abi::kPartShift);
  });
  return status;
}

Status ManagedPages::keep(std::uint32_t slot) {
  const std::uint64_t at = paging_.slots()[slot].at;
  return publish(at, page_of(at));
}

void ManagedPages::note_eviction(std::uint64_t at) {
  page_of(at).evicted = true;
  ++statistics_.evictions;
}

Status ManagedPages::evict(std::uint32_t slot) {
  const std::uint64_t at = paging_.slots()[slot].at;
  if (auto ok = fetch_run(at, 1); !ok) return ok;
  note_eviction(at);
  return {};
}

Status ManagedPages::fetch_run(std::uint64_t first, std::uint64_t count) {
  std::vector<bool> dirty;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = first + i * kPageSize;
    const auto written = unmap(at, page_of(at));
    if (!written) return forward_error(written);
    dirty.push_back(*written);
  }
  return leave_in_run(first, count, dirty);
}

// The host has touched it: a trap into the operating system.
Status ManagedPages::bring_to_host(std::uint64_t at, bool write) {
  auto& page = page_of(at);
  if (page.host && !(write && page.on_card())) return {};
  device_.platform.tasks().system_calls(1);
  ++statistics_.host_faults;
  if (page.on_card()) {
    if (auto ok = fetch_run(at, 1); !ok) return ok;
  } else if (auto ok = hold_copy(page); !ok) {
    return ok;
  }
  if (write) page.read_mostly = false;
  return {};
}

// copy(frame's bytes, offset in what is touched) for each page.
template <class Copy>
Status ManagedPages::touch(std::uint64_t at, Bytes size, bool write, Copy copy) {
  if (size == 0) return {};
  if (auto ok = check(at, size); !ok) return ok;
  for (Bytes done = 0; done < size;) {
    const std::uint64_t begin = align_down(at + done, kPageSize);
    const Bytes offset = at + done - begin;
    const Bytes piece = std::min(size - done, kPageSize - offset);
    if (auto ok = bring_to_host(begin, write); !ok) return ok;
    const auto bytes = page_of(begin).frame->cpu();
    copy(ByteSpan{bytes.data + offset, static_cast<std::size_t>(piece)}, done);
    done += piece;
  }
  return {};
}

Status ManagedPages::read(std::uint64_t at, ByteSpan to) {
  return touch(at, to.size, false, [&](ByteSpan bytes, Bytes done) {
    device_.platform.copy({to.data + done, bytes.size}, {bytes.data, bytes.size});
  });
}

Status ManagedPages::write(std::uint64_t at, ConstByteSpan from) {
  return touch(at, from.size, true, [&](ByteSpan bytes, Bytes done) {
    device_.platform.copy(bytes, {from.data + done, bytes.size});
  });
}

}  // namespace npu::driver
