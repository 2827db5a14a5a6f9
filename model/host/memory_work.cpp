// SPDX-License-Identifier: Apache-2.0
#include "model/host/memory_work.hpp"

#include <algorithm>
#include <cstring>

namespace npu::model {
namespace {

using platform::Activity;

// What a core has on its way before anybody else gets a turn.
constexpr Bytes kPiece = 4096;
constexpr int kNone = -1;

}  // namespace

int MemoryWork::node() const {
  return static_cast<int>(cpus_.current().core * config_.numa_nodes / cpus_.config().cores);
}

void MemoryWork::trace(Activity activity, SimTime begin, Bytes size, std::uint64_t pages) {
  const auto& task = cpus_.current();
  simulation_.emit(task.track, activity, begin, sim_now(), task.cause, size, pages);
}

void MemoryWork::move(Bytes size, std::uint64_t rate, int to, int from) {
  constexpr std::uint64_t kSecond = 1'000'000'000'000;  // ps
  SimTime busy = size * kSecond / rate;
  for (const int node : {from, to}) {
    if (node == kNone) continue;
    memory_.memory().take(node, size);
    busy = std::max(busy, memory_.memory().bus(node).free_at() - sim_now());
  }
  spend(Picoseconds(static_cast<std::int64_t>(busy)));
}

void MemoryWork::copy(ByteSpan to, ConstByteSpan from) {
  if (to.size == 0) return;
  cpus_.synchronise();
  const SimTime begin = sim_now();
  const auto node_of = [this](const std::byte* data) {
    const int known = memory_.memory().node_of(data);
    return known == kNone ? node() : known;
  };
  const int target = node_of(to.data), source = node_of(from.data);
  for (Bytes done = 0; done < to.size; done += kPiece) {
    const Bytes piece = std::min(kPiece, to.size - done);
    move(piece, cpus_.config().copy_rate, target, source);
    std::memcpy(to.data + done, from.data + done, piece);
  }
  trace(Activity::kHostCopy, begin, to.size, 0);
}

// What counts as a page here is one of 4 KiB: nobody has mapped it yet.
void MemoryWork::clear(ByteSpan memory, int node) {
  const SimTime begin = sim_now();
  for (Bytes done = 0; done < memory.size; done += kPiece) {
    move(std::min(kPiece, memory.size - done), config_.clear_rate, node, kNone);
  }
  trace(Activity::kMemoryClear, begin, memory.size, memory.size / kPiece);
}

void MemoryWork::provide(const Iommu::Mapping& mapping) {
  const Bytes size = mapping.memory.size;
  const auto pages = memory_.pages().count(mapping.bus, size);
  const SimTime begin = sim_now();
  for (Bytes done = 0; done < size; done += kPiece) {
    move(std::min(kPiece, size - done), config_.clear_rate, mapping.node, kNone);
  }
  trace(Activity::kMemoryClear, begin, size, pages);
  pin(mapping);
}

void MemoryWork::pin(const Iommu::Mapping& mapping) {
  const Bytes size = mapping.memory.size;
  const auto pages = memory_.pages().count(mapping.bus, size);
  const SimTime begin = sim_now();
  spend(config_.pin_page * static_cast<std::int64_t>(pages));
  trace(Activity::kMemoryPin, begin, size, pages);
  map(mapping);
}

void MemoryWork::map(const Iommu::Mapping& mapping) {
  const Bytes size = mapping.memory.size;
  const auto pages = memory_.pages().count(mapping.bus, size);
  const SimTime begin = sim_now();
  spend(config_.iommu_map * static_cast<std::int64_t>(pages));
  trace(Activity::kIommuMap, begin, size, pages);
}

void MemoryWork::unmap(const Iommu::Mapping& mapping) {
  const Bytes size = mapping.memory.size;
  const auto pages = memory_.pages().count(mapping.bus, size);
  const SimTime begin = sim_now();
  spend(config_.iommu_unmap * static_cast<std::int64_t>(pages) + config_.iommu_invalidation);
  trace(Activity::kIommuUnmap, begin, size, pages);
}

void MemoryWork::take_back(const Iommu::Mapping& mapping) {
  unmap(mapping);
  const Bytes size = mapping.memory.size;
  const auto pages = memory_.pages().count(mapping.bus, size);
  const auto all = static_cast<std::int64_t>(pages);
  const SimTime begin = sim_now();
  spend(config_.unpin_page * all);
  trace(Activity::kMemoryUnpin, begin, size, pages);
}

}  // namespace npu::model
