// SPDX-License-Identifier: Apache-2.0
#include "model/core/memory_watch.hpp"

#include <algorithm>

#include "npu/abi/page_table.hpp"

namespace npu::model {

void MemoryWatch::watch(SpaceId vmid, std::uint64_t address, Watcher& watcher) {
  watchers_[key(vmid, address)].push_back(&watcher);
}

void MemoryWatch::unwatch(SpaceId vmid, std::uint64_t address, Watcher& watcher) {
  const auto line = watchers_.find(key(vmid, address));
  if (line == watchers_.end()) return;
  auto& all = line->second;
  const auto found = std::find(all.begin(), all.end(), &watcher);
  if (found != all.end()) all.erase(found);
  if (all.empty()) watchers_.erase(line);
}

void MemoryWatch::tell(Writer writer, SpaceId vmid, std::uint64_t address, Bytes length) {
  for (auto* snooper : snoopers_) snooper->snoop(writer, vmid, address, length);
  wake(writer, vmid, address, length);
}

void MemoryWatch::wake(Writer writer, SpaceId vmid, std::uint64_t address, Bytes length) {
  if (length == 0) return;
  wake_lines(writer, key(vmid, address), key(vmid, address + length - 1));
}

void MemoryWatch::translations_dropped(std::uint64_t first, std::uint64_t last) {
  if (watchers_.empty()) return;
  const auto key_of = [](std::uint64_t tagged) {
    constexpr unsigned kBits = abi::kVirtualBits;
    return key(static_cast<SpaceId>(tagged >> kBits), tagged & ~(~std::uint64_t{0} << kBits));
  };
  wake_lines(Writer::kDma, key_of(first), key_of(last));
}

// By their keys.
void MemoryWatch::wake_lines(Writer writer, std::uint64_t first, std::uint64_t last) {
  auto line = watchers_.lower_bound(first);
  while (line != watchers_.end() && line->first <= last) {
    const std::uint64_t number = line->first;
    // A watcher may let go of the line when it is told.
    const std::vector<Watcher*> told = line->second;
    for (auto* watcher : told) {
      watcher->line_written(writer, (number & ((1ULL << abi::kVirtualBits) - 1)) * kLine);
    }
    line = watchers_.upper_bound(number);
  }
}

}  // namespace npu::model
