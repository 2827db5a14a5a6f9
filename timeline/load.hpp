// SPDX-License-Identifier: Apache-2.0
// Which activities say that a unit is busy, and by what measure.
#pragma once

#include "npu/platform/trace.hpp"

namespace npu::timeline {

enum class Load {
  kNone,
  kTime,       // while the event lasts
  kBytes,      // by TraceEvent::bytes of what it could carry
  kWireBytes,  // by TraceEvent::detail of what it could carry
};

// One activity per unit: others of the same unit lie within it.
constexpr Load load_of(platform::Activity activity) {
  using platform::Activity;
  switch (activity) {
    case Activity::kCpuBusy:
    case Activity::kCommand:
    case Activity::kPipe:
    case Activity::kAicpuHandshake:
    case Activity::kAicpuWiring:
    case Activity::kAicpuDispatch:
    case Activity::kAicpuComplete:
    case Activity::kAicpuDrain:
    case Activity::kAicpuDump:
    case Activity::kQueueCommand:
      return Load::kTime;
    case Activity::kL2Read:
    case Activity::kL2Write:
    case Activity::kHbmRead:
    case Activity::kHbmWrite:
      return Load::kBytes;
    case Activity::kTlp:
    case Activity::kHccsTransfer:
      return Load::kWireBytes;
    default:
      return Load::kNone;
  }
}

}  // namespace npu::timeline
