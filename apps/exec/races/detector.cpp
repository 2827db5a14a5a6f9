// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/races/detector.hpp"

#include <fmt/format.h>

#include <string_view>

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
  return fmt::format("{} {} ({}) {}", sites.thread_name(place.work.site.thread),
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

std::vector<Detector::Row> Detector::rows() const {
  std::vector<Row> rows;
  rows.reserve(races().count());
  for (const auto& race : races().all()) rows.push_back({text_of(sites_, race), race.times});
  return rows;
}

std::string Detector::line_of(const FoundRaces::Race& race) const {
  return "race: " + text_of(sites_, race);
}

}  // namespace npu::exec::races
