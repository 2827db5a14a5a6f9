// SPDX-License-Identifier: Apache-2.0
// The bursts of one transaction on one channel.
#pragma once

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

}  // namespace npu::model::hbm
