// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/races/found_races.hpp"

#include <fmt/format.h>

namespace npu::exec::races {
namespace {

std::string_view does(AccessKind kind) {
  switch (kind) {
    case AccessKind::kRead:
      return "reads";
    case AccessKind::kWrite:
      return "writes";
    case AccessKind::kFree:
      return "frees";
  }
  return "";
}

std::string text_of(const CallSites& sites, const FoundRaces::Place& place) {
  const auto& site = sites.at(place.work.site.place);
  const bool own = site.call == compat::Call::kHostAccess;
  std::string where = own ? "behind" : "in";
  where += fmt::format(" call {}", place.work.site.number - (own ? 1 : 0));
  if (place.work.stream != FoundRaces::Work::kNone) {
    where += fmt::format(", stream {}", place.work.stream);
  }
  const auto stack = sites.stack_of(place.work.site.place);
  if (!stack.empty()) where += ", " + stack;
  return fmt::format("{} {} ({}) {}", site.thread,
                     own ? "itself" : compat::kCallNames[static_cast<std::size_t>(site.call)],
                     where, does(place.kind));
}

std::string text_of(const CallSites& sites, const FoundRaces::Race& race) {
  const auto last = race.address + race.bytes - 1;
  return fmt::format("{} {:#x}..{:#x}: {}, {}, and nothing orders them",
                     race.host ? "pinned memory" : "device", race.address, last,
                     text_of(sites, race.earlier), text_of(sites, race.later));
}

}  // namespace

void FoundRaces::found(const CallSites& sites, const Race& race) {
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
  if (!tell_) return;
  tell_("race: " + text_of(sites, race));
}

std::vector<FoundRaces::Row> FoundRaces::rows(const CallSites& sites) const {
  std::vector<Row> rows;
  rows.reserve(races_.size());
  for (const auto& race : races_) rows.push_back({text_of(sites, race), race.times});
  return rows;
}

}  // namespace npu::exec::races
