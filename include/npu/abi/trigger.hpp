// SPDX-License-Identifier: Apache-2.0
// Writes of the host that make the card look at what the host has stored before: doorbells, and
// registers that start something which reads memory. Between those stores and such a write a driver
// has a write barrier. Sources: registers.hpp, queue_registers.hpp, page_fault.hpp, control.hpp,
// queue_descriptor.hpp (doorbells of processes).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "npu/abi/control.hpp"
#include "npu/abi/layout.hpp"
#include "npu/abi/page_fault.hpp"
#include "npu/abi/queue_registers.hpp"
#include "npu/abi/registers.hpp"

namespace npu::abi {

struct Trigger {
  std::uint64_t offset;  // in BAR0
  std::string_view name;
};

template <class Register>
constexpr Trigger trigger() {
  return {Register::kOffset, Register::kName};
}
inline constexpr std::array<Trigger, 6> kTriggers = {
    trigger<MmuInvalidate>(), trigger<ManagementDoorbell>(), trigger<PageFaultReply>(),
    trigger<ControlState>(),  trigger<MessageSend>(),        trigger<DmaDoorbell>()};

inline constexpr std::string_view kDoorbellName = "DOORBELL_PAGE";

// Of an offset in BAR0, or in BAR2 of a function with `memory` bytes for its allocator; empty:
// none.
constexpr std::string_view trigger_name(unsigned bar, std::uint64_t offset, std::uint64_t memory) {
  if (bar == kRegisterBar) {
    for (const auto& trigger : kTriggers) {
      if (trigger.offset == offset) return trigger.name;
    }
    return {};
  }
  if (bar != kMemoryBar) return {};
  const bool is_doorbell =
      offset >= memory + kReservedDoorbellOffset && offset < memory + kReservedQueueOffset;
  return is_doorbell ? kDoorbellName : std::string_view();
}

}  // namespace npu::abi
