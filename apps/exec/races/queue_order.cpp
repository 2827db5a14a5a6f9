// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/races/queue_order.hpp"

#include <algorithm>

namespace npu::exec::races {
namespace {

// Entries of a queue that are remembered: more than its rings have.
constexpr std::size_t kMostKept = 4096;

}  // namespace

void QueueOrder::begin(Queue& queue) {
  auto& claims = queue.claims;
  if (queue.begun) {  // what is left of the earlier queue's
    while (!claims.empty() && !claims.front().later && claims.front().last <= queue.ended) {
      claims.pop_front();
    }
  }
  if (!claims.empty()) claims.front().later = false;
  queue.clock = Clock(++numbers_);
  queue.begun = true;
  queue.ended = 0;
  queue.kept.clear();
}

void QueueOrder::claim(std::uint32_t device, std::uint32_t queue, std::uint64_t index,
                       std::uint32_t submission) {
  auto& there = queues_[key(device, queue)];
  const bool later = there.begun && index <= there.ended &&
                     std::none_of(there.claims.begin(), there.claims.end(),
                                  [](const Claim& each) { return each.later; });
  there.claims.push_back({index, submission, later});
}

QueueOrder::Entry QueueOrder::ended(std::uint32_t device, std::uint32_t queue,
                                    std::uint64_t index) {
  auto& there = queues_[key(device, queue)];
  if (!there.begun || index == 0) begin(there);
  there.ended = std::max(there.ended, index);
  auto& claims = there.claims;
  while (!claims.empty() && !claims.front().later && claims.front().last < index) {
    claims.pop_front();
  }
  Entry entry{there.clock, std::nullopt};
  if (!claims.empty() && !claims.front().later) entry.submission = claims.front().submission;
  return entry;
}

void QueueOrder::keep(std::uint32_t device, std::uint32_t queue, std::uint64_t index) {
  auto& there = queues_[key(device, queue)];
  there.kept.emplace_back(index, there.clock);
  if (there.kept.size() > kMostKept) there.kept.pop_front();
}

const Clock* QueueOrder::known(std::uint32_t device, std::uint32_t queue,
                               std::uint64_t index) const {
  const auto found = queues_.find(key(device, queue));
  if (found == queues_.end()) return nullptr;
  // Of one that is not kept any more, what is over with the next one that is.
  const auto& kept = found->second.kept;
  const auto place =
      std::lower_bound(kept.begin(), kept.end(), index,
                       [](const auto& each, std::uint64_t wanted) { return each.first < wanted; });
  if (place != kept.end()) return &place->second;
  return kept.empty() ? nullptr : &kept.back().second;
}

const Clock* QueueOrder::now(std::uint32_t who) const {
  for (const auto& [key, queue] : queues_) {
    if (queue.begun && queue.clock.own() == who) return &queue.clock;
  }
  return nullptr;
}

}  // namespace npu::exec::races
