// SPDX-License-Identifier: Apache-2.0
#include "driver/vfio/bus_space.hpp"

#include <algorithm>

#include "npu/base/checked.hpp"

namespace npu::driver::vfio {
namespace {

constexpr std::uint64_t kFirstUsable = 4096;

// Nothing: there is no address behind it.
std::optional<std::uint64_t> end_of(const std::pair<const std::uint64_t, Bytes>& taken) {
  return checked_add(taken.first, taken.second);
}

}  // namespace

std::optional<std::uint64_t> BusSpace::take(Bytes size, Bytes alignment) {
  auto found = find(preferred_, size, alignment);
  if (!found) found = find(kFirstUsable, size, alignment);
  if (found) taken_[*found] = size;
  return found;
}

void BusSpace::give_back(std::uint64_t address) {
  taken_.erase(address);
}

std::optional<std::uint64_t> BusSpace::find(std::uint64_t from, Bytes size, Bytes alignment) const {
  for (const auto& range : ranges_) {
    if (range.last < from) continue;
    const auto found = find_in({std::max(range.first, from), range.last}, size, alignment);
    if (found) return found;
  }
  return std::nullopt;
}

// The lowest gap between what is taken.
std::optional<std::uint64_t> BusSpace::find_in(BusRange range, Bytes size, Bytes alignment) const {
  auto next = taken_.upper_bound(range.first);
  std::optional<std::uint64_t> from = range.first;
  if (next != taken_.begin()) {
    const auto end = end_of(*std::prev(next));
    if (!end) return std::nullopt;
    from = std::max(range.first, *end);
  }
  while (from) {
    const auto address = checked_align_up(*from, alignment);
    if (!address || *address > range.last || size - 1 > range.last - *address) return std::nullopt;
    if (next == taken_.end() || *address + (size - 1) < next->first) return address;
    from = end_of(*next);
    ++next;
  }
  return std::nullopt;
}

}  // namespace npu::driver::vfio
