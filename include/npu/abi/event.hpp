// SPDX-License-Identifier: Apache-2.0
// Events: how the card tells the host that commands are done. Each event is a 64-bit counter,
// readable in BAR0 (0x2000 + 8 id) and, if EVENT_RECORD_BASE is set, written by the card into
// host memory at EVENT_RECORD_BASE + 8 id. A completion adds 1 to Count; a fault also latches
// its code into Fault until the queue is enabled anew. Counting needs no reset between uses, so
// no completion can be lost between a check and a reset.
#pragma once

#include <cstdint>

#include "npu/abi/fault.hpp"
#include "npu/abi/register.hpp"

namespace npu::abi {

// Offset from the start of the event's own 8 bytes.
struct EventRegister : Register<EventRegister, std::uint64_t, 0x0000, Access::kReadOnly> {
  static constexpr std::string_view kName = "EVENT";
  NPU_FIELD(Count, 31, 0, "completions, modulo 2^32");
  NPU_FIELD(Fault, 47, 32, "FaultCode of the first failed command, 0 if none");
};

struct EventRecord {
  std::uint64_t raw = 0;

  using Count = EventRegister::Count;
  using Fault = EventRegister::Fault;

  constexpr std::uint32_t count() const { return static_cast<std::uint32_t>(raw); }
  constexpr FaultCode fault() const {
    return static_cast<FaultCode>((raw & Fault::kMask) >> Fault::kLow);
  }
  constexpr void complete(FaultCode code) {
    raw = (raw & ~Count::kMask) | static_cast<std::uint32_t>(count() + 1);
    if (fault() == FaultCode::kNone) raw |= static_cast<std::uint64_t>(code) << Fault::kLow;
  }
};
static_assert(sizeof(EventRecord) == 8);

// True once `count` has reached `target`, with wrap-around; at most 2^31 - 1 may be in flight.
constexpr bool event_reached(std::uint32_t count, std::uint32_t target) {
  return static_cast<std::int32_t>(count - target) >= 0;
}

}  // namespace npu::abi
