// SPDX-License-Identifier: Apache-2.0
#include "driver/managed/managed_pages.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "npu/base/checked.hpp"

namespace npu::driver {

Result<std::uint64_t> ManagedPages::allocate(Bytes size) {
  const auto whole = checked_align_up(size, kPageSize);
  if (size == 0 || !whole) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("{} bytes of managed memory", size));
  }
  const MutexHolder holder(device_.memory->mutex());
  const auto at = space_.reserve(*whole, kPageSize);
  if (!at) return at;
  auto& range = ranges_[*at];
  range.size = size;
  range.pages.resize(static_cast<std::size_t>(*whole / kPageSize));
  return at;
}

ManagedPages::Ranges::iterator ManagedPages::range_of(std::uint64_t address) {
  auto found = ranges_.upper_bound(address);
  if (found == ranges_.begin()) return ranges_.end();
  --found;
  const bool inside = address - found->first < found->second.pages.size() * kPageSize;
  return inside ? found : ranges_.end();
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
  if (auto ok = space_.release(at); !ok) return ok;
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
  if (page.place == Place::kCard) {
    const MutexHolder holder(device_.memory->mutex());
    if (auto ok = space_.unmap({at, kPageSize}); !ok) return ok;
    if (auto ok = space_.release_memory(page.memory); !ok) return ok;
  }
  if (page.frame) frames_.push_back(std::move(page.frame));
  page = {};
  return {};
}

// A block of the card's memory that stays where it is until it is mapped.
Status ManagedPages::take_memory(Page& page, std::uint64_t& place) {
  const MutexHolder holder(device_.memory->mutex());
  const auto memory = space_.create_memory(kPageSize, true);
  if (!memory) return forward_error(memory);
  page.memory = *memory;
  place = device_.memory->physical().find(*memory)->address;
  return {};
}

void ManagedPages::give_memory(Page& page) {
  const MutexHolder holder(device_.memory->mutex());
  static_cast<void>(space_.release_memory(page.memory));
  page.memory = {};
}

Status ManagedPages::bring_to_card(std::uint64_t address) {
  const auto range = range_of(address);
  if (range == ranges_.end()) {
    return fail(ErrorCode::kNotFound, fmt::format("{:#x} is no managed memory", address));
  }
  const std::uint64_t at = align_down(address, kPageSize);
  auto& page = range->second.pages[static_cast<std::size_t>((at - range->first) / kPageSize)];
  if (page.place == Place::kCard) return {};  // it has come since
  std::uint64_t place = 0;
  trace_.begin(ServiceTrace::kAllocate);
  if (auto ok = take_memory(page, place); !ok) return ok;
  if (page.place == Place::kHost) {
    trace_.begin(ServiceTrace::kCopy);
    if (auto ok = mover_.to_card(page.frame->bus(), place, kPageSize); !ok) {
      give_memory(page);
      return ok;
    }
    statistics_.migrated_to_card_bytes += kPageSize;
  }
  trace_.begin(ServiceTrace::kMap);
  {
    const MutexHolder holder(device_.memory->mutex());
    if (auto ok = space_.map_ready(at, page.memory, Access::kReadWrite); !ok) return ok;
    device_.memory->physical().find(page.memory)->pinned = false;
  }
  if (page.frame) frames_.push_back(std::move(page.frame));
  page.place = Place::kCard;
  ++statistics_.faults;
  return {};
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

// The host has touched it: a trap into the operating system.
Status ManagedPages::bring_to_host(std::uint64_t at, Page& page) {
  if (page.place == Place::kHost) return {};
  device_.platform.tasks().system_calls(1);
  ++statistics_.host_faults;
  auto frame = take_frame();
  if (!frame) return forward_error(frame);
  if (page.place == Place::kCard) {
    std::uint64_t place = 0;
    {
      const MutexHolder holder(device_.memory->mutex());
      if (auto ok = space_.unmap({at, kPageSize}); !ok) return ok;
      auto& block = *device_.memory->physical().find(page.memory);
      block.pinned = true;
      place = block.address;
    }
    if (auto ok = mover_.to_host(place, (*frame)->bus(), kPageSize); !ok) return ok;
    give_memory(page);
    statistics_.migrated_to_host_bytes += kPageSize;
  }
  page.frame = std::move(*frame);
  page.place = Place::kHost;
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
