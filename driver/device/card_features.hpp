// SPDX-License-Identifier: Apache-2.0
// What users of one card may have of its driver.
#pragma once

#include <fmt/format.h>

#include "npu/driver/device.hpp"

namespace npu::driver {

class CardFeatures {
 public:
  // Both outlive it.
  CardFeatures(const DeviceFeatures& allowed, const CardInfo& card)
      : allowed_(allowed), card_(card) {}

  bool operator[](bool DeviceFeatures::*feature) const { return allowed_.*feature; }
  // kUnsupported: `what` is switched off.
  Status has(bool DeviceFeatures::*feature, const char* what) const {
    if (allowed_.*feature) return {};
    return fail(ErrorCode::kUnsupported,
                fmt::format("card {}: {} switched off", card_.device_index, what));
  }

 private:
  const DeviceFeatures& allowed_;
  const CardInfo& card_;
};

}  // namespace npu::driver
