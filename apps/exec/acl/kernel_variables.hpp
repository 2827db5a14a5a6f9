// SPDX-License-Identifier: Apache-2.0
// Variables of kernels (`__gm__` of a file) in the memory of a card. All kernels of the file have
// their address.
#pragma once

#include "npu/driver/address_space.hpp"

namespace npu::exec::acl {

// Memory that is freed with the last reference.
class KernelVariables {
 public:
  KernelVariables(driver::AddressSpace& space, driver::DeviceAddress address)
      : space_(space), address_(address) {}
  ~KernelVariables() { static_cast<void>(space_.free(address_)); }
  KernelVariables(const KernelVariables&) = delete;
  KernelVariables& operator=(const KernelVariables&) = delete;

  driver::DeviceAddress address() const { return address_; }

 private:
  driver::AddressSpace& space_;
  const driver::DeviceAddress address_;
};

}  // namespace npu::exec::acl
