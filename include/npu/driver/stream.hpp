// SPDX-License-Identifier: Apache-2.0
// Options of Device::create_stream(). Such a stream is an ordered queue of DMA commands with a
// register window (requirements.md M4). For kernels see execution_stream.hpp.
#pragma once

#include <cstdint>

#include "npu/driver/types.hpp"

namespace npu::driver {

class AddressSpace;

enum class StreamPlacement {
  kBar2,  // the window is in the reserved part of BAR2
  kBar0,  // always refused: BAR0 has no room for windows of 32 KiB (requirements.md M4)
};

struct StreamOptions {
  StreamPlacement placement = StreamPlacement::kBar2;
  bool interrupt = true;                // completions may send MSI-X; false: only polling works
  const AddressSpace* space = nullptr;  // of device addresses; null: the default one
};

}  // namespace npu::driver
