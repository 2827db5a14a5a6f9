// SPDX-License-Identifier: Apache-2.0
// Handles of the driver's API: small values that own nothing.
#pragma once

#include <cstdint>

#include "npu/base/units.hpp"

namespace npu::driver {

// A device virtual address, valid in its address space (address_space.hpp).
struct DeviceAddress {
  std::uint64_t value = 0;

  friend constexpr DeviceAddress operator+(DeviceAddress a, Bytes offset) {
    return DeviceAddress{a.value + offset};
  }
  friend constexpr bool operator==(DeviceAddress a, DeviceAddress b) { return a.value == b.value; }
  friend constexpr bool operator!=(DeviceAddress a, DeviceAddress b) { return !(a == b); }
  friend constexpr bool operator<(DeviceAddress a, DeviceAddress b) { return a.value < b.value; }
};

// The address at which a space maps memory of another card. The handle of such memory comes from
// AddressSpace::import_memory().
struct ImportedAddress {
  std::uint64_t value = 0;

  constexpr ImportedAddress() = default;
  explicit constexpr ImportedAddress(DeviceAddress mapped) : value(mapped.value) {}
};

struct StreamId {
  std::uint16_t value = 0;  // 0 .. STREAM_COUNT - 1

  friend constexpr bool operator==(StreamId a, StreamId b) { return a.value == b.value; }
  friend constexpr bool operator!=(StreamId a, StreamId b) { return !(a == b); }
};

struct EventId {
  std::uint32_t value = 0;  // 0 .. EVENT_COUNT - 1

  friend constexpr bool operator==(EventId a, EventId b) { return a.value == b.value; }
  friend constexpr bool operator!=(EventId a, EventId b) { return !(a == b); }
};

// A signal of a process (signal.hpp).
struct SignalId {
  std::uint32_t value = 0;  // 0 .. abi::kSignalSlots - 1

  friend constexpr bool operator==(SignalId a, SignalId b) { return a.value == b.value; }
  friend constexpr bool operator!=(SignalId a, SignalId b) { return !(a == b); }
};

// A process of the host, by its process id.
struct ProcessId {
  std::uint64_t value = 0;  // 0: nobody

  friend constexpr bool operator==(ProcessId a, ProcessId b) { return a.value == b.value; }
  friend constexpr bool operator!=(ProcessId a, ProcessId b) { return !(a == b); }
};

inline constexpr EventId kStreamEvent{0xFFFFFFFE};  // the stream's own event
inline constexpr EventId kNoEvent{0xFFFFFFFF};      // no event: the ticket cannot be waited for

// A submitted DMA command. It is complete when its event has reached `target`. Commands of a stream
// complete in order, so all earlier ones are then complete, too. Valid until the event is
// destroyed. After a reset of the queue every wait for the ticket fails with kAborted, even if the
// command was complete.
struct Ticket {
  std::uint64_t position = 0;  // commands since the queue was enabled; see dma_cause()
  EventId event = kNoEvent;
  std::uint32_t target = 0;
  StreamId stream;
  std::uint8_t size_class = 0;  // log2 of the size, for adaptive waits
  bool interrupt = false;       // the command sends MSI-X at its end
  std::uint16_t epoch = 0;      // number of enables of the queue; 0: none
  Instant submitted;            // call of submit()
};

}  // namespace npu::driver
