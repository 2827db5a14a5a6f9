// SPDX-License-Identifier: Apache-2.0
// The parts of an opened card for what works on it above the device: it asks for those that it uses
// and keeps them. They live as long as the device does.
#pragma once

#include "driver/device/card_features.hpp"
#include "driver/device/device_service.hpp"
#include "driver/link/vector_table.hpp"
#include "driver/memory/compactor.hpp"
#include "driver/memory/memory_manager.hpp"

namespace npu::driver {

struct DeviceParts {
  static CardLink& link(Device& device);
  static VectorTable& vectors(Device& device);
  static MemoryManager& memory(Device& device);
  static Compactor& compactor(Device& device);
  static DeviceServices& services(Device& device);
  static const CardFeatures& features(Device& device);
  static const AdaptiveOptions& adaptive(Device& device);
};

}  // namespace npu::driver
