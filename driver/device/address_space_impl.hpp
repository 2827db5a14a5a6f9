// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "driver/device/device_impl.hpp"
#include "npu/driver/address_space.hpp"

namespace npu::driver {

struct AddressSpace::Impl {
  Device::Impl& device;
  Space* space;  // nullptr: closed
};

Result<std::unique_ptr<AddressSpace>> make_address_space(Device::Impl& device);

}  // namespace npu::driver
