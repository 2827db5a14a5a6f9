// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/cross_flags.hpp"

#include <algorithm>

namespace npu::model {

using platform::CrossScope;

std::vector<CrossFlags::Raises>& CrossFlags::flags(const Member& member, unsigned flag) {
  auto& all = groups_[key(member)].flags[flag];
  if (all.empty()) all.resize(member.members);
  return all;
}

void CrossFlags::raise(const Member& member, unsigned flag, SimTime when) {
  Raises& raises = flags(member, flag)[member.place];
  raises.when[raises.count++ % Raises::kKept] = when;
}

std::optional<SimTime> CrossFlags::lower(const Member& member, unsigned flag) {
  auto& all = flags(member, flag);
  const std::uint64_t number = all[member.place].waits;
  SimTime when = 0;
  for (unsigned i = 0; i < all.size(); ++i) {
    if (i == member.place) continue;
    // Vector cores of a cluster do not hear each other.
    if (member.scope == CrossScope::kCluster && i != 0 && member.place != 0) continue;
    const Raises& raises = all[i];
    if (raises.count <= number) return std::nullopt;
    // Of long ago: the oldest time that is known is later, and past.
    const std::uint64_t known =
        std::max(number, raises.count - std::min<std::uint64_t>(raises.count, Raises::kKept));
    when = std::max(when, raises.when[known % Raises::kKept]);
  }
  ++all[member.place].waits;
  return when;
}

void CrossFlags::left(const Member& member, bool counts) {
  const auto group = counts ? groups_.try_emplace(key(member)).first : groups_.find(key(member));
  if (group == groups_.end()) return;
  if (++group->second.left == member.members) groups_.erase(group);
}

bool CrossFlags::all_meet(std::uint64_t context, std::uint64_t image) const {
  return std::any_of(groups_.begin(), groups_.end(), [&](const auto& entry) {
    return std::get<0>(entry.first) == context && std::get<1>(entry.first) == image &&
           std::get<CrossScope>(entry.first) == CrossScope::kSameType;
  });
}

void CrossFlags::forget(std::uint64_t context) {
  const auto of_context = [&](const auto& entry) { return std::get<0>(entry.first) == context; };
  for (auto group = groups_.begin(); group != groups_.end();) {
    group = of_context(*group) ? groups_.erase(group) : std::next(group);
  }
}

}  // namespace npu::model
