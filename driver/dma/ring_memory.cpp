// SPDX-License-Identifier: Apache-2.0
#include "driver/dma/ring_memory.hpp"

#include "npu/abi/layout.hpp"

namespace npu::driver {

Result<RingMemory> RingMemory::create(const CardLink& link, RingPlacement placement) {
  auto& platform = link.platform();
  constexpr Bytes kSize = Bytes{abi::kRingEntries} * abi::kRingEntrySize;
  RingMemory ring;
  if (placement == RingPlacement::kHostMemory) {
    auto memory =
        platform.allocate_dma(link.bdf(), kSize, 4096, platform::DmaDirection::kDeviceReads);
    if (!memory) return forward_error(memory);
    ring.host_ = std::move(*memory);
    ring.base_ = ring.host_->bus().value;
    return ring;
  }
  ring.base_ = link.card().hbm_size + abi::kReservedRingOffset;
  auto region = platform.map_bar(link.bdf(), abi::kMemoryBar, ring.base_, kSize,
                                 platform::Caching::kWriteCombining);
  if (!region) return forward_error(region);
  ring.device_ = std::move(*region);
  return ring;
}

}  // namespace npu::driver
