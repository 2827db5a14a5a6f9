// SPDX-License-Identifier: Apache-2.0
// Fault codes the card reports in event records and in FAULT_CODE.
#pragma once

#include <array>
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
  kHostWriteLost = 0x0022,      // a write of the host was refused: memory decoding was off

  // Compute queues (queue_management.hpp). An address fault has one of the codes above.
  kDoorbellUnowned = 0x0030,  // no queue has this doorbell, or the write was none
  kIndexBackwards = 0x0031,   // write index below the one before
  kIndexBeyondRing = 0x0032,  // write index more than the ring's size above the read index
  kMalformedEntry = 0x0033,   // format, opcode, flags or a field out of range
  kCompletionRing = 0x0034,   // a completion entry could not be written
  kQueueMemory = 0x0035,      // an index, a signal slot or the save area could not be reached
  kQueueDescriptor = 0x0036,  // the descriptor could not be read, or a field is out of range
  kInvalidFunction = 0x0037,  // a launch without a program, or a function id
  kInvalidCoreMask = 0x0038,  // allows no core that exists
  kInvalidSignal = 0x0039,    // slot beyond the queue's signal page
  kWaitTimeout = 0x003A,      // an event wait took longer than it allows; no fault of the queue
  kInvalidImage = 0x003B,     // no program at that address, or one for other cores
  kTaskTimeout = 0x003C,      // a block ran longer than its launch or its function's group allows
  kSignalTimeout = 0x003D,    // a wait for a signal in device memory took longer than it allows

  // Programs on the card's own cores (platform/aicore_port.hpp)
  kLocalBuffer = 0x0040,     // access beyond a local buffer
  kLocalAlignment = 0x0041,  // misaligned access to a local buffer
  kInstruction = 0x0042,     // instruction with a field out of range, or that the core has not
  kFlagDeadlock = 0x0043,    // a wait that nothing can end
  kKernelTrap = 0x0044,      // the program gave up
  kKernelResult = 0x0045,    // a launched program returned something other than 0: the address
};

struct FaultName {
  FaultCode code;
  std::string_view name;
};
inline constexpr std::array<FaultName, 40> kFaultNames = {{
    {FaultCode::kNone, "none"},
    {FaultCode::kInvalidOpcode, "invalid opcode"},
    {FaultCode::kInvalidStream, "invalid stream"},
    {FaultCode::kInvalidSize, "invalid size"},
    {FaultCode::kInvalidEvent, "invalid event"},
    {FaultCode::kDeviceAddress, "device address out of range"},
    {FaultCode::kHostAddress, "host address not mapped for DMA"},
    {FaultCode::kHostPermission, "host address not mapped for this direction"},
    {FaultCode::kCompletionTimeout, "completion timeout"},
    {FaultCode::kBusMasterDisabled, "bus mastering disabled"},
    {FaultCode::kPoisoned, "poisoned completion"},
    {FaultCode::kNoPeer, "no link to a peer"},
    {FaultCode::kTranslation, "device address not mapped"},
    {FaultCode::kDevicePermission, "device address not mapped for this access"},
    {FaultCode::kPageTable, "malformed page table"},
    {FaultCode::kPeerLinkDown, "link to the peer is down"},
    {FaultCode::kPeerRefused, "refused by the peer"},
    {FaultCode::kDoorbellRange, "doorbell value out of range"},
    {FaultCode::kRingFetch, "ring entry not readable"},
    {FaultCode::kHostWriteLost, "write of the host refused"},
    {FaultCode::kDoorbellUnowned, "doorbell of no queue"},
    {FaultCode::kIndexBackwards, "write index went backwards"},
    {FaultCode::kIndexBeyondRing, "write index beyond the ring"},
    {FaultCode::kMalformedEntry, "malformed queue entry"},
    {FaultCode::kCompletionRing, "completion ring not writable"},
    {FaultCode::kQueueMemory, "queue memory not reachable"},
    {FaultCode::kQueueDescriptor, "invalid queue descriptor"},
    {FaultCode::kInvalidFunction, "unknown kernel function"},
    {FaultCode::kInvalidCoreMask, "core mask without a core"},
    {FaultCode::kInvalidSignal, "invalid signal slot"},
    {FaultCode::kWaitTimeout, "event wait timed out"},
    {FaultCode::kInvalidImage, "no program at the address"},
    {FaultCode::kTaskTimeout, "a block ran longer than it may"},
    {FaultCode::kSignalTimeout, "no signal from a peer in time"},
    {FaultCode::kLocalBuffer, "access beyond a local buffer"},
    {FaultCode::kLocalAlignment, "misaligned access to a local buffer"},
    {FaultCode::kInstruction, "invalid instruction"},
    {FaultCode::kFlagDeadlock, "wait for a flag that nothing raises"},
    {FaultCode::kKernelTrap, "kernel trap"},
    {FaultCode::kKernelResult, "kernel returned an error"},
}};

constexpr std::string_view to_string(FaultCode code) {
  for (const auto& fault : kFaultNames) {
    if (fault.code == code) return fault.name;
  }
  return "unknown fault";
}

}  // namespace npu::abi
