// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/hazards/hazard_text.hpp"

#include <fmt/format.h>

namespace npu::model {
namespace {

constexpr const char* kPipeNames[platform::kPipes] = {"S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX"};
constexpr const char* kSpaceNames[kSpaces] = {"L1", "L0A", "L0B", "L0C", "UB", "GM"};

const char* name_of(platform::Pipe pipe) {
  const auto index = static_cast<std::size_t>(pipe);
  return index < platform::kPipes ? kPipeNames[index] : "?";
}

}  // namespace

std::string HazardText::site_of(const HazardPlace& place, std::optional<std::uint16_t> core) {
  const auto of_core =
      core.value_or(place.core) != place.core
          ? fmt::format("core {}", *core)
          : fmt::format("core {}, block {}, instruction {}", place.core, place.block, place.number);
  std::vector<ProgramLoader::Place> calls{loader_.place_of(place.call)};
  for (const void* const caller : place.callers) calls.push_back(loader_.place_of(caller));
  const std::string lines = lines_.of_calls(calls);
  if (!lines.empty()) return fmt::format("{} ({}, {})", lines, place.program.data(), of_core);
  return fmt::format("{}+{:#x} ({})", place.program.data(), calls.front().offset, of_core);
}

std::string HazardText::text_of(const HazardPlace& place, std::optional<std::uint16_t> core) {
  const std::string where = "at " + site_of(place, core);
  if (place.what == HazardPlace::What::kFlag) {
    return fmt::format("flag {} to {} number {} {}", name_of(place.pipe), name_of(place.to),
                       place.id, where);
  }
  if (place.what == HazardPlace::What::kCrossFlag) {
    return fmt::format("flag between cores to {} number {} {}", name_of(place.to), place.id, where);
  }
  const auto operation = static_cast<std::size_t>(place.operation);
  const bool scalar = place.pipe == platform::Pipe::kScalar;
  return fmt::format("{} {} {}", name_of(place.pipe),
                     scalar ? "load or store" : platform::kPipeOperationNames[operation], where);
}

std::string HazardText::of(const Hazard& hazard) {
  const auto earlier = text_of(hazards_.place(hazard.earlier), hazard.earlier_core);
  const auto later = text_of(hazards_.place(hazard.later), hazard.later_core);
  const auto bytes =
      fmt::format("{} {:#x}..{:#x}", kSpaceNames[static_cast<unsigned>(hazard.space)], hazard.first,
                  hazard.first + hazard.bytes - 1);
  const auto times = hazard.times == 1 ? "once" : fmt::format("{} times", hazard.times);
  switch (hazard.kind) {
    case HazardKind::kReadAfterWrite:
      return fmt::format("{}: {} reads what {} writes, and nothing orders them; {}", bytes, later,
                         earlier, times);
    case HazardKind::kWriteAfterRead:
      return fmt::format("{}: {} overwrites what {} reads, and nothing orders them; {}", bytes,
                         later, earlier, times);
    case HazardKind::kWriteAfterWrite:
      return fmt::format("{}: {} overwrites what {} writes, and nothing orders them; {}", bytes,
                         later, earlier, times);
    case HazardKind::kFlagRaisedTwice:
      return fmt::format("{} is set again before anything has waited for it; {}", earlier, times);
    case HazardKind::kFlagLeft:
      return fmt::format("{} is still set when its program ends; {}", earlier, times);
    case HazardKind::kNotAwaited:
      return fmt::format("the program ends without having waited for {}; {}", earlier, times);
    case HazardKind::kNeverRaised:
      return fmt::format("the program is stopped while it waits for {}; {}", earlier, times);
  }
  return {};
}

}  // namespace npu::model
