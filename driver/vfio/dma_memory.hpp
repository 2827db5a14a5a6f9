// SPDX-License-Identifier: Apache-2.0
// Anonymous memory of this process that a function may reach.
#pragma once

#include <memory>

#include "driver/vfio/container.hpp"
#include "npu/platform/memory.hpp"

namespace npu::driver::vfio {

// kInvalidArgument, kMisaligned, kOutOfMemory, and what Container::map() says.
Result<std::unique_ptr<platform::DmaMemory>> allocate_dma_memory(
    std::shared_ptr<Container> container, Bytes size, Bytes alignment,
    platform::DmaDirection direction);

// Memory that somebody else keeps until after the object. kMisaligned, and what Container::map()
// says.
Result<std::unique_ptr<platform::DmaMemory>> import_dma_memory(std::shared_ptr<Container> container,
                                                               ByteSpan memory,
                                                               platform::DmaDirection direction);

// What one of these has made, reached through another container, too. What
// Container::map() says.
Result<platform::BusAddress> share_dma_memory(platform::DmaMemory& memory,
                                              std::shared_ptr<Container> container);

}  // namespace npu::driver::vfio
