// SPDX-License-Identifier: Apache-2.0
#include "driver/memory/mappings.hpp"

#include <algorithm>

namespace npu::driver {

Mappings::Map::const_iterator Mappings::find(std::uint64_t address) const {
  auto above = map_.upper_bound(address);
  if (above == map_.begin()) return map_.end();
  --above;
  return address - above->first < above->second.size ? above : map_.end();
}

std::optional<std::uint64_t> Mappings::first_in(const PageRange& range) const {
  auto next = find(range.at);
  if (next == map_.end()) next = map_.lower_bound(range.at);
  if (next == map_.end() || next->first >= range.at + range.size) return std::nullopt;
  return next->first;
}

std::optional<std::uint64_t> Mappings::first_gap(const PageRange& range) const {
  auto mapping = find(range.at);
  std::uint64_t at = range.at;
  for (const auto end = range.at + range.size; at < end; ++mapping) {
    if (mapping == map_.end() || mapping->first > at) return at;
    at = mapping->first + mapping->second.size;
  }
  return std::nullopt;
}

bool Mappings::has(MemoryHandle memory) const {
  return std::any_of(map_.begin(), map_.end(),
                     [&](const auto& mapping) { return mapping.second.memory == memory; });
}

void Mappings::add(std::uint64_t at, const Mapping& mapping) {
  map_[at] = mapping;
  physical_.add_mapping(mapping.memory);
}

// Afterwards no mapping extends over `at`.
void Mappings::cut(std::uint64_t at) {
  const auto found = find(at);
  if (found == map_.end() || found->first == at) return;
  auto& lower = map_[found->first];
  Mapping upper = lower;
  lower.size = at - found->first;
  upper.size -= lower.size;
  upper.offset += lower.size;
  add(at, upper);
}

void Mappings::set_access(const PageRange& range, Access access) {
  cut_at_ends(range);
  const auto end = map_.lower_bound(range.at + range.size);
  for (auto it = map_.lower_bound(range.at); it != end; ++it) it->second.access = access;
}

void Mappings::remove(const PageRange& range) {
  cut_at_ends(range);
  const auto first = map_.lower_bound(range.at);
  const auto end = map_.lower_bound(range.at + range.size);
  for (auto it = first; it != end; ++it) physical_.remove_mapping(it->second.memory);
  map_.erase(first, end);
}

void Mappings::clear() {
  for (const auto& [at, mapping] : map_) physical_.remove_mapping(mapping.memory);
  map_.clear();
}

}  // namespace npu::driver
