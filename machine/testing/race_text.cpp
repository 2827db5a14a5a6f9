// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "npu/testing/races.hpp"

namespace npu::testkit {
namespace {

std::string describe(const RacePlace& place) {
  const bool host = place.who == "host";
  std::string text = place.who;
  if (!host) text += fmt::format(", number {},", place.index);
  text += " " + place.what;
  if (host) {
    text += fmt::format(" at {:.6f} us", place.submitted.us());
  } else {
    text += fmt::format(" from {:.6f} us (doorbell) to {:.6f} us", place.submitted.us(),
                        place.ended.us());
  }
  if (!place.stack.empty()) text += fmt::format(" ({})", place.stack);
  return text;
}

}  // namespace

std::string_view to_string(RaceKind kind) {
  switch (kind) {
    case RaceKind::kHostRead:
      return "host read under a DMA write";
    case RaceKind::kHostWrite:
      return "host write under DMA";
    case RaceKind::kFree:
      return "memory freed under work";
    case RaceKind::kWork:
      return "work against work";
  }
  return "";
}

std::string describe(const Race& race) {
  return fmt::format("race: {}: {} {:#x}..{:#x}: {}; {}; nothing orders them", to_string(race.kind),
                     race.host_memory ? "host memory at bus" : "device memory", race.address,
                     race.address + race.bytes - 1, describe(race.earlier), describe(race.later));
}

}  // namespace npu::testkit
