// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/hazards/hazards.hpp"

#include <algorithm>

namespace npu::model {

using platform::CrossScope;

// --- one call ------------------------------------------------------------------------------

void CallOrder::enter(std::uint32_t block, std::uint32_t role) {
  if (entered_.emplace(block, role).second) return;
  entered_ = {{block, role}};
  flags_.clear();
  memory_.clear();
}

void CallOrder::raise(const CrossFlags::Member& member, unsigned flag, const Clock& clock) {
  auto& members = flags_[{member.scope, member.group, flag}];
  if (members.size() < member.members) members.resize(member.members);
  members[member.place].raises.push_back(clock);
}

void CallOrder::lower(const CrossFlags::Member& member, unsigned flag, Clock& clock) {
  auto& members = flags_[{member.scope, member.group, flag}];
  const std::uint64_t number = members[member.place].waits++;
  const auto hears = [&](std::size_t who, std::size_t whom) {
    return who != whom && (member.scope != CrossScope::kCluster || who == 0 || whom == 0);
  };
  for (std::size_t whom = 0; whom < members.size(); ++whom) {
    if (!hears(member.place, whom)) continue;
    Member& other = members[whom];
    clock.join(other.raises[number - other.forgotten]);
    std::uint64_t heard = UINT64_MAX;
    for (std::size_t who = 0; who < members.size(); ++who) {
      if (hears(who, whom)) heard = std::min(heard, members[who].waits);
    }
    for (; other.forgotten < heard && !other.raises.empty(); ++other.forgotten) {
      other.raises.pop_front();
    }
  }
}

// --- the card ------------------------------------------------------------------------------

PlaceNumber Hazards::place(const HazardPlace& place) {
  const Same same{place.call, place.pipe, place.operation, place.what, place.to, place.id};
  const auto [found, is_new] =
      known_places_.emplace(same, static_cast<PlaceNumber>(places_.size()));
  if (is_new) places_.push_back(place);
  return found->second;
}

void Hazards::found(const Hazard& hazard) {
  const auto [found, is_new] =
      known_.emplace(Found{hazard.kind, hazard.earlier, hazard.later}, hazards_.size());
  if (is_new) hazards_.push_back(hazard);
  ++hazards_[found->second].times;
}

CallOrder& Hazards::call(std::uint64_t context, const platform::KernelCall& call) {
  return calls_[{context, call.image, call.arguments, call.blocks}];
}

void Hazards::forget(std::uint64_t context) {
  const auto first = calls_.lower_bound(Call{context, 0, 0, 0});
  auto last = first;
  while (last != calls_.end() && std::get<0>(last->first) == context) ++last;
  calls_.erase(first, last);
}

}  // namespace npu::model
