// SPDX-License-Identifier: Apache-2.0
// The 4096 entries of the ring, in the card's reserved memory or in host memory.
#pragma once

#include <cstring>
#include <memory>

#include "driver/link/card_link.hpp"
#include "npu/abi/dma.hpp"
#include "npu/base/result.hpp"
#include "npu/driver/dma.hpp"

namespace npu::driver {

class RingMemory {
 public:
  static Result<RingMemory> create(const CardLink& link, RingPlacement placement);

  // Value for DMA_QUEUE_BASE.
  std::uint64_t base() const { return base_; }
  bool in_host_memory() const { return host_ != nullptr; }

  // Four stores of 8 bytes, which write combining joins into one posted write. The card may see
  // them only after a write barrier.
  void write(std::uint32_t slot, const abi::DmaEntry& entry) {
    std::uint64_t words[4];
    static_assert(sizeof words == sizeof entry);
    std::memcpy(words, &entry, sizeof words);
    const Bytes offset = Bytes{slot} * abi::kRingEntrySize;
    if (host_) {
      for (std::size_t i = 0; i < 4; ++i) host_->store(offset + i * sizeof *words, words[i]);
      return;
    }
    auto& device = *device_;
#pragma GCC unroll 4  // nothing but stores, so that they leave as fast as the core can
    for (std::size_t i = 0; i < 4; ++i) device.write64(offset + i * sizeof *words, words[i]);
  }

 private:
  std::uint64_t base_ = 0;
  std::unique_ptr<platform::MmioRegion> device_;
  std::unique_ptr<platform::DmaMemory> host_;
};

}  // namespace npu::driver
