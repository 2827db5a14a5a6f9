// SPDX-License-Identifier: Apache-2.0
// What compaction moves, and where to (requirements.md M2). Pure arithmetic over intervals.
//
// A window of the wanted size is evacuated: the one whose occupied blocks have the fewest bytes
// among those whose blocks all fit, whole, into free space outside. If there is none, room for a
// block that does not fit is made in the same way, a few windows deep. If that does not help
// either, a hole is grown: blocks beside it go to its other side until it meets the next hole, and
// so on. Blocks that may not be moved stay. No move needs a temporary or overlaps itself. Only if
// there is no such plan, all blocks between two holes slide, each by less than its size if need be:
// there is always a way if enough is free between two blocks that stay.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "npu/base/units.hpp"

namespace npu::driver {

struct PlacedBlock {
  std::uint64_t begin = 0;
  Bytes size = 0;
  std::uint32_t id = 0;
  bool movable = true;
};

struct BlockMove {
  std::uint32_t id = 0;
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  Bytes size = 0;

  Bytes distance() const { return to < from ? from - to : to - from; }
  bool overlaps_itself() const { return distance() < size; }
};

// In this order every move's destination is free when it begins. Moves of one stage depend on none
// of their stage: they may run at the same time. One that overlaps itself is alone in its stage.
using MoveStages = std::vector<std::vector<BlockMove>>;

// `blocks` do not overlap and lie in [0, total). nullopt: no plan was found.
std::optional<MoveStages> plan_compaction(std::vector<PlacedBlock> blocks, Bytes total,
                                          Bytes wanted);

}  // namespace npu::driver
