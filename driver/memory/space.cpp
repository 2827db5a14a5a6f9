// SPDX-License-Identifier: Apache-2.0
#include "driver/memory/space.hpp"

#include <fmt/format.h>

#include "npu/base/checked.hpp"

namespace npu::driver {
namespace {

PageAccess page_access(Access access) {
  return {access != Access::kNone, access == Access::kReadWrite};
}

}  // namespace

Result<std::unique_ptr<Space>> Space::create(unsigned vmid, std::unique_ptr<AddressWindow> window,
                                             PhysicalMemory& physical, TableMemory& tables,
                                             Invalidator& invalidator) {
  auto own = PageTables::create(tables);
  if (!own) return forward_error(own);
  tables.barrier();
  tables.write_context(vmid, abi::ContextEntry::root(own->root_address()));
  tables.barrier();
  return std::unique_ptr<Space>(
      new Space(vmid, std::move(window), physical, tables, std::move(*own), invalidator));
}

std::string Space::place(std::uint64_t at) const {
  return fmt::format("device address {:#x} of VMID {}", at, vmid_);
}

Result<DeviceMemory> Space::allocate(Bytes size, bool pinned) {
  if (size == 0) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("VMID {}: allocation of 0 bytes", vmid_));
  }
  const auto memory = physical_.create(size, pinned, vmid_);
  if (!memory) return forward_error(memory);
  const auto reserved = physical_.find(*memory)->size;
  const auto at = ranges_.reserve(reserved, kPageSize, true);
  if (!at) {
    physical_.release(*memory, vmid_);
    return fail(at.error().code, fmt::format("VMID {}: {}", vmid_, at.error().context));
  }
  const Mapping mapping{reserved, *memory, 0, Access::kReadWrite};
  if (auto ok = write_tables({*at, reserved}, mapping); !ok) {
    ranges_.release(*at);
    physical_.release(*memory, vmid_);
    return forward_error(ok);
  }
  // From now on the mapping alone keeps the block.
  mappings_.add(*at, mapping);
  physical_.release(*memory, vmid_);
  return DeviceMemory{DeviceAddress{*at}, size, reserved};
}

Status Space::free(std::uint64_t at) {
  const auto* reservation = ranges_.find(at);
  if (!reservation || !reservation->plain) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("no allocation begins at {}", place(at)));
  }
  if (auto ok = drop({at, reservation->size}); !ok) return ok;
  ranges_.release(at);
  return {};
}

Result<std::uint64_t> Space::reserve(Bytes size, Bytes alignment) {
  if (size == 0 || !is_aligned(size, kPageSize)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("VMID {}: a reservation of {} bytes, sizes are multiples of {}", vmid_,
                            size, kPageSize));
  }
  if (!is_power_of_two(alignment) || alignment < kPageSize) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("VMID {}: alignment {:#x} is no power of two of at least {}", vmid_,
                            alignment, kPageSize));
  }
  const auto at = ranges_.reserve(size, alignment, false);
  if (!at) {
    return fail(at.error().code, fmt::format("VMID {}: {}", vmid_, at.error().context));
  }
  return at;
}

Status Space::release(std::uint64_t at) {
  const auto* reservation = ranges_.find(at);
  if (!reservation || reservation->plain) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("no reservation begins at {}", place(at)));
  }
  if (const auto mapped = mappings_.first_in({at, reservation->size})) {
    return fail(ErrorCode::kBusy,
                fmt::format("the reservation at {} has a mapping at {:#x}", place(at), *mapped));
  }
  ranges_.release(at);
  return {};
}

Status Space::check_range(const PageRange& range) const {
  if (range.size == 0 || !is_aligned(range.at | range.size, kPageSize)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} bytes at {}: not whole pages of {} bytes", range.size,
                            place(range.at), kPageSize));
  }
  const auto reservation = ranges_.containing(range.at);
  if (reservation == ranges_.end() ||
      !range_fits(range.at - reservation->first, range.size, reservation->second.size)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} bytes at {} lie in no reservation", range.size, place(range.at)));
  }
  return {};
}

Status Space::check_mapped(const PageRange& range) const {
  if (auto ok = check_range(range); !ok) return ok;
  if (const auto gap = mappings_.first_gap(range)) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("nothing is mapped at {}", place(*gap)));
  }
  return {};
}

Status Space::map(const PageRange& range, MemoryHandle memory, Bytes offset, Access access) {
  if (auto ok = check_range(range); !ok) return ok;
  if (ranges_.containing(range.at)->second.plain) {
    return fail(ErrorCode::kBusy, fmt::format("{} belongs to allocate()", place(range.at)));
  }
  if (auto ok = held_.check(memory); !ok) return ok;
  const auto size = physical_.find(memory)->size;
  if (!is_aligned(offset, kPageSize) || !range_fits(offset, range.size, size)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("mapping {} bytes from {:#x} of memory of {} bytes at {}", range.size,
                            offset, size, place(range.at)));
  }
  if (const auto mapped = mappings_.first_in(range)) {
    return fail(ErrorCode::kBusy, fmt::format("{} bytes at {}: {:#x} is mapped", range.size,
                                              place(range.at), *mapped));
  }
  const Mapping mapping{range.size, memory, offset, access};
  if (auto ok = write_tables(range, mapping); !ok) return ok;
  mappings_.add(range.at, mapping);
  return {};
}

Status Space::write_tables(const PageRange& range, const Mapping& mapping) {
  const auto& block = *physical_.find(mapping.memory);
  const auto access = page_access(mapping.access);
  if (!block.is_split() || mapping.offset + range.size <= block.head) {
    return tables_.map(range, block.address + mapping.offset, access);
  }
  if (mapping.offset >= block.head) {
    return tables_.map(range, block.rest + (mapping.offset - block.head), access);
  }
  const PageRange lower{range.at, block.head - mapping.offset};
  const PageRange upper{range.at + lower.size, range.size - lower.size};
  if (auto ok = tables_.map(lower, block.address + mapping.offset, access); !ok) return ok;
  auto ok = tables_.map(upper, block.rest, access);
  if (!ok) tables_.unmap(lower);
  return ok;
}

Status Space::set_access(const PageRange& range, Access access) {
  if (auto ok = check_mapped(range); !ok) return ok;
  if (auto ok = tables_.cut(range); !ok) return ok;
  tables_.protect(range, page_access(access));
  if (auto ok = invalidate(range); !ok) return ok;
  mappings_.set_access(range, access);
  return {};
}

Status Space::unmap(const PageRange& range) {
  if (auto ok = check_mapped(range); !ok) return ok;
  if (ranges_.containing(range.at)->second.plain) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} belongs to allocate(); free() gives it back", place(range.at)));
  }
  return drop(range);
}

// The books change only when the card has let go, so that a failed attempt can be repeated.
Status Space::drop(const PageRange& range) {
  if (auto ok = tables_.cut(range); !ok) return ok;
  tables_.unmap(range);
  if (auto ok = invalidate(range); !ok) return ok;
  mappings_.remove(range);
  return {};
}

Status Space::invalidate(const PageRange& range) {
  if (invalidation_failed_) return invalidate_all();
  const auto status = invalidator_.range(vmid_, range.at, range.size);
  invalidation_failed_ = !status;
  if (status) tables_.recycle();
  return status;
}

Status Space::invalidate_all() {
  const auto status = invalidator_.space(vmid_);
  invalidation_failed_ = !status;
  if (status) tables_.recycle();
  return status;
}

std::optional<AddressRange> Space::range_of(std::uint64_t address) const {
  const auto reservation = ranges_.containing(address);
  AddressRange result;
  if (reservation == ranges_.end()) {
    auto above = managed_.upper_bound(address);
    if (above == managed_.begin()) return std::nullopt;
    --above;
    if (address - above->first >= above->second) return std::nullopt;
    result.reservation = DeviceAddress{above->first};
    result.reserved = above->second;
    return result;
  }
  result.reservation = DeviceAddress{reservation->first};
  result.reserved = reservation->second.size;
  const auto mapping = mappings_.find(address);
  if (mapping == mappings_.end()) return result;
  result.mapped = true;
  result.begin = DeviceAddress{mapping->first};
  result.size = mapping->second.size;
  result.memory = mapping->second.memory;
  result.offset = mapping->second.offset;
  result.access = mapping->second.access;
  return result;
}

std::size_t Space::tables_to_remap(const std::vector<std::vector<std::uint64_t>>& targets) const {
  std::size_t needed = 0;
  for (const auto& [at, mapping] : mappings_) {
    auto places = targets[mapping.memory.index];
    for (auto& place : places) place += mapping.offset;
    if (!places.empty()) needed += tables_.tables_to_move({at, mapping.size}, places);
  }
  return needed;
}

Status Space::remap(const std::vector<bool>& moved, bool& changed) {
  Status status;
  for (const auto& [at, mapping] : mappings_) {
    if (!moved[mapping.memory.index]) continue;
    changed = true;
    if (auto ok = write_tables({at, mapping.size}, mapping); !ok && status) status = ok;
  }
  return status;
}

Status Space::prepare_managed(const PageRange& range) {
  if (auto ok = tables_.prepare(range); !ok) {
    return fail(ok.error().code, fmt::format("VMID {}: {}", vmid_, ok.error().context));
  }
  managed_[range.at] = range.size;
  return {};
}

Status Space::release_managed(const PageRange& range) {
  tables_.forget(range);
  managed_.erase(range.at);
  return invalidate(range);
}

Status Space::tear_down(bool card_usable) {
  if (card_usable) {
    table_memory_.write_context(vmid_, {});
    if (auto ok = invalidate_all(); !ok) return ok;
  }
  mappings_.clear();
  held_.release_all();
  tables_.destroy();
  return {};
}

}  // namespace npu::driver
