// SPDX-License-Identifier: Apache-2.0
// Space: reservations and mappings.
#include "driver/memory/space.hpp"

#include <fmt/format.h>

#include "npu/base/checked.hpp"

namespace npu::driver {
namespace {

PageAccess page_access(Access access) {
  return {access != Access::kNone, access == Access::kReadWrite};
}

}  // namespace

Result<std::unique_ptr<Space>> Space::create(unsigned vmid, PhysicalMemory& physical,
                                             TableMemory& tables, Invalidator& invalidator) {
  auto own = PageTables::create(tables);
  if (!own) return forward_error(own);
  tables.barrier();
  tables.write_context(vmid, abi::ContextEntry::root(own->root_address()));
  tables.barrier();
  return std::unique_ptr<Space>(new Space(vmid, physical, tables, std::move(*own), invalidator));
}

std::string Space::place(std::uint64_t at) const {
  return fmt::format("device address {:#x} of VMID {}", at, vmid_);
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
  const auto first = mappings_.lower_bound(at);
  if (first != mappings_.end() && first->first - at < reservation->size) {
    return fail(ErrorCode::kBusy, fmt::format("the reservation at {} has a mapping at {:#x}",
                                              place(at), first->first));
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

// The mapping that contains `at`, or end().
Space::Mappings::const_iterator Space::mapping_at(std::uint64_t at) const {
  auto above = mappings_.upper_bound(at);
  if (above == mappings_.begin()) return mappings_.end();
  --above;
  return at - above->first < above->second.size ? above : mappings_.end();
}

Status Space::check_mapped(const PageRange& range) const {
  if (auto ok = check_range(range); !ok) return ok;
  auto mapping = mapping_at(range.at);
  std::uint64_t at = range.at;
  for (const auto end = range.at + range.size; at < end; ++mapping) {
    if (mapping == mappings_.end() || mapping->first > at) {
      return fail(ErrorCode::kInvalidArgument, fmt::format("nothing is mapped at {}", place(at)));
    }
    at = mapping->first + mapping->second.size;
  }
  return {};
}

Status Space::map(const PageRange& range, MemoryHandle memory, Bytes offset) {
  if (auto ok = check_range(range); !ok) return ok;
  if (ranges_.containing(range.at)->second.plain) {
    return fail(ErrorCode::kBusy, fmt::format("{} belongs to allocate()", place(range.at)));
  }
  if (auto ok = check_held(memory); !ok) return ok;
  const auto size = physical_.find(memory)->size;
  if (!is_aligned(offset, kPageSize) || !range_fits(offset, range.size, size)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("mapping {} bytes from {:#x} of memory of {} bytes at {}", range.size,
                            offset, size, place(range.at)));
  }
  auto next = mapping_at(range.at);
  if (next == mappings_.end()) next = mappings_.lower_bound(range.at);
  if (next != mappings_.end() && next->first < range.at + range.size) {
    return fail(ErrorCode::kBusy, fmt::format("{} bytes at {}: {:#x} is mapped", range.size,
                                              place(range.at), next->first));
  }
  const Mapping mapping{range.size, memory, offset, Access::kNone};
  if (auto ok = write_tables(range, mapping); !ok) return ok;
  mappings_[range.at] = mapping;
  physical_.add_mapping(memory);
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

// Afterwards no mapping extends over `at`.
void Space::cut_mapping(std::uint64_t at) {
  const auto found = mapping_at(at);
  if (found == mappings_.end() || found->first == at) return;
  auto& lower = mappings_[found->first];
  Mapping upper = lower;
  lower.size = at - found->first;
  upper.size -= lower.size;
  upper.offset += lower.size;
  physical_.add_mapping(upper.memory);
  mappings_[at] = upper;
}

Status Space::set_access(const PageRange& range, Access access) {
  if (auto ok = check_mapped(range); !ok) return ok;
  if (auto ok = tables_.cut(range); !ok) return ok;
  tables_.protect(range, page_access(access));
  if (auto ok = invalidate(range); !ok) return ok;
  cut_mapping(range.at);
  cut_mapping(range.at + range.size);
  const auto end = mappings_.lower_bound(range.at + range.size);
  for (auto it = mappings_.lower_bound(range.at); it != end; ++it) it->second.access = access;
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
  cut_mapping(range.at);
  cut_mapping(range.at + range.size);
  const auto first = mappings_.lower_bound(range.at);
  const auto end = mappings_.lower_bound(range.at + range.size);
  for (auto it = first; it != end; ++it) physical_.remove_mapping(it->second.memory);
  mappings_.erase(first, end);
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
  const auto mapping = mapping_at(address);
  if (mapping == mappings_.end()) return result;
  result.mapped = true;
  result.begin = DeviceAddress{mapping->first};
  result.size = mapping->second.size;
  result.memory = mapping->second.memory;
  result.offset = mapping->second.offset;
  result.access = mapping->second.access;
  return result;
}

}  // namespace npu::driver
