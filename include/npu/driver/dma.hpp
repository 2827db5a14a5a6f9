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
class DmaCommand {
 public:
  constexpr DmaCommand() = default;  // of no bytes, which submit() refuses
  // `size`: at least 1.
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
  // To or from memory of another card. Done means that the data is there.
  static constexpr DmaCommand device_to_peer(DeviceAddress source, ImportedAddress destination,
                                             Bytes size) {
    return {abi::DmaOpcode::kPeerToPeer, source.value, destination.value, size};
  }
  static constexpr DmaCommand peer_to_device(ImportedAddress source, DeviceAddress destination,
                                             Bytes size) {
    return {abi::DmaOpcode::kPeerToPeer, source.value, destination.value, size};
  }
  // From plain numbers, for callers without typed addresses, such as bindings of other languages.
  static constexpr DmaCommand untyped(abi::DmaOpcode opcode, std::uint64_t source,
                                      std::uint64_t destination, Bytes size) {
    return {opcode, source, destination, size};
  }
  // The part of the copy that begins `offset` bytes behind its start and has `size` bytes.
  constexpr DmaCommand part(Bytes offset, Bytes size) const {
    return {opcode_, source_ + offset, destination_ + offset, size};
  }

  constexpr abi::DmaOpcode opcode() const { return opcode_; }
  constexpr std::uint64_t source() const { return source_; }
  constexpr std::uint64_t destination() const { return destination_; }
  constexpr Bytes size() const { return size_; }

 private:
  constexpr DmaCommand(abi::DmaOpcode opcode, std::uint64_t source, std::uint64_t destination,
                       Bytes size)
      : opcode_(opcode), source_(source), destination_(destination), size_(size) {}

  abi::DmaOpcode opcode_ = abi::DmaOpcode::kHostToDevice;
  std::uint64_t source_ = 0, destination_ = 0;
  Bytes size_ = 0;
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
