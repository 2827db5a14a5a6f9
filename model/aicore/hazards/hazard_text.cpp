// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/hazards/hazard_text.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

namespace npu::model {
namespace {

constexpr const char* kPipeNames[platform::kPipes] = {"S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX"};
constexpr const char* kSpaceNames[kSpaces] = {"L1", "L0A", "L0B", "L0C", "UB", "GM"};

const char* name_of(platform::Pipe pipe) {
  const auto index = static_cast<std::size_t>(pipe);
  return index < platform::kPipes ? kPipeNames[index] : "?";
}

// Where in its program, as an offset in the program's object.
std::string site_of(const HazardPlace& place) {
  Dl_info info{};
  std::uintptr_t offset = 0;
  if (place.call != nullptr && dladdr(place.call, &info) != 0) {
    offset = reinterpret_cast<std::uintptr_t>(place.call) -
             reinterpret_cast<std::uintptr_t>(info.dli_fbase);
  }
  return fmt::format("{}+{:#x}", place.program.data(), offset);
}

std::string text_of(const HazardPlace& place) {
  const std::string where = fmt::format("at {} (core {}, block {}, instruction {})", site_of(place),
                                        place.core, place.block, place.number);
  if (place.flag) {
    return fmt::format("{} to {} number {} {}", name_of(place.pipe), name_of(place.to), place.id,
                       where);
  }
  const auto operation = static_cast<std::size_t>(place.operation);
  const bool scalar = place.pipe == platform::Pipe::kScalar;
  return fmt::format("{} {} {}", name_of(place.pipe),
                     scalar ? "load or store" : platform::kPipeOperationNames[operation], where);
}

}  // namespace

std::string text_of(const Hazards& hazards, const Hazard& hazard) {
  const auto earlier = text_of(hazards.place(hazard.earlier));
  const auto later = text_of(hazards.place(hazard.later));
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
      return fmt::format("flag {} is set again before anything has waited for it; {}", earlier,
                         times);
    case HazardKind::kFlagLeft:
      return fmt::format("flag {} is still set when its program ends; {}", earlier, times);
    case HazardKind::kNotAwaited:
      return fmt::format("the program ends without having waited for {}; {}", earlier, times);
  }
  return {};
}

}  // namespace npu::model
