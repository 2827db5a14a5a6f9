// SPDX-License-Identifier: Apache-2.0
#include "machine/races/found_races.hpp"

namespace npu::races {

void FoundRaces::found(const Race& race) {
  const Key key{race.earlier.work.site.place, race.earlier.kind, race.later.work.site.place,
                race.later.kind};
  const Key turned{std::get<2>(key), std::get<3>(key), std::get<0>(key), std::get<1>(key)};
  auto known = known_.find(key);
  if (known == known_.end()) known = known_.find(turned);
  if (known != known_.end()) {
    ++races_[known->second].times;
    return;
  }
  known_[key] = races_.size();
  races_.push_back(race);
  races_.back().times = 1;
  if (tell_) tell_(races_.back());
}

}  // namespace npu::races
