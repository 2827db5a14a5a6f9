// SPDX-License-Identifier: Apache-2.0
// Tells the timeline what every part of the card's memory is from now on.
#pragma once

#include "npu/platform/platform.hpp"

namespace npu::driver {

class BlockTrace {
 public:
  // Tells nobody.
  BlockTrace() = default;
  BlockTrace(platform::Platform& platform, std::uint32_t device_index);

  // `address`: device-local.
  void tell(platform::BlockState state, std::uint64_t address, Bytes size) const {
    if (platform_ != nullptr) emit(state, address, size);
  }

 private:
  void emit(platform::BlockState state, std::uint64_t address, Bytes size) const;

  platform::Platform* platform_ = nullptr;
  std::uint32_t track_ = 0;
};

}  // namespace npu::driver
