// SPDX-License-Identifier: Apache-2.0
#include "driver/queue/fault_text.hpp"

#include <fmt/format.h>

#include "npu/abi/instruction_fault.hpp"

namespace npu::driver {
namespace {

using abi::FaultCode;
using abi::FaultyField;

template <class Names>
std::string_view name_in(const Names& names, std::size_t index) {
  return index < names.size() ? names[index] : "?";
}

std::string place_in(const abi::InstructionFault& fault) {
  std::string text = fmt::format("{} instruction", name_in(abi::kPipeNames, fault.pipe));
  if (fault.instruction > 0) {
    text += fmt::format(" {}{}", fault.instruction,
                        fault.instruction == abi::InstructionFault::kMost ? " or later" : "");
  }
  const auto field = static_cast<std::size_t>(fault.field);
  text += fmt::format(", {}", name_in(abi::kFaultyFieldNames, field));
  if (fault.buffer != 0) {
    text +=
        fmt::format(": offset {:#x} in {}", fault.offset, name_in(abi::kBufferNames, fault.buffer));
  } else if (fault.field == FaultyField::kFlag) {
    text += fmt::format(" {}", fault.offset);
  }
  return text;
}

std::string address_of(const QueueFault& fault) {
  switch (fault.code) {
    case FaultCode::kNone:
    case FaultCode::kMalformedEntry:
    case FaultCode::kInvalidCoreMask:
      return {};
    case FaultCode::kIndexBackwards:
    case FaultCode::kIndexBeyondRing:
      return fmt::format("doorbell value {}", fault.address);
    case FaultCode::kKernelResult:
      return fmt::format("returned {}", static_cast<std::int32_t>(fault.address));
    case FaultCode::kKernelTrap:
      return fmt::format("code {}", fault.address);
    case FaultCode::kInvalidImage:
      return fmt::format("image {:#x}", fault.address);
    case FaultCode::kInvalidFunction:
      return fmt::format("function {:#x}", fault.address);
    case FaultCode::kInvalidSignal:
      return fmt::format("slot {}", fault.address);
    case FaultCode::kLocalBuffer:
    case FaultCode::kLocalAlignment:
    case FaultCode::kInstruction:
    case FaultCode::kFlagDeadlock: {
      const auto instruction = abi::InstructionFault::unpack(fault.address);
      if (instruction.field != FaultyField::kNone) return place_in(instruction);
      break;
    }
    default:
      break;
  }
  return fmt::format("{} of {:#x}{}", fault.write ? "write" : "read", fault.address,
                     fault.host ? " on the bus" : "");
}

}  // namespace

std::string place_of(const QueueFault& fault) {
  std::string text = address_of(fault);
  if (fault.size != 0 && !text.empty()) text += fmt::format(", {} bytes", fault.size);
  return text;
}

std::string whole_place_of(const QueueFault& fault) {
  const std::string place = place_of(fault);
  if (!fault.core) return place;
  return fmt::format("block {}, core {}{}{}", fault.block, *fault.core, place.empty() ? "" : ", ",
                     place);
}

}  // namespace npu::driver
