// SPDX-License-Identifier: Apache-2.0
#include "model/aicpu/coherent_cache.hpp"

#include <algorithm>

namespace npu::model {

CoherentCache::CoherentCache(Bytes size, unsigned ways)
    : ways_(ways), sets_(std::max<std::size_t>(size / kLine / ways, 1)) {}

// Most control processors and many AICPUs of a run never cache anything.
void CoherentCache::make_room() {
  keys_.resize(ways_ * sets_);
  used_.resize(ways_ * sets_);
  data_.resize(ways_ * sets_ * kLine);
}

std::size_t CoherentCache::place_of(std::uint64_t key) const {
  if (keys_.empty()) return 0;
  const std::size_t first = set_of(key);
  for (std::size_t place = first; place < first + ways_; ++place) {
    if (keys_[place] == key) return place;
  }
  return keys_.size();
}

unsigned char* CoherentCache::touch(SpaceId vmid, std::uint64_t address) {
  const std::size_t place = place_of(key(vmid, address));
  if (place == keys_.size()) return nullptr;
  used_[place] = ++uses_;
  return &data_[place * kLine];
}

unsigned char* CoherentCache::find(SpaceId vmid, std::uint64_t address) {
  const std::size_t place = place_of(key(vmid, address));
  return place == keys_.size() ? nullptr : &data_[place * kLine];
}

unsigned char* CoherentCache::install(SpaceId vmid, std::uint64_t address) {
  if (keys_.empty()) make_room();
  const std::uint64_t wanted = key(vmid, address);
  std::size_t place = place_of(wanted);
  if (place == keys_.size()) {
    const auto set = static_cast<std::ptrdiff_t>(set_of(wanted));
    const auto end = set + static_cast<std::ptrdiff_t>(ways_);
    const auto oldest = std::min_element(used_.begin() + set, used_.begin() + end);
    place = static_cast<std::size_t>(oldest - used_.begin());
    if (keys_[place] == 0) ++lines_;
    keys_[place] = wanted;
  }
  used_[place] = ++uses_;
  return &data_[place * kLine];
}

bool CoherentCache::drop_line(std::uint64_t key) {
  const std::size_t place = place_of(key);
  if (place == keys_.size()) return false;
  keys_[place] = 0;
  used_[place] = 0;
  --lines_;
  return true;
}

bool CoherentCache::drop(SpaceId vmid, std::uint64_t address, Bytes length) {
  if (lines_ == 0 || length == 0) return false;
  bool dropped = false;
  const std::uint64_t first = key(vmid, address), last = key(vmid, address + length - 1);
  if ((last - first) / kLine < keys_.size()) {
    for (std::uint64_t line = first; line <= last; line += kLine) dropped |= drop_line(line);
    return dropped;
  }
  for (std::size_t place = 0; place < keys_.size(); ++place) {
    if (keys_[place] < first || keys_[place] > last) continue;
    dropped |= drop_line(keys_[place]);
  }
  return dropped;
}

bool CoherentCache::holds(SpaceId vmid, std::uint64_t address, Bytes length) const {
  if (lines_ == 0 || length == 0) return false;
  const std::uint64_t first = key(vmid, address), last = key(vmid, address + length - 1);
  if ((last - first) / kLine < keys_.size()) {
    for (std::uint64_t line = first; line <= last; line += kLine) {
      if (place_of(line) != keys_.size()) return true;
    }
    return false;
  }
  return std::any_of(keys_.begin(), keys_.end(),
                     [&](std::uint64_t line) { return line >= first && line <= last; });
}

void CoherentCache::clear() {
  if (lines_ == 0) return;
  std::fill(keys_.begin(), keys_.end(), 0);
  std::fill(used_.begin(), used_.end(), 0);
  lines_ = 0;
}

}  // namespace npu::model
