// SPDX-License-Identifier: Apache-2.0
// The bursts of one transaction on one channel.
#pragma once

#include <array>
#include <cstdint>

#include "model/hbm/command.hpp"

namespace npu::model::hbm {

// Bursts of one transaction with consecutive indices (see AddressMap).
struct BurstRun {
  BurstRun(std::uint64_t first, std::uint32_t bursts, std::uint32_t whose, Clock at, bool is_write)
      : index(first), count(bursts), tag(whose), arrived(at), write(is_write) {}
  std::uint64_t index;
  std::uint32_t count;
  std::uint32_t tag;
  Clock arrived;
  bool write;
};

// The first bursts of a run, as far as they lie in one row of each of a few banks of a pseudo
// channel, which take turns.
struct BurstTurns {
  static constexpr unsigned kMaxLanes = 4, kMaxCount = 255;
  std::uint32_t row;
  std::uint32_t tag;
  bool write;
  unsigned count;
  unsigned lanes;  // that take turns
  std::array<std::uint16_t, kMaxLanes> lane;
};

}  // namespace npu::model::hbm
