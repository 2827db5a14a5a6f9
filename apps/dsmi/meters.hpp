// SPDX-License-Identifier: Apache-2.0
// Who has intervals of his own: each type of dsmi_get_device_utilization_rate(), and these.
#pragma once

#include "apps/dsmi/session.hpp"

namespace npu::dsmi {

inline constexpr MeterKey kHbmInfoMeter = 1000;
inline constexpr MeterKey kAicpuInfoMeter = 1001;
inline constexpr MeterKey kEachCoreMeter = 1100;  // and the sub command of TS

constexpr MeterKey meter_of_type(int type) {
  return static_cast<MeterKey>(type);
}

}  // namespace npu::dsmi
