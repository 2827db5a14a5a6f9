// SPDX-License-Identifier: Apache-2.0
#include "tests/attack/reference.hpp"

#include <algorithm>

namespace npu::attack {

bool SpaceModel::holds(const Block* block) const {
  return std::any_of(held.begin(), held.end(),
                     [block](const Held& one) { return one.block.get() == block; });
}

MemoryHandle SpaceModel::handle_of(const Block* block) const {
  for (const auto& one : held) {
    if (one.block.get() == block) return one.handle;
  }
  return {};  // released meanwhile, or of allocate()
}

Bytes SpaceModel::accessible(std::uint64_t at, Bytes limit, bool write) const {
  Bytes size = 0;
  while (size < limit) {
    const auto begin = (at + size) / kPageSize * kPageSize;
    const auto page = pages.find(begin);
    if (page == pages.end() || page->second.access == Access::kNone) break;
    if (write && page->second.access != Access::kReadWrite) break;
    size = begin + kPageSize - at;
  }
  return std::min(size, limit);
}

std::vector<Piece> SpaceModel::pieces(std::uint64_t at, Bytes size) const {
  std::vector<Piece> result;
  while (size > 0) {
    const Bytes inside = at % kPageSize;
    const Bytes piece = std::min(size, kPageSize - inside);
    const auto& page = pages.at(at - inside);
    result.push_back({page.block.get(), page.index * kPageSize + inside, piece});
    at += piece;
    size -= piece;
  }
  return result;
}

std::optional<driver::AddressRange> SpaceModel::range_of(std::uint64_t address) const {
  auto above = reserved.upper_bound(address);
  if (above == reserved.begin()) return std::nullopt;
  --above;
  if (address - above->first >= above->second.pages * kPageSize) return std::nullopt;
  driver::AddressRange range;
  range.reservation = DeviceAddress{above->first};
  range.reserved = above->second.pages * kPageSize;
  auto first = pages.find(address / kPageSize * kPageSize);
  if (first == pages.end()) return range;
  auto last = std::next(first);
  while (!first->second.first) --first;
  for (auto before = std::prev(last); last != pages.end(); before = last++) {
    if (last->second.first || last->first != before->first + kPageSize) break;
  }
  range.mapped = true;
  range.begin = DeviceAddress{first->first};
  range.size = std::prev(last)->first + kPageSize - first->first;
  range.memory = handle_of(first->second.block.get());
  range.offset = first->second.index * kPageSize;
  range.access = first->second.access;
  return range;
}

}  // namespace npu::attack
