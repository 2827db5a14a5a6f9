// SPDX-License-Identifier: Apache-2.0
#include "machine/races/queue_order.hpp"

#include <algorithm>

namespace npu::races {
namespace {

// Entries of a queue that are remembered: more than its rings have.
constexpr std::size_t kMostKept = 4096;
// Indices behind an entry whose submissions are asked for still.
constexpr std::uint64_t kMostBehind = 4096;

std::uint64_t key(const QueueOrder::Name& name) {
  return std::uint64_t{name.device} << 32 | name.queue;
}

}  // namespace

void QueueOrder::created(const Name& name, Instant now) {
  const auto number = queues_.size();
  queues_.push_back({Clock(static_cast<std::uint32_t>(number + kHost + 1)), {}, {}});
  names_[key(name)].emplace_back(now, number);
}

QueueOrder::Number QueueOrder::at(const Name& name, Instant when) {
  auto& all = names_[key(name)];
  if (all.empty()) created(name, when);
  for (auto each = all.rbegin(); each != all.rend(); ++each) {
    if (each->first <= when) return each->second;
  }
  return all.front().second;
}

std::optional<std::uint32_t> QueueOrder::submission_of(const Entry& entry) const {
  const auto& claims = queues_[entry.queue].claims;
  const auto found = claims.lower_bound(entry.index);
  if (found == claims.end()) return std::nullopt;
  return found->second;
}

void QueueOrder::keep(const Entry& entry) {
  auto& queue = queues_[entry.queue];
  queue.kept.emplace_back(entry.index, queue.clock);
  if (queue.kept.size() > kMostKept) queue.kept.pop_front();
  while (!queue.claims.empty() && queue.claims.begin()->first + kMostBehind < entry.index) {
    queue.claims.erase(queue.claims.begin());
  }
}

const Clock* QueueOrder::known(const Entry& entry) const {
  const auto& kept = queues_[entry.queue].kept;
  const auto place = std::find_if(kept.rbegin(), kept.rend(),
                                  [&](const auto& each) { return each.first == entry.index; });
  if (place != kept.rend()) return &place->second;
  // Of one that is not kept any more, what is over with the oldest that is.
  const bool long_ago = kept.size() == kMostKept && entry.index < kept.front().first;
  return long_ago ? &kept.front().second : nullptr;
}

}  // namespace npu::races
