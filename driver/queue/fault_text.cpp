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

// The scalar unit's own steps are not numbered: what it had issued last says where it was.
std::string instruction_at(abi::InstructionPlace place) {
  const std::string number =
      fmt::format("instruction {}{}", place.number,
                  place.number == abi::InstructionPlace::kMost ? " or later" : "");
  if (place.pipe != 0) return fmt::format("{} {}", name_in(abi::kPipeNames, place.pipe), number);
  return place.number == 0 ? "scalar unit" : "scalar unit behind " + number;
}

std::string field_of(const QueueFault& fault, const abi::InstructionFault& found) {
  const auto name = name_in(abi::kFaultyFieldNames, static_cast<std::size_t>(found.field));
  std::string text(name);
  if (found.buffer != 0) {
    text +=
        fmt::format(": offset {:#x} in {}", found.offset, name_in(abi::kBufferNames, found.buffer));
  } else if (found.field == FaultyField::kFlag || abi::is_size(found.field)) {
    text += fmt::format(" {}", found.offset);
  }
  if (found.field == FaultyField::kPitch) {
    return fmt::format("{}, rows have {} bytes", text, fault.size);
  }
  return fault.size == 0 ? text : fmt::format("{}, {} bytes", text, fault.size);
}

std::string found_at(const QueueFault& fault) {
  switch (fault.code) {
    case FaultCode::kNone:
    case FaultCode::kMalformedEntry:
    case FaultCode::kInvalidCoreMask:
    case FaultCode::kTaskTimeout:
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
      const auto found = abi::InstructionFault::unpack(fault.address);
      if (found.field != FaultyField::kNone) return field_of(fault, found);
      break;
    }
    default:
      break;
  }
  // A queue's descriptor does not say which access failed. A completion ring is only written.
  const bool write = fault.write || fault.code == FaultCode::kCompletionRing;
  const std::string text = fmt::format("{} of {:#x}{}", write ? "write" : "read", fault.address,
                                       fault.host ? " on the bus" : "");
  return fault.size == 0 ? text : fmt::format("{}, {} bytes", text, fault.size);
}

}  // namespace

std::string place_of(const QueueFault& fault) {
  std::string text = found_at(fault);
  if (!fault.instruction || fault.code == FaultCode::kKernelResult) return text;
  const std::string at = instruction_at(*fault.instruction);
  return text.empty() ? at : fmt::format("{}, {}", at, text);
}

std::string whole_place_of(const QueueFault& fault) {
  const std::string place = place_of(fault);
  if (!fault.core) return place;
  return fmt::format("block {}, core {}{}{}", fault.block, *fault.core, place.empty() ? "" : ", ",
                     place);
}

}  // namespace npu::driver
