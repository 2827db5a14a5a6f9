// SPDX-License-Identifier: Apache-2.0
// Builders of queue entries (abi/queue_entry.hpp), for Queue::submit() and
// ExecutionStream::submit(). Each returns a complete entry. submit() sets its flags by
// QueueEntryOptions.
#pragma once

#include <algorithm>

#include "npu/abi/queue_entry.hpp"
#include "npu/driver/types.hpp"
#include "npu/platform/memory.hpp"

namespace npu::driver::entries {

namespace detail {
template <class Payload>
abi::QueueEntry make(abi::QueueOpcode opcode, const Payload& payload) {
  abi::QueueEntry entry;
  entry.opcode = static_cast<std::uint8_t>(opcode);
  entry.set(payload);
  return entry;
}
inline abi::QueueEntry make(abi::QueueOpcode opcode) {
  abi::QueueEntry entry;
  entry.opcode = static_cast<std::uint8_t>(opcode);
  return entry;
}
}  // namespace detail

// Copies of `size` bytes, not 0. Host memory must come from ProcessContext (allocate_host(),
// import_host()).
inline abi::QueueEntry copy_to_device(platform::BusAddress source, DeviceAddress destination,
                                      Bytes size) {
  return detail::make(abi::QueueOpcode::kHostToDevice,
                      abi::CopyPayload{source.value, destination.value, size});
}
inline abi::QueueEntry copy_to_host(DeviceAddress source, platform::BusAddress destination,
                                    Bytes size) {
  return detail::make(abi::QueueOpcode::kDeviceToHost,
                      abi::CopyPayload{source.value, destination.value, size});
}
inline abi::QueueEntry copy_on_device(DeviceAddress source, DeviceAddress destination, Bytes size) {
  return detail::make(abi::QueueOpcode::kDeviceToDevice,
                      abi::CopyPayload{source.value, destination.value, size});
}
// `destination`: memory of another card, mapped into this address space.
inline abi::QueueEntry copy_to_peer(DeviceAddress source, DeviceAddress destination, Bytes size) {
  return detail::make(abi::QueueOpcode::kPeerToPeer,
                      abi::CopyPayload{source.value, destination.value, size});
}
// The same two copies, but the destination becomes operation(destination, source), element by
// element. `peer`: one of them is memory of another card. abi::can_reduce(), and addresses and size
// are multiples of the element's size.
inline abi::QueueEntry reduce(bool peer, DeviceAddress source, DeviceAddress destination,
                              Bytes size, abi::ElementType type, abi::ReduceOperation operation) {
  const auto opcode = peer ? abi::QueueOpcode::kPeerToPeer : abi::QueueOpcode::kDeviceToDevice;
  return detail::make(opcode, abi::ReducePayload{source.value, destination.value, size,
                                                 static_cast<std::uint8_t>(operation),
                                                 static_cast<std::uint8_t>(type), 0, 0});
}
// Fills with the 4 bytes of `pattern`. Address and size are multiples of 4; `size` is not 0.
inline abi::QueueEntry fill(DeviceAddress destination, Bytes size, std::uint32_t pattern) {
  return detail::make(abi::QueueOpcode::kFill,
                      abi::FillPayload{destination.value, size, pattern, 0});
}
// The lines of `source` come to the L2 of the card, unless they are there. `size`: not 0.
inline abi::QueueEntry prefetch(DeviceAddress source, Bytes size) {
  return detail::make(abi::QueueOpcode::kPrefetch, abi::CopyPayload{source.value, 0, size});
}
// `cores`: kLaunchAiCore or kLaunchAicpu. `image`: a program in device memory
// (abi/kernel_image.hpp). `blocks`: not 0. `arguments`: aligned to 64 bytes, at most
// abi::kMaxArgumentBytes. `most_cores`: only the first so many AI Cores of the queue; 0: all.
// `timeout` of each block, on AI Cores: rounded up to microseconds, at most 4294 s; 0: none.
inline abi::QueueEntry launch_image(abi::QueueOpcode cores, DeviceAddress image,
                                    std::uint32_t blocks, DeviceAddress arguments,
                                    std::uint32_t argument_bytes, std::uint32_t most_cores = 0,
                                    bool mixed = false, Picoseconds timeout = {}) {
  constexpr std::int64_t kMicrosecond = 1'000'000;
  const auto us =
      std::clamp<std::int64_t>((timeout.count() + kMicrosecond - 1) / kMicrosecond, 0, UINT32_MAX);
  return detail::make(
      cores, abi::LaunchPayload{0, blocks, arguments.value, argument_bytes, most_cores, image.value,
                                mixed ? 1U : 0U, static_cast<std::uint32_t>(us)});
}
inline abi::QueueEntry record_event(SignalId event, std::uint64_t value) {
  return detail::make(abi::QueueOpcode::kEventRecord, abi::SignalPayload{event.value, 0, value});
}
// `timeout`: rounded down to nanoseconds; 0: none. After it the entry fails, and the queue
// continues.
inline abi::QueueEntry wait_event(SignalId event, std::uint64_t value,
                                  abi::WaitCondition condition = abi::WaitCondition::kReached,
                                  Picoseconds timeout = {}) {
  return detail::make(abi::QueueOpcode::kEventWait,
                      abi::WaitPayload{event.value, static_cast<std::uint32_t>(condition), value,
                                       static_cast<std::uint64_t>(timeout.count() / 1000)});
}
// The same with 8 bytes of device memory, aligned to 8, in place of an event: record_memory() also
// with another card's that is mapped into this address space.
inline abi::QueueEntry record_memory(DeviceAddress at, std::uint64_t value) {
  auto entry =
      detail::make(abi::QueueOpcode::kEventRecord, abi::MemorySignalPayload{0, 0, value, at.value});
  entry.flags = abi::kEntryMemorySignal;
  return entry;
}
inline abi::QueueEntry wait_memory(DeviceAddress at, std::uint64_t value, Picoseconds timeout) {
  auto entry = detail::make(
      abi::QueueOpcode::kEventWait,
      abi::MemoryWaitPayload{0, static_cast<std::uint32_t>(abi::WaitCondition::kReached), value,
                             static_cast<std::uint64_t>(timeout.count() / 1000), at.value});
  entry.flags = abi::kEntryMemorySignal;
  return entry;
}
inline abi::QueueEntry notify() {
  return detail::make(abi::QueueOpcode::kNotify);
}
inline abi::QueueEntry barrier() {
  return detail::make(abi::QueueOpcode::kBarrier);
}
inline abi::QueueEntry nop() {
  return detail::make(abi::QueueOpcode::kNop);
}
// Writes DEVICE_TIME in ns to 8 bytes, aligned to 8.
inline abi::QueueEntry timestamp(DeviceAddress at) {
  return detail::make(abi::QueueOpcode::kTimestamp, abi::TimestampPayload{at.value});
}
inline abi::QueueEntry timestamp(platform::BusAddress at) {
  auto entry = detail::make(abi::QueueOpcode::kTimestamp, abi::TimestampPayload{at.value});
  entry.flags = abi::kEntryHostAddress;
  return entry;
}

}  // namespace npu::driver::entries
