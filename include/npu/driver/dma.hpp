// SPDX-License-Identifier: Apache-2.0
// Commands for the DMA ring, for Device::submit() (requirements.md M3).
#pragma once

#include <cstdint>

#include "npu/abi/dma.hpp"
#include "npu/base/units.hpp"
#include "npu/driver/types.hpp"
#include "npu/platform/memory.hpp"

namespace npu::driver {

// The memory of the ring.
enum class RingPlacement {
  kDeviceMemory,  // in the card's reserved memory, written through BAR2 with write combining
  kHostMemory,    // in host memory, fetched by the card over the link
};

// A copy. Its requests end in any order. After a fault or a reset any part of the destination range
// may have been written, and nothing outside of it. The result is undefined if source and
// destination overlap.
struct DmaCommand {
  abi::DmaOpcode opcode = abi::DmaOpcode::kHostToDevice;
  std::uint64_t source = 0;
  std::uint64_t destination = 0;
  Bytes size = 0;  // at least 1

  static constexpr DmaCommand host_to_device(platform::BusAddress source, DeviceAddress destination,
                                             Bytes size) {
    return {abi::DmaOpcode::kHostToDevice, source.value, destination.value, size};
  }
  static constexpr DmaCommand device_to_host(DeviceAddress source, platform::BusAddress destination,
                                             Bytes size) {
    return {abi::DmaOpcode::kDeviceToHost, source.value, destination.value, size};
  }
  static constexpr DmaCommand device_to_device(DeviceAddress source, DeviceAddress destination,
                                               Bytes size) {
    return {abi::DmaOpcode::kDeviceToDevice, source.value, destination.value, size};
  }
  // Both addresses are of the stream's space. One of them, usually the destination, is imported
  // memory of another card. When the command is complete, the data is in the destination.
  static constexpr DmaCommand peer_to_peer(DeviceAddress source, DeviceAddress destination,
                                           Bytes size) {
    return {abi::DmaOpcode::kPeerToPeer, source.value, destination.value, size};
  }
};

struct SubmitOptions {
  EventId event = kStreamEvent;  // counts up at the end
  bool interrupt = true;         // also sends MSI-X, if the stream does
};

struct DmaStatistics {
  std::uint64_t submitted = 0;
  std::uint64_t ring_full = 0;       // submissions that met a full ring
  std::uint64_t consumer_reads = 0;  // reads of DMA_CONSUMER_INDEX
  std::uint64_t rejected = 0;        // submissions that ended with kQueueFull
};

}  // namespace npu::driver
