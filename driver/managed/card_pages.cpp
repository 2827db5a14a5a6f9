// SPDX-License-Identifier: Apache-2.0
#include "driver/managed/card_pages.hpp"

#include <fmt/format.h>

#include <utility>

#include "npu/base/checked.hpp"

namespace npu::driver {

// --- To the card ------------------------------------------------------------------------------

// What is only on another card comes from there, or by way of the host; who writes gets the page
// for himself.
Result<bool> CardPages::take_from_others(std::uint64_t at, ManagedPage& page, bool write,
                                         std::uint32_t slot) {
  if (page.read_mostly && !write) {
    auto ok = all_.hold_copy(at, page);
    return ok ? Result<bool>(false) : forward_error(ok);
  }
  const auto moved = take_directly(at, page, slot);
  if (moved && *moved) return moved;
  auto ok = all_.revoke_others(at, page, card_);
  return ok ? Result<bool>(false) : forward_error(ok);
}

// A link that fails meanwhile is gone round.
Status CardPages::copy_from(const CardPages& other, LocalAddress from, LocalAddress to) {
  const auto link = ways_.over_link(other.link(), other.gate(), from);
  if (link) {
    auto ok = mover_.from_peer(*link, to, kPageSize);
    if (ok) ok = mover_.wait();
    if (ok) {
      statistics().migrated_over_links_bytes += kPageSize;
      return ok;
    }
  }
  const auto bus = ways_.over_bus(other.link());
  if (!bus) return fail(ErrorCode::kDeviceFault, "no way to the other card any more");
  auto ok = mover_.to_card(*bus + from.value, to, kPageSize);
  return ok ? mover_.wait() : ok;
}

// The card reads the page out of the memory of the one card that has all of it, unless the frame
// holds the same. What fails has left it where it was.
Result<bool> CardPages::take_directly(std::uint64_t at, ManagedPage& page, std::uint32_t slot) {
  const unsigned holder = page.holder();
  if (page.host || holder == page.cards.size() || page.cards[holder].parts) return false;
  auto& other = *all_.cards()[holder];
  if (!other.usable()) return false;
  if (!ways_.over_link(other.link(), other.gate(), {}) && !ways_.over_bus(other.link()))
    return false;
  const auto written = other.stop_using(at, page);
  if (!written) return written;
  if (!*written && page.same) {
    statistics().dropped_bytes += kPageSize;
    other.forget(page);
    page.host = true;
    return false;
  }
  trace_.begin(ServiceTrace::kCopy);
  const Instant begin = link_.clock().now();
  auto ok = copy_from(other, other.memory_of(page), paging_.slots()[slot].address);
  statistics().copying_between_cards += link_.clock().now() - begin;
  if (!ok) return forward_error(ok);
  statistics().migrated_between_cards_bytes += kPageSize;
  other.forget(page);
  return true;
}

Result<CardPages::Brought> CardPages::migrate_in(std::uint64_t address, bool write,
                                                 std::uint32_t slot) {
  const std::uint64_t at = align_down(address, kPageSize);
  auto* const page = find(address);
  if (page == nullptr) {
    return fail(ErrorCode::kNotFound, fmt::format("{:#x} is no managed memory", address));
  }
  auto& mine = own(*page);
  Brought brought;
  brought.was_there = mine.there();
  if (brought.was_there) {
    // Not mapped: its way home has failed.
    const auto ok = write && !mine.writable ? take_exclusive(at, *page)
                    : mine.mapped           ? put_right(at, *page)
                                            : publish(at, *page);
    if (!ok) return forward_error(ok);
    return brought;  // or it has come since
  }
  auto room = make_room();
  if (!room) return forward_error(room);
  limit_host(at, *page, write);
  costs_.meet(mine);
  const auto moved = take_from_others(at, *page, write, slot);
  if (!moved) return forward_error(moved);
  if (page->host) {
    prepare_copy(*page, page->read_mostly && !write);
    trace_.begin(ServiceTrace::kCopy);
    const Instant begin = link_.clock().now();
    auto ok = mover_.to_card(page->frame->bus(link_), paging_.slots()[slot].address, kPageSize);
    if (ok) ok = mover_.wait();
    statistics().copying_to_card += link_.clock().now() - begin;
    if (!ok) return forward_error(ok);
  }
  install(at, *page, slot, write, *moved);
  commit_charge(*room);
  ++statistics().faults;
  if (page->evicted) ++statistics().thrash;
  mine.mapped = true;
  brought.entry = all_.entry_of(at, card_);
  brought.value = value_of(*page);
  return brought;
}

// The client's pages that came first go if its quota is used up.
Result<PageRoom> CardPages::make_room() {
  auto* const quota = space_quota_.get();
  if (quota == nullptr) return PageRoom();
  auto& slots = paging_.slots();
  while (!quota->charge(kPageSize, MemoryQuota::Kind::kManaged, false)) {
    const auto oldest = slots.oldest(slots.now(), this);
    if (oldest == abi::kNoSlot) {
      quota->count_refusal();
      return fail(ErrorCode::kOutOfMemory,
                  fmt::format("a managed page over the client's quota of {}", quota->limit()));
    }
    if (auto ok = evict(oldest); !ok) return forward_error(ok);
  }
  return PageRoom(*quota);
}

// The host does not write what is on its way; of read mostly it keeps a copy.
void CardPages::limit_host(std::uint64_t at, ManagedPage& page, bool write) {
  all_.limit_view(at, page, page.read_mostly && !write ? Access::kRead : Access::kNone);
}

// The page's bytes are in the slot, or come there part by part.
void CardPages::install(std::uint64_t at, ManagedPage& page, std::uint32_t slot, bool write,
                        bool moved) {
  auto& mine = own(page);
  const Bytes come = mine.bytes();
  if (!moved) {
    (page.host ? statistics().migrated_to_card_bytes : statistics().created_on_card_bytes) += come;
  }
  statistics().resident_bytes += come;
  page.same = page.host;
  if (write) page.read_mostly = false;
  // What is made there has to come home anyway.
  mine.writable = !page.read_mostly && (write || !page.same || paging_.tells_writes());
  page.host = page.host && page.read_mostly;
  mine.slot = slot;
  paging_.slots().fill(slot, *this, at);
}

// The card wants what it has. It may have asked before that came; when it asks again, what it was
// told of the page has been lost, while it decoded no memory.
Status CardPages::put_right(std::uint64_t at, ManagedPage& page) {
  auto& mine = own(page);
  if (++mine.futile < 2) return {};
  mine.futile = 0;
  if (const auto dirty = unmap(at, page); !dirty) return forward_error(dirty);
  page.same = false;
  return publish(at, page);
}

Status CardPages::publish(std::uint64_t at, ManagedPage& page) {
  auto& mine = own(page);
  if (mine.parts) paging_.show_parts(mine.slot, *mine.parts);
  auto ok = paging_.map(mine.slot, all_.entry_of(at, card_), value_of(page));
  mine.mapped = static_cast<bool>(ok);
  mine.futile = 0;
  return ok;
}

Status CardPages::migrate_parts_in(std::uint64_t at, const PageParts& touched, bool write,
                                   std::uint32_t slot, unsigned density) {
  auto& page = page_of(at);
  auto& mine = own(page);
  if (!mine.there()) {
    auto room = make_room();
    if (!room) return forward_error(room);
    limit_host(at, page, write);
    costs_.meet(mine);
    const auto moved = take_from_others(at, page, write, slot);
    if (!moved) return forward_error(moved);
    if (page.host) {
      prepare_copy(page, page.read_mostly && !write);
      mine.parts = std::make_unique<PageParts>();
    }
    install(at, page, slot, write, *moved);
    commit_charge(*room);
    if (page.evicted) ++statistics().thrash;
  } else {
    paging_.slots().renew(mine.slot);
    if (write && !mine.writable) {
      if (auto ok = take_exclusive(at, page); !ok) return ok;
    }
  }
  ++statistics().faults;
  bool all_there = true;
  if (mine.parts) {
    const auto missing = wanted_parts(touched, *mine.parts, density) & ~*mine.parts;
    all_there = (touched & ~*mine.parts).none();
    if (auto ok = fetch_parts(page, missing); !ok) return ok;
  }
  trace_.begin(ServiceTrace::kMap);
  if (!mine.mapped) return publish(at, page);
  if (all_there) return put_right(at, page);
  mine.futile = 0;
  return {};
}

// From the frame; the card may use them at once.
Status CardPages::fetch_parts(ManagedPage& page, const PageParts& missing) {
  if (missing.none()) return {};
  trace_.begin(ServiceTrace::kCopy);
  const Instant begin = link_.clock().now();
  Status status;
  auto& mine = own(page);
  const auto memory = paging_.slots()[mine.slot].address;
  for_each_run(missing, [&](unsigned first, unsigned count) {
    const Bytes offset = Bytes{first} << abi::kPartShift;
    const platform::BusAddress from{page.frame->bus(link_).value + offset};
    if (status) status = mover_.to_card(from, memory + offset, Bytes{count} << abi::kPartShift);
  });
  auto moved = mover_.wait();
  statistics().copying_to_card += link_.clock().now() - begin;
  if (!status) return status;
  if (!moved) return moved;
  const Bytes bytes = missing.count() << abi::kPartShift;
  statistics().migrated_to_card_bytes += bytes;
  statistics().resident_bytes += bytes;
  *mine.parts |= missing;
  if (mine.mapped) paging_.show_parts(mine.slot, *mine.parts);
  return {};
}

// The card writes what it could only read: other copies go.
Status CardPages::take_exclusive(std::uint64_t at, ManagedPage& page) {
  trace_.begin(ServiceTrace::kInvalidate);
  if (const auto dirty = unmap(at, page); !dirty) return forward_error(dirty);
  all_.limit_view(at, page, Access::kNone);
  if (auto ok = all_.revoke_others(at, page, card_); !ok) return ok;
  costs_.take_from_program(page);
  trace_.begin(ServiceTrace::kMap);
  page.host = page.read_mostly = false;
  own(page).writable = true;
  ++statistics().upgrades;
  return publish(at, page);
}

Status CardPages::create(std::uint64_t at) {
  auto& page = page_of(at);
  if (page.touched()) return {};
  if (exposed_.in_place()) {
    auto ok = all_.hold_copy(at, page);
    return ok ? all_.expose(at, page) : ok;
  }
  auto room = make_room();
  if (!room) return forward_error(room);
  const auto slot = paging_.take();
  if (!slot) return forward_error(slot);
  costs_.meet(own(page));
  install(at, page, *slot, true);
  commit_charge(*room);
  return publish(at, page);
}

Result<std::uint64_t> CardPages::migrate_run_in(std::uint64_t first, std::uint64_t count) {
  std::vector<std::uint32_t> slots;
  std::vector<PageRoom> rooms;
  const Instant begin = link_.clock().now();
  Status status;
  bool programs = false;  // a program has had one
  costs_.lock();
  while (status && slots.size() < count) {
    auto room = make_room();
    if (!room && slots.empty()) return forward_error(room);
    if (!room) break;
    const auto slot = paging_.take();
    if (!slot && slots.empty()) return forward_error(slot);
    if (!slot) break;
    rooms.push_back(std::move(*room));
    auto& page = page_of(first + slots.size() * kPageSize);
    limit_host(first + slots.size() * kPageSize, page, !page.read_mostly);
    slots.push_back(*slot);
    if (!page.read_mostly) programs = costs_.unmap(page) || programs;
    costs_.meet(own(page));
    costs_.map_for(own(page));
    status = mover_.to_card(page.frame->bus(link_), paging_.slots()[*slot].address, kPageSize);
  }
  if (programs) costs_.forget();
  auto moved = mover_.wait();
  if (status) status = std::move(moved);
  statistics().copying_to_card += link_.clock().now() - begin;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (!status) {
      paging_.give(slots[i]);
      continue;
    }
    const std::uint64_t at = first + i * kPageSize;
    auto& page = page_of(at);
    install(at, page, slots[i], !page.read_mostly);
    commit_charge(rooms[i]);
    ++statistics().prefetched;
    status = publish(at, page);
  }
  if (!status) return forward_error(status);
  return slots.size();
}

// --- To the host ------------------------------------------------------------------------------

// Whether it was written since it was mapped.
Result<bool> CardPages::unmap(std::uint64_t at, ManagedPage& page) {
  auto& mine = own(page);
  if (!mine.mapped) return true;
  const auto written = paging_.unmap(mine.slot, all_.entry_of(at, card_));
  if (!written) return written;
  mine.mapped = false;
  return *written && mine.writable;
}

void CardPages::leave_slot(ManagedPage& page) {
  auto& mine = own(page);
  statistics().resident_bytes -= mine.bytes();
  mine.parts.reset();
  uncount();
  paging_.give(std::exchange(mine.slot, abi::kNoSlot));
}

Status CardPages::migrate_out(std::uint32_t slot, bool dirty) {
  const std::uint64_t at = paging_.slots()[slot].at;
  auto& page = page_of(at);
  auto& mine = own(page);
  mine.mapped = false;
  return leave_in_run(at, 1, {dirty && mine.writable});
}

// Pages that nobody on the card uses any more, `dirty` by their numbers.
Status CardPages::leave_in_run(std::uint64_t first, std::uint64_t count,
                               const std::vector<bool>& dirty) {
  const Instant begin = link_.clock().now();
  Status status;
  std::vector<bool> copied(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < copied.size() && status; ++i) {
    auto& page = page_of(first + i * kPageSize);
    copied[i] = !page.host && (dirty[i] || !page.same);
    if (!copied[i]) continue;
    status = all_.own_frame(first + i * kPageSize, page, own(page).parts != nullptr);
    if (!status) break;
    status = copy_home(page);
  }
  auto moved = mover_.wait();
  statistics().copying_to_host += link_.clock().now() - begin;
  if (!status) return status;
  if (!moved) return moved;
  for (std::size_t i = 0; i < copied.size(); ++i) {
    auto& page = page_of(first + i * kPageSize);
    (copied[i] ? statistics().migrated_to_host_bytes : statistics().dropped_bytes) +=
        own(page).bytes();
    page.host = true;
    page.thrash.left(link_.clock().now());
    leave_slot(page);
  }
  return {};
}

// Begins it.
Status CardPages::copy_home(const ManagedPage& page) {
  const auto& mine = own(page);
  const auto memory = paging_.slots()[mine.slot].address;
  const auto frame = page.frame->bus(link_);
  if (!mine.parts) return mover_.to_host(memory, frame, kPageSize);
  Status status;
  for_each_run(*mine.parts, [&](unsigned first, unsigned count) {
    const Bytes offset = Bytes{first} << abi::kPartShift;
    const platform::BusAddress to{frame.value + offset};
    if (status) status = mover_.to_host(memory + offset, to, Bytes{count} << abi::kPartShift);
  });
  return status;
}

Status CardPages::fetch_run(std::uint64_t first, std::uint64_t count) {
  std::vector<bool> dirty;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = first + i * kPageSize;
    const auto written = unmap(at, page_of(at));
    if (!written) return forward_error(written);
    dirty.push_back(*written);
  }
  return leave_in_run(first, count, dirty);
}

}  // namespace npu::driver
