// SPDX-License-Identifier: Apache-2.0
// Handles of the driver's API. They are small values; none of them owns anything.
#pragma once

#include <cstdint>

#include "npu/base/units.hpp"

namespace npu::driver {

// A device virtual address, valid in the address space it came from (address_space.hpp).
struct DeviceAddress {
  std::uint64_t value = 0;

  friend constexpr DeviceAddress operator+(DeviceAddress a, Bytes offset) {
    return DeviceAddress{a.value + offset};
  }
  friend constexpr bool operator==(DeviceAddress a, DeviceAddress b) { return a.value == b.value; }
  friend constexpr bool operator!=(DeviceAddress a, DeviceAddress b) { return !(a == b); }
  friend constexpr bool operator<(DeviceAddress a, DeviceAddress b) { return a.value < b.value; }
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

// A signal of a process (signal.hpp): its slot in the signal page.
struct SignalId {
  std::uint32_t value = 0;  // 0 .. abi::kSignalSlots - 1

  friend constexpr bool operator==(SignalId a, SignalId b) { return a.value == b.value; }
  friend constexpr bool operator!=(SignalId a, SignalId b) { return !(a == b); }
};

// A process of the host, as its operating system numbers them.
struct ProcessId {
  std::uint64_t value = 0;  // 0: nobody

  friend constexpr bool operator==(ProcessId a, ProcessId b) { return a.value == b.value; }
  friend constexpr bool operator!=(ProcessId a, ProcessId b) { return !(a == b); }
};

inline constexpr EventId kStreamEvent{0xFFFFFFFE};  // the event every stream has of its own
inline constexpr EventId kNoEvent{0xFFFFFFFF};  // nobody is told; the ticket cannot be waited for

// What a submission returns: the command is done once its event has counted to `target`.
// Commands of one stream complete in order, so a ticket also stands for all commands of the stream
// before it. Valid until the event is destroyed. After a reset of the queue it stands for a command
// that was given up (kAborted), also if that had been done before.
struct Ticket {
  std::uint64_t position = 0;  // commands since the queue was enabled, from 0; see dma_cause()
  EventId event = kNoEvent;
  std::uint32_t target = 0;
  StreamId stream;
  std::uint8_t size_class = 0;  // log2 of the size: adaptive waiting learns by stream and class
  bool interrupt = false;       // the command sends MSI-X when it is done
  std::uint16_t epoch = 0;      // the run of the queue, counted by its resets; 0: none
  Instant submitted;            // when submit() was called
};

}  // namespace npu::driver
