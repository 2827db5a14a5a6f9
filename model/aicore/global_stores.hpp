// SPDX-License-Identifier: Apache-2.0
// What MTE3 and FixPipe do to global memory when an instruction ends.
#pragma once

#include "model/core/device_memory_port.hpp"
#include "model/core/ports.hpp"
#include "npu/platform/aicore_port.hpp"

namespace npu::model {

class GlobalStores {
 public:
  GlobalStores(DeviceMemoryPort& memory, SpaceId space, const platform::StoreReduction& reduction)
      : memory_(memory), space_(space), reduction_(reduction) {}

  // The bytes replace what is there, or are reduced into it: nothing comes between.
  CommandFault write(std::uint64_t to, const unsigned char* from, Bytes length) const;

 private:
  Completion reduce(std::uint64_t to, const unsigned char* from, Bytes length) const;

  DeviceMemoryPort& memory_;
  const SpaceId space_;
  const platform::StoreReduction reduction_;
};

}  // namespace npu::model
