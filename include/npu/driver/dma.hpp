// SPDX-License-Identifier: Apache-2.0
// Commands for the DMA ring (requirements.md M3).
#pragma once

#include <cstdint>

#include "npu/abi/dma.hpp"
#include "npu/base/units.hpp"
#include "npu/driver/types.hpp"
#include "npu/platform/memory.hpp"

namespace npu::driver {

// Where the ring lives.
enum class RingPlacement {
  kDeviceMemory,  // in the card's reserved memory, written through BAR2 with write combining
  kHostMemory,    // in host memory, fetched by the card over the link
};

// A copy has several requests in flight, which end in any order. If it ends with a fault, wherever
// that was, any part of its own destination range may have been written, behind the address at
// fault too, and nothing outside of the range; requests not yet begun are not made any more. The
// same holds for a copy that a reset has given up. Source and destination must not overlap: what is
// copied then is undefined.
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
  // Both addresses are of the stream's space; one of them, the destination as a rule, is memory of
  // another card that was imported into it. Done means that the data is in the other card's memory.
  static constexpr DmaCommand peer_to_peer(DeviceAddress source, DeviceAddress destination,
                                           Bytes size) {
    return {abi::DmaOpcode::kPeerToPeer, source.value, destination.value, size};
  }
};

struct SubmitOptions {
  EventId event = kStreamEvent;  // what counts up at the end
  bool interrupt = true;         // also send MSI-X, if the stream has it
};

struct DmaStatistics {
  std::uint64_t submitted = 0;
  std::uint64_t ring_full = 0;       // submissions that met a full ring
  std::uint64_t consumer_reads = 0;  // reads of DMA_CONSUMER_INDEX
  std::uint64_t rejected = 0;        // submissions that ended with kQueueFull
};

}  // namespace npu::driver
