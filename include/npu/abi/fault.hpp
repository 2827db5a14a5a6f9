// SPDX-License-Identifier: Apache-2.0
// Fault codes the card reports in event records and in FAULT_CODE.
#pragma once

#include <cstdint>
#include <string_view>

namespace npu::abi {

enum class FaultCode : std::uint16_t {
  kNone = 0x0000,
  kInvalidOpcode = 0x0001,
  kInvalidStream = 0x0002,      // stream id beyond STREAM_COUNT, or stream not enabled
  kInvalidSize = 0x0003,        // zero, or address + size overflows
  kInvalidEvent = 0x0004,       // event id beyond EVENT_COUNT
  kDeviceAddress = 0x0010,      // beyond device memory
  kHostAddress = 0x0011,        // unsupported request: no DMA mapping for the bus address
  kHostPermission = 0x0012,     // the DMA mapping forbids this direction
  kCompletionTimeout = 0x0013,  // a read over the link was never answered
  kBusMasterDisabled = 0x0014,  // COMMAND.BusMaster is 0
  kPoisoned = 0x0015,           // a completion arrived poisoned
  kNoPeer = 0x0016,             // P2P without a link to another card
  kTranslation = 0x0017,        // device virtual address not mapped in its address space
  kDevicePermission = 0x0018,   // mapped, but not for this kind of access
  kPageTable = 0x0019,          // a table that the walker could not read, or a malformed entry
  kDoorbellRange = 0x0020,      // producer index beyond the ring
  kRingFetch = 0x0021,          // a ring entry could not be read
};

constexpr std::string_view to_string(FaultCode code) {
  switch (code) {
    case FaultCode::kNone:
      return "none";
    case FaultCode::kInvalidOpcode:
      return "invalid opcode";
    case FaultCode::kInvalidStream:
      return "invalid stream";
    case FaultCode::kInvalidSize:
      return "invalid size";
    case FaultCode::kInvalidEvent:
      return "invalid event";
    case FaultCode::kDeviceAddress:
      return "device address out of range";
    case FaultCode::kHostAddress:
      return "host address not mapped for DMA";
    case FaultCode::kHostPermission:
      return "host address not mapped for this direction";
    case FaultCode::kCompletionTimeout:
      return "completion timeout";
    case FaultCode::kBusMasterDisabled:
      return "bus mastering disabled";
    case FaultCode::kPoisoned:
      return "poisoned completion";
    case FaultCode::kNoPeer:
      return "no link to a peer";
    case FaultCode::kTranslation:
      return "device address not mapped";
    case FaultCode::kDevicePermission:
      return "device address not mapped for this access";
    case FaultCode::kPageTable:
      return "malformed page table";
    case FaultCode::kDoorbellRange:
      return "doorbell value out of range";
    case FaultCode::kRingFetch:
      return "ring entry not readable";
  }
  return "unknown fault";
}

}  // namespace npu::abi
