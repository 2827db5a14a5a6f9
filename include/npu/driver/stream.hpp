// SPDX-License-Identifier: Apache-2.0
// Streams: ordered queues of commands, each with a register window (requirements.md M4).
#pragma once

#include <cstdint>

#include "npu/driver/types.hpp"

namespace npu::driver {

class AddressSpace;

enum class StreamPlacement {
  kBar2,  // window in the reserved part of BAR2
  kBar0,  // the trap of requirements.md M4: refused, BAR0 has no room for 32 KiB windows
};

struct StreamOptions {
  StreamPlacement placement = StreamPlacement::kBar2;
  bool interrupt = true;                // completions may send MSI-X; off: only polling works
  const AddressSpace* space = nullptr;  // of the commands' device addresses; null: the default one
};

}  // namespace npu::driver
