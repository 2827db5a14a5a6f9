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
  kNoPeer = 0x0016,             // P2P without a link to that card, or none named
  kTranslation = 0x0017,        // device virtual address not mapped in its address space
  kDevicePermission = 0x0018,   // mapped, but not for this kind of access
  kPageTable = 0x0019,          // a table that the walker could not read, or a malformed entry
  kPeerLinkDown = 0x001A,       // the link to the peer went down, or the peer never answered
  kPeerRefused = 0x001B,        // the peer does not let this card in (HCCS_ACCESS)
  kDoorbellRange = 0x0020,      // producer index beyond the ring
  kRingFetch = 0x0021,          // a ring entry could not be read

  // Compute queues (queue_management.hpp). An address fault has one of the codes above.
  kDoorbellUnowned = 0x0030,  // no queue has this doorbell, or the write was none
  kIndexBackwards = 0x0031,   // write index below the one before
  kIndexBeyondRing = 0x0032,  // write index more than the ring's size above the read index
  kMalformedEntry = 0x0033,   // format, opcode, flags or a field out of range
  kCompletionRing = 0x0034,   // a completion entry could not be written
  kQueueMemory = 0x0035,      // an index, a signal slot or the save area could not be reached
  kQueueDescriptor = 0x0036,  // the descriptor could not be read, or a field is out of range
  kInvalidFunction = 0x0037,  // function id that the cores do not know
  kInvalidCoreMask = 0x0038,  // allows no core that exists
  kInvalidSignal = 0x0039,    // slot beyond the queue's signal page
  kWaitTimeout = 0x003A,      // an event wait took longer than it allows; no fault of the queue
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
    case FaultCode::kPeerLinkDown:
      return "link to the peer is down";
    case FaultCode::kPeerRefused:
      return "refused by the peer";
    case FaultCode::kDoorbellRange:
      return "doorbell value out of range";
    case FaultCode::kRingFetch:
      return "ring entry not readable";
    case FaultCode::kDoorbellUnowned:
      return "doorbell of no queue";
    case FaultCode::kIndexBackwards:
      return "write index went backwards";
    case FaultCode::kIndexBeyondRing:
      return "write index beyond the ring";
    case FaultCode::kMalformedEntry:
      return "malformed queue entry";
    case FaultCode::kCompletionRing:
      return "completion ring not writable";
    case FaultCode::kQueueMemory:
      return "queue memory not reachable";
    case FaultCode::kQueueDescriptor:
      return "invalid queue descriptor";
    case FaultCode::kInvalidFunction:
      return "unknown kernel function";
    case FaultCode::kInvalidCoreMask:
      return "core mask without a core";
    case FaultCode::kInvalidSignal:
      return "invalid signal slot";
    case FaultCode::kWaitTimeout:
      return "event wait timed out";
  }
  return "unknown fault";
}

}  // namespace npu::abi
