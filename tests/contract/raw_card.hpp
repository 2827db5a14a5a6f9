// SPDX-License-Identifier: Apache-2.0
// A card driven through the platform interface and the ABI alone, to make it write host memory and
// send interrupts. Stream 0, event 0, ring in host memory.
#pragma once

#include <memory>

#include "npu/abi/dma.hpp"
#include "npu/abi/event.hpp"
#include "npu/abi/pci.hpp"
#include "npu/abi/registers.hpp"
#include "npu/abi/stream.hpp"
#include "npu/platform/platform.hpp"

namespace npu::test {

class RawCard {
 public:
  // Ends with a null pointer and a failed expectation if the platform refuses something.
  static std::unique_ptr<RawCard> open(platform::Platform& platform, platform::Bdf bdf,
                                       unsigned vector = 0);

  // Copies 64 bytes from `source` to `destination` (see DmaEntry), counts event 0 up, and sends
  // MSI-X on the stream's vector.
  void submit(abi::DmaOpcode opcode, std::uint64_t source, std::uint64_t destination);
  // Polls the event record until it has counted all submissions. False: not before `timeout`.
  bool wait_done(Picoseconds timeout);

  platform::MmioRegion& registers() { return *registers_; }
  // The first bytes of device memory, uncached.
  platform::MmioRegion& memory() { return *memory_; }

 private:
  explicit RawCard(platform::Platform& platform) : platform_(platform) {}

  platform::Platform& platform_;
  std::unique_ptr<platform::MmioRegion> registers_, memory_, window_;
  std::unique_ptr<platform::DmaMemory> ring_, records_;
  std::uint32_t submitted_ = 0;
  std::uint32_t base_count_ = 0;
};

}  // namespace npu::test
