// SPDX-License-Identifier: Apache-2.0
#include "tests/attack/mappings.hpp"

#include <algorithm>

namespace npu::attack {

void Mappings::require(const std::string& call, const Status& status) {
  if (!status) process_.world.find(call + " must succeed: " + text(status));
}

Bytes Mappings::room(unsigned card) const {
  const auto now = process_.card(card).memory_statistics();
  return process_.world.compacts ? now.free : now.largest_free_block;
}

bool Mappings::may_be_full(unsigned card, Bytes room, Bytes pages) const {
  const auto& world = process_.world;
  if (!world.alone || world.occupancy[card].unmovable > 0) return true;
  return room < pages * kPageSize;
}

void Mappings::refused(const char* call, const Error& error, bool full) {
  process_.world.count("refused");
  const bool out_of_memory = error.code == ErrorCode::kOutOfMemory && full;
  if (out_of_memory || error.code == ErrorCode::kOutOfResources) return;
  process_.world.find(fmt::format("{} must succeed: {}", call, error.message()));
}

void Mappings::allocate() {
  auto& space = process_.any_space();
  const Bytes size = process_.any_pages() * kPageSize - process_.random.below(kPageSize);
  const Bytes pages = (size + kPageSize - 1) / kPageSize;
  const bool pinned = process_.random.percent(2);
  const auto free = room(space.card);
  const auto made = space.space->allocate(size, {pinned});
  if (!made) {
    return refused("allocate()", made.error(), may_be_full(space.card, free, pages));
  }
  if (made->size != size || made->reserved != pages * kPageSize) {
    process_.world.find(
        fmt::format("allocate({}) gave {} of {} bytes", size, made->size, made->reserved));
  }
  const auto block =
      std::make_shared<Block>(process_.world.occupancy[space.card], space.card, pages, pinned);
  space.reserved[made->address.value] = {pages, true};
  space.map(made->address.value, pages, block, 0, Access::kReadWrite);
}

void Mappings::free() {
  auto& space = process_.any_space();
  if (space.reserved.empty()) return;
  const auto [at, reservation] = *process_.any(space.reserved);
  if (!reservation.plain) return;
  transfers_.finish();
  const Bytes readable = space.accessible(at, reservation.pages * kPageSize, false);
  if (process_.random.percent(30)) transfers_.verify(space, at, readable);
  require("free()", space.space->free(DeviceAddress{at}));
  space.unmap(at, reservation.pages);
  space.reserved.erase(at);
  process_.keep_stale(DeviceAddress{at});
}

void Mappings::create() {
  auto& space = process_.any_space();
  const Bytes pages = process_.any_pages();
  const bool pinned = process_.random.percent(2);
  const auto free = room(space.card);
  const auto made = space.space->create_memory(pages * kPageSize, {pinned});
  if (!made) {
    return refused("create_memory()", made.error(), may_be_full(space.card, free, pages));
  }
  space.held.push_back({*made, std::make_shared<Block>(process_.world.occupancy[space.card],
                                                       space.card, pages, pinned)});
}

void Mappings::release_memory() {
  auto& space = process_.any_space();
  if (space.held.empty()) return;
  transfers_.finish();
  std::swap(process_.random.in(space.held), space.held.back());
  require("release_memory()", space.space->release_memory(space.held.back().handle));
  process_.keep_stale(space.held.back().handle);
  space.held.pop_back();
}

void Mappings::import_memory() {
  auto& owner = process_.any_space();
  auto& borrower = process_.any_space();
  if (owner.held.empty() || &owner == &borrower) return;
  const auto lent = process_.random.in(owner.held);
  const auto made = borrower.space->import_memory(*owner.space, lent.handle);
  const bool across = borrower.card != owner.card;
  auto wanted = std::string("success");
  auto code = ErrorCode::kInvalidArgument;
  bool right = made.has_value();
  if (across && lent.block->card != owner.card) {
    wanted = "invalid argument (borrowed itself)";
    right = !made && made.error().code == code;
  } else if (borrower.holds(lent.block.get())) {
    wanted = "already exists";
    right = !made && made.error().code == ErrorCode::kAlreadyExists;
  }
  if (!right) process_.world.find("import_memory(): " + wanted + " expected, " + text(made));
  if (!made) return;
  if (across) lent.block->lend();
  if (!across && !(*made == lent.handle)) process_.world.find("import_memory(): another handle");
  borrower.held.push_back({*made, lent.block});
}

void Mappings::reserve() {
  auto& space = process_.any_space();
  const Bytes pages = process_.any_pages() + process_.random.below(8);
  const Bytes alignment = kPageSize << process_.random.below(process_.random.percent(10) ? 20 : 4);
  const auto at = space.space->reserve(pages * kPageSize, alignment);
  if (!at) return require("reserve()", forward_error(at));
  const auto& above = space.reserved.lower_bound(at->value);
  const bool over_next =
      above != space.reserved.end() && above->first < at->value + pages * kPageSize;
  if (at->value % alignment != 0 || over_next || space.range_of(at->value)) {
    process_.world.find(fmt::format("reserve({} pages, {:#x}) gave {:#x}: misaligned or taken",
                                    pages, alignment, at->value));
  }
  space.reserved[at->value] = {pages, false};
}

void Mappings::release() {
  auto& space = process_.any_space();
  if (space.reserved.empty()) return;
  const auto [at, reservation] = *process_.any(space.reserved);
  if (reservation.plain) return;
  const auto first = space.pages.lower_bound(at);
  const bool busy = first != space.pages.end() && first->first < at + reservation.pages * kPageSize;
  const auto status = space.space->release(DeviceAddress{at});
  if (busy) {
    if (!status && status.error().code == ErrorCode::kBusy) return;
    return process_.world.find("release() with mappings: busy expected, " + text(status));
  }
  require("release()", status);
  space.reserved.erase(at);
  process_.keep_stale(DeviceAddress{at});
}

// Free pages of a reservation.
Mappings::Range Mappings::hole(SpaceModel& space) {
  if (space.reserved.empty()) return {};
  const auto [begin, reservation] = *process_.any(space.reserved);
  if (reservation.plain) return {};
  Range range{begin + process_.random.below(reservation.pages) * kPageSize, 0};
  const auto end = begin + reservation.pages * kPageSize;
  while (range.at + range.pages * kPageSize < end &&
         space.pages.count(range.at + range.pages * kPageSize) == 0) {
    ++range.pages;
  }
  return range;
}

void Mappings::map() {
  auto& space = process_.any_space();
  const auto range = hole(space);
  if (range.pages == 0 || space.held.empty()) return;
  const auto memory = process_.random.in(space.held);
  const Bytes offset = process_.random.percent(50) ? 0 : process_.random.below(memory.block->pages);
  Bytes pages = std::min(range.pages, memory.block->pages - offset);
  if (process_.random.percent(30)) pages = 1 + process_.random.below(pages);
  const auto status = space.space->map(DeviceAddress{range.at}, pages * kPageSize, memory.handle,
                                       offset * kPageSize);
  if (!status) return refused("map()", status.error(), false);
  auto access = Access::kNone;
  if (process_.random.percent(80)) {
    access = process_.random.percent(80) ? Access::kReadWrite : Access::kRead;
    require("set_access() of a fresh mapping",
            space.space->set_access(DeviceAddress{range.at}, pages * kPageSize, access));
  }
  space.map(range.at, pages, memory.block, offset, access);
}

// Some pages of a reservation that follow each other and are mapped.
Mappings::Range Mappings::mapped_range(SpaceModel& space) {
  if (space.pages.empty()) return {};
  const auto at = process_.any(space.pages)->first;
  auto above = space.reserved.upper_bound(at);
  --above;
  const auto end = above->first + above->second.pages * kPageSize;
  const Bytes limit = 1 + process_.random.below(12);
  Range range{at, 0};
  while (range.pages < limit && at + range.pages * kPageSize < end &&
         space.pages.count(at + range.pages * kPageSize) != 0) {
    ++range.pages;
  }
  return range;
}

void Mappings::set_access() {
  auto& space = process_.any_space();
  const auto range = mapped_range(space);
  if (range.pages == 0) return;
  transfers_.finish();
  const auto access =
      process_.random.of({Access::kNone, Access::kRead, Access::kReadWrite, Access::kReadWrite});
  const auto status =
      space.space->set_access(DeviceAddress{range.at}, range.pages * kPageSize, access);
  if (!status) return refused("set_access()", status.error(), false);
  space.set_access(range.at, range.pages, access);
}

void Mappings::unmap() {
  auto& space = process_.any_space();
  const auto range = mapped_range(space);
  if (range.pages == 0) return;
  transfers_.finish();
  const auto above = std::prev(space.reserved.upper_bound(range.at));
  const auto status = space.space->unmap(DeviceAddress{range.at}, range.pages * kPageSize);
  if (above->second.plain) {
    if (!status && status.error().code == ErrorCode::kInvalidArgument) return;
    return process_.world.find("unmap() of allocate()'s: invalid argument expected, " +
                               text(status));
  }
  if (!status) return refused("unmap()", status.error(), false);
  space.unmap(range.at, range.pages);
}

void Mappings::open_space() {
  const auto card = static_cast<unsigned>(process_.random.below(process_.world.cards.size()));
  auto made = process_.card(card).create_address_space();
  if (made) {
    process_.spaces.push_back(std::make_unique<SpaceModel>(card, std::move(*made)));
  } else if (made.error().code != ErrorCode::kOutOfResources) {
    process_.world.find("create_address_space(): " + text(made));
  }
}

void Mappings::close_space() {
  if (process_.spaces.size() < 2) return;
  std::swap(process_.random.in(process_.spaces), process_.spaces.back());
  auto& space = *process_.spaces.back();
  if (!space.owned) return;
  transfers_.finish();
  if (space.streams > 0 || process_.random.percent(50)) {
    const auto status = space.space->close();
    if (space.streams > 0) {
      if (!status && status.error().code == ErrorCode::kBusy) return;
      return process_.world.find("close() with streams: busy expected, " + text(status));
    }
    require("close()", status);
    if (space.space->vmid() != 0 || space.space->reserve(kPageSize)) {
      process_.world.find("a closed space is not closed");
    }
  }
  for (const auto& [at, reservation] : space.reserved) process_.keep_stale(DeviceAddress{at});
  for (const auto& held : space.held) process_.keep_stale(held.handle);
  process_.spaces.pop_back();
}

void Mappings::compact() {
  const auto index = static_cast<unsigned>(process_.random.below(process_.world.cards.size()));
  auto& card = process_.card(index);
  const auto before = card.memory_statistics();
  if (before.free == 0) return;
  const Bytes wanted = process_.random.percent(30)
                           ? before.free
                           : (1 + process_.random.below(before.free / kPageSize)) * kPageSize;
  const auto report = card.compact(wanted);
  if (!report) {
    const bool full = may_be_full(index, before.free, wanted / kPageSize);
    if (report.error().code == ErrorCode::kOutOfMemory && full) return;
    return process_.world.find(
        fmt::format("compact({}) with {} free: {}", wanted, before.free, text(report)));
  }
  if (!process_.world.alone) return;
  const auto after = card.memory_statistics();
  if (after.largest_free_block < wanted || after.free != before.free || after.quarantined != 0) {
    process_.world.find(fmt::format("compact({}) left {} in one piece, {} of {} free", wanted,
                                    after.largest_free_block, after.free, before.free));
  }
}

void Mappings::look() {
  auto& space = process_.any_space();
  auto& random = process_.random;
  std::uint64_t address = random.bits();
  if (!space.reserved.empty() && random.percent(95)) {
    const auto [at, reservation] = *process_.any(space.reserved);
    address = at - kPageSize + random.below((reservation.pages + 2) * kPageSize);
  } else if (!process_.stale_addresses.empty()) {
    address = random.in(process_.stale_addresses).value;
  }
  const auto found = space.space->range_of(DeviceAddress{address});
  const auto wanted = space.range_of(address);
  bool same = found.has_value() == wanted.has_value();
  if (found && wanted) {
    same = found->reservation == wanted->reservation && found->reserved == wanted->reserved &&
           found->mapped == wanted->mapped && found->begin == wanted->begin &&
           found->size == wanted->size && found->offset == wanted->offset &&
           found->access == wanted->access &&
           (wanted->memory == MemoryHandle{} || found->memory == wanted->memory);
  }
  if (same) return;
  const auto describe = [](const std::optional<driver::AddressRange>& range) {
    if (!range) return std::string("nothing");
    return fmt::format(
        "reservation {:#x}+{:#x}, mapping {:#x}+{:#x} of memory {}.{} from {:#x}, "
        "access {}",
        range->reservation.value, range->reserved, range->begin.value, range->size,
        range->memory.index, range->memory.generation, range->offset, int(range->access));
  };
  process_.world.find(fmt::format("range_of({:#x}): {} expected, {} found", address,
                                  describe(wanted), describe(found)));
}

void Mappings::verify_held(SpaceModel& space) {
  for (const auto& held : space.held) {
    const auto size = held.block->pages * kPageSize;
    const auto at = space.space->reserve(size);
    if (!at) return require("reserve() to read back", forward_error(at));
    const auto mapped = space.space->map(*at, size, held.handle);
    if (mapped) {
      require("set_access()", space.space->set_access(*at, size, Access::kRead));
      space.map(at->value, held.block->pages, held.block, 0, Access::kRead);
      transfers_.verify(space, at->value, size);
      require("unmap()", space.space->unmap(*at, size));
      space.unmap(at->value, held.block->pages);
    } else {
      refused("map() to read back", mapped.error(), false);
    }
    require("release()", space.space->release(*at));
  }
}

void Mappings::verify_all() {
  for (auto& space : process_.spaces) {
    for (auto page = space->pages.begin(); page != space->pages.end();) {
      const auto at = page->first;
      const Bytes size = space->accessible(at, Bytes{1} << 40, false);
      if (size > 0) transfers_.verify(*space, at, size);
      page = size > 0 ? space->pages.lower_bound(at + size) : std::next(page);
    }
    verify_held(*space);
  }
}

void Mappings::clear(SpaceModel& space) {
  while (!space.reserved.empty()) {
    const auto [at, reservation] = *space.reserved.begin();
    if (reservation.plain) {
      require("free()", space.space->free(DeviceAddress{at}));
      space.unmap(at, reservation.pages);
    } else {
      for (Bytes i = 0; i < reservation.pages; ++i) {
        if (space.pages.count(at + i * kPageSize) == 0) continue;
        require("unmap()", space.space->unmap(DeviceAddress{at + i * kPageSize}, kPageSize));
        space.unmap(at + i * kPageSize, 1);
      }
      require("release()", space.space->release(DeviceAddress{at}));
    }
    space.reserved.erase(at);
  }
  for (const auto& held : space.held) {
    require("release_memory()", space.space->release_memory(held.handle));
  }
  space.held.clear();
}

void Mappings::give_back_all() {
  for (auto& space : process_.spaces) {
    if (!space->owned || process_.random.percent(50)) clear(*space);
    if (space->owned) require("close()", space->space->close());
  }
  process_.spaces.clear();
}

}  // namespace npu::attack
