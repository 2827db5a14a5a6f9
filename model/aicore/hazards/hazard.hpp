// SPDX-License-Identifier: Apache-2.0
// What a program forgot to order.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/aicore/hazards/footprint.hpp"
#include "npu/platform/core_events.hpp"

namespace npu::model {

enum class HazardKind : std::uint8_t {
  kReadAfterWrite,   // bytes are read that an earlier write may not have written yet
  kWriteAfterRead,   // bytes are overwritten that an earlier read may not have read yet
  kWriteAfterWrite,  // it is open which of two writes comes last
  kFlagRaisedTwice,  // a flag is set that nobody has waited for since it was set
  kFlagLeft,         // a program ends with a flag set
  kNotAwaited,       // a program ends and has not waited for an instruction
  kNeverRaised,      // a program is stopped while it waits for a flag
};

// Something in a program: an instruction, or a flag. Of several times the first one.
struct HazardPlace {
  const void* call = nullptr;        // return address, in the loaded program
  std::vector<const void*> callers;  // those above it in the program
  std::array<char, 17> program{};
  platform::Pipe pipe = platform::Pipe::kScalar;
  platform::PipeOperation operation = platform::PipeOperation::kOther;
  enum class What : std::uint8_t { kInstruction, kFlag, kCrossFlag };
  What what = What::kInstruction;
  // Of a flag, which is one to `to`; of one between cores `to` is who waits.
  platform::Pipe to = platform::Pipe::kScalar;
  std::uint8_t id = 0;
  std::uint16_t core = 0;
  std::uint32_t block = 0;
  std::uint32_t number = 0;  // of the instruction in its block's call
};

struct Hazard {
  HazardKind kind = HazardKind::kReadAfterWrite;
  std::uint32_t earlier = 0, later = 0;  // places; of a flag or an end only `earlier`
  // Of the first time.
  Space space = Space::kUb;
  std::uint64_t first = 0, bytes = 0;
  std::uint64_t times = 0;
  // Of an access: the cores that make the two. A place has the core that came to it first.
  std::optional<std::uint16_t> earlier_core = {}, later_core = {};
};

}  // namespace npu::model
