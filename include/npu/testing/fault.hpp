// SPDX-License-Identifier: Apache-2.0
// Faults of a card, and the time of their injection (MachineTest::inject()). The model of the card
// has the fault, not only the platform: a card whose link is down answers nothing, and makes no
// DMA. Two overlapping faults of one kind and card end together, with the first one.
//
//   inject(link_down(5_us), after(20_us));
//   inject(function_level_reset(), at_access(1, AccessKind::kMmioWrite, "DMA_DOORBELL"));
#pragma once

#include <cstdint>
#include <string>

#include "npu/base/units.hpp"
#include "npu/testing/access.hpp"

namespace npu::testkit {

enum class FaultKind : std::uint8_t {
  kLinkDown,
  kFunctionLevelReset,
  kBusMasterOff,
  kMemoryDecodeOff,
  kPowerDown,
  kPoisonedCompletion,
  kLostCompletion,
  kPeerLinkDown,
  kLostInterrupt,
  kDuplicatedInterrupt,
  kDelayedInterrupt,
  kSpuriousInterrupt,
  kMaskedVector,
  kMemoryError,
  kLinkRetrained,
  kBadTlp,
  kStuckEngine,
  kHungCore,
  kRefusedCompletion,
  kDroppedTlp,
  kIommuFault,
  kThermalThrottling,
  kSlowChannel,
  kPoisonedWrite,
  kUnexpectedCompletion,
  kLinkError,
  kMisdirectedInterrupt,
  kLostCommand,
  kHungAicpu,
  kHungControlProcessor,
};

// For interrupt faults: the next interrupt of any vector.
inline constexpr unsigned kAnyVector = ~0U;
// For the physical function.
inline constexpr unsigned kNoVirtualFunction = ~0U;

// The requester of a faulty completion; of faults of one TLP: its receiver.
enum class Requester : std::uint8_t {
  kCard,  // a read of host memory by the card
  kHost,  // an MMIO or configuration read by the host
};
// How long the port above a card keeps its link down after an error that it contains, if the fault
// has no duration: the time of who handles the error. Assumed.
inline constexpr Picoseconds kContainment = 10_ms;

// kRefusedCompletion: the status that the completion has (PCIe 2.2.9).
enum class CompletionStatus : std::uint8_t { kUnsupportedRequest, kCompleterAbort };

// kDroppedTlp: the error that the receiver logs (PCIe 7.8.4.2).
enum class TlpError : std::uint8_t { kEcrc, kMalformed, kReceiverOverflow };

// kLinkError: what goes wrong below the TLPs (PCIe 7.8.4.5).
enum class LinkErrorType : std::uint8_t { kReceiver, kBadDllp, kRollover, kTimeout };

struct Fault {
  FaultKind kind = FaultKind::kLinkDown;
  Picoseconds duration = Picoseconds::max();  // max(): permanent
  Requester requester = Requester::kCard;
  unsigned peer = 0;  // the card at the other end
  unsigned card = 0;
  unsigned vector = kAnyVector;                    // of the function's MSI-X table
  unsigned virtual_function = kNoVirtualFunction;  // of the card, from 0
  std::uint64_t address = 0;                       // kMemoryError: device-local, in bytes
  unsigned bits = 1;                               // kMemoryError: flipped bits, 1 or 2
  unsigned generation = 0;                         // kLinkRetrained; 0: as configured
  unsigned lanes = 0;                              // kLinkRetrained; 0: as configured
  // kStuckEngine, kLostCommand, kHungCore, kHungAicpu, kSlowChannel: its number.
  unsigned unit = 0;
  CompletionStatus status = CompletionStatus::kUnsupportedRequest;  // kRefusedCompletion
  TlpError error = TlpError::kEcrc;                                 // kDroppedTlp
  unsigned clock_percent = 50;                                      // kThermalThrottling
  unsigned refreshes = 4;                                           // kSlowChannel
  std::string link = {};  // kPeerLinkDown: its name in reports; empty: between card and peer
  LinkErrorType type = LinkErrorType::kReceiver;  // kLinkError
  unsigned to = 0;  // kMisdirectedInterrupt: the vector that it arrives at

  // The same fault on another card of the machine.
  Fault on_card(unsigned index) const {
    Fault other = *this;
    other.card = index;
    return other;
  }
  // The same fault of a virtual function of the card. Only function level reset, bus mastering,
  // interrupts and control processors belong to a function; all other faults belong to the card.
  Fault on_virtual_function(unsigned index) const {
    Fault other = *this;
    other.virtual_function = index;
    return other;
  }
};

// The card is removed: reads return all ones, and writes and interrupts are lost.
inline Fault surprise_removal() {
  return {};
}
// The card's link is down for `duration`. This resets the card. It returns with its configuration
// of boot, and software must wait 100 ms (PCIe 6.6.1).
inline Fault link_down(Picoseconds duration) {
  return {FaultKind::kLinkDown, duration};
}
// A reset of the function from outside of the driver (PCIe 6.6.2).
inline Fault function_level_reset() {
  return {FaultKind::kFunctionLevelReset};
}
// The bit in the function's command register is cleared from outside of the driver, and set after
// `duration`.
inline Fault bus_master_off(Picoseconds duration = Picoseconds::max()) {
  return {FaultKind::kBusMasterOff, duration};
}
inline Fault memory_decode_off(Picoseconds duration = Picoseconds::max()) {
  return {FaultKind::kMemoryDecodeOff, duration};
}
// State D3hot, and D0 after `duration`.
inline Fault power_down(Picoseconds duration = Picoseconds::max()) {
  return {FaultKind::kPowerDown, duration};
}
// The next completion for `requester` arrives poisoned, or is lost.
inline Fault poisoned_completion(Requester requester = Requester::kCard) {
  return {FaultKind::kPoisonedCompletion, {}, requester};
}
inline Fault lost_completion(Requester requester = Requester::kCard) {
  return {FaultKind::kLostCompletion, {}, requester};
}
// The next MSI-X message of `vector` is lost. The data that it reports is in memory. An interrupt
// fault is pending until the next such message.
inline Fault lost_interrupt(unsigned vector = kAnyVector) {
  return {FaultKind::kLostInterrupt, {}, Requester::kCard, 0, 0, vector};
}
// It arrives twice.
inline Fault duplicated_interrupt(unsigned vector = kAnyVector) {
  return {FaultKind::kDuplicatedInterrupt, {}, Requester::kCard, 0, 0, vector};
}
// It arrives later by `time`. Other writes and messages of the card overtake it.
inline Fault delayed_interrupt(Picoseconds time, unsigned vector = kAnyVector) {
  return {FaultKind::kDelayedInterrupt, time, Requester::kCard, 0, 0, vector};
}
// The card raises the vector without a cause. A masked one waits like any other.
inline Fault spurious_interrupt(unsigned vector) {
  return {FaultKind::kSpuriousInterrupt, {}, Requester::kCard, 0, 0, vector};
}
// The vector is masked in the function's MSI-X table from outside of the driver, and unmasked after
// `duration`; kAnyVector: all of the function are, by one bit (PCI 3.0, 6.8.2.3). Interrupts raised
// meanwhile are pending, and one arrives then (PCI 3.0, 6.8.2.6).
inline Fault masked_vector(unsigned vector, Picoseconds duration = Picoseconds::max()) {
  return {FaultKind::kMaskedVector, duration, Requester::kCard, 0, 0, vector};
}
// The HCCS link to card `peer` is down for `duration`.
inline Fault peer_link_down(unsigned peer, Picoseconds duration = Picoseconds::max()) {
  return {FaultKind::kPeerLinkDown, duration, Requester::kCard, peer};
}

// `bits` (1 or 2) of the burst of the card's HBM at the device-local `address` are flipped. A read
// of it finds the error: one bit is corrected, and a read of two bits fails until all of the burst
// is written. Both are counted and logged (npu/abi/telemetry.hpp).
inline Fault memory_error(std::uint64_t address, unsigned bits) {
  Fault fault{FaultKind::kMemoryError, {}};
  fault.address = address;
  fault.bits = bits;
  return fault;
}
// The card's link trains to a lower generation (1 to 5) or fewer lanes (a power of two), and back
// to its configuration after `duration`. It carries nothing while it trains, and loses nothing. The
// link status registers at both ends show speed and width (PCIe 4.2.6.4, 7.5.3.8).
inline Fault link_retrained(unsigned generation, unsigned lanes,
                            Picoseconds duration = Picoseconds::max()) {
  Fault fault{FaultKind::kLinkRetrained, duration};
  fault.generation = generation;
  fault.lanes = lanes;
  return fault;
}
// The next TLP to `receiver` arrives with a bad LCRC. The receiver asks for it again, and logs a
// correctable error (PCIe 3.6.2, 6.2.3).
inline Fault bad_tlp(Requester receiver = Requester::kCard) {
  return {FaultKind::kBadTlp, {}, receiver};
}
// DMA engine `engine` begins no more commands, for `duration` or until a reset of a function that
// uses it. Commands that it has begun end.
inline Fault stuck_engine(unsigned engine, Picoseconds duration = Picoseconds::max()) {
  Fault fault{FaultKind::kStuckEngine, duration};
  fault.unit = engine;
  return fault;
}
// The next command that DMA engine `engine` begins is lost: nothing of it happens, and nobody is
// told. Commands of its stream wait behind it, all others go on. After `duration` it is carried out
// late. A reset of its function drops it.
inline Fault lost_command(unsigned engine, Picoseconds duration = Picoseconds::max()) {
  Fault fault{FaultKind::kLostCommand, duration};
  fault.unit = engine;
  return fault;
}
// AI Core `core` executes no more instructions, for `duration` or until a reset of the function
// that it belongs to. A block that it has begun can be stopped.
inline Fault hung_core(unsigned core, Picoseconds duration = Picoseconds::max()) {
  Fault fault{FaultKind::kHungCore, duration};
  fault.unit = core;
  return fault;
}

// AICPU `aicpu` executes no more instructions, for `duration` or until a reset of the function that
// has used it last: the scheduler of a task graph makes no progress. A graph can be stopped.
inline Fault hung_aicpu(unsigned aicpu, Picoseconds duration = Picoseconds::max()) {
  Fault fault{FaultKind::kHungAicpu, duration};
  fault.unit = aicpu;
  return fault;
}
// The control processor of the function executes no more instructions, for `duration` or until a
// reset of the function. The function's registers answer. No page fault is served.
inline Fault hung_control_processor(Picoseconds duration = Picoseconds::max()) {
  return {FaultKind::kHungControlProcessor, duration};
}

// The next completion for `requester` has the status, and no data. Registers of a host's read are
// all ones then.
inline Fault refused_completion(CompletionStatus status, Requester requester = Requester::kCard) {
  Fault fault{FaultKind::kRefusedCompletion, {}, requester};
  fault.status = status;
  return fault;
}
// The next TLP to the card has the error. The card drops it, and logs the error as uncorrectable
// (PCIe 6.2.2.2). A dropped read ends with a completion timeout. The card does not know which write
// it has dropped: rings and queues of all its functions halt with kHostWriteLost.
// To the host: the port above the card drops and logs it, and contains the error: the link is down
// for `contained`, which resets the card (PCIe 6.2.10).
inline Fault dropped_tlp(TlpError error, Requester receiver = Requester::kCard,
                         Picoseconds contained = kContainment) {
  Fault fault{FaultKind::kDroppedTlp, contained, receiver};
  fault.error = error;
  return fault;
}
// The next memory write to `receiver` arrives poisoned (PCIe 2.7.2), and is dropped and logged. The
// card halts what the write may have been for, with kHostWriteLost: rings and queues of its
// function. The port above the card contains the error, as of dropped_tlp().
inline Fault poisoned_write(Requester receiver = Requester::kCard,
                            Picoseconds contained = kContainment) {
  return {FaultKind::kPoisonedWrite, contained, receiver};
}
// A completion that nobody has asked for arrives at `receiver`, which logs and drops it
// (PCIe 2.3.2).
inline Fault unexpected_completion(Requester receiver = Requester::kCard) {
  return {FaultKind::kUnexpectedCompletion, {}, receiver};
}
// A correctable error of the link towards `receiver`. Nothing is lost (PCIe 4.2.6, 3.6.2).
inline Fault link_error(LinkErrorType type, Requester receiver = Requester::kCard) {
  Fault fault{FaultKind::kLinkError, {}, receiver};
  fault.type = type;
  return fault;
}
// The next MSI-X message of `vector` arrives at vector `to`.
inline Fault misdirected_interrupt(unsigned to, unsigned vector = kAnyVector) {
  Fault fault{FaultKind::kMisdirectedInterrupt, {}, Requester::kCard, 0, 0, vector};
  fault.to = to;
  return fault;
}
// The IOMMU refuses the next read or translation request of the card, as if its page were not
// mapped. Writes go by a translation from before.
inline Fault iommu_fault() {
  return {FaultKind::kIommuFault, {}};
}
// The card is hot: its AI Cores run at `percent` (1 to 100) of their clock for `duration`.
// CORE_CLOCK tells, and the log of events has an alarm.
inline Fault thermal_throttling(unsigned percent, Picoseconds duration = Picoseconds::max()) {
  Fault fault{FaultKind::kThermalThrottling, duration};
  fault.clock_percent = percent;
  return fault;
}
// Channel `channel` of the HBM is hot: it is refreshed `refreshes` times (2 to 8) as often for
// `duration`, and serves less between.
inline Fault slow_channel(unsigned channel, unsigned refreshes,
                          Picoseconds duration = Picoseconds::max()) {
  Fault fault{FaultKind::kSlowChannel, duration};
  fault.unit = channel;
  fault.refreshes = refreshes;
  return fault;
}

// The time of an injection.
struct When {
  enum class Kind : std::uint8_t { kAtOnce, kAt, kAfter, kAccess };
  Kind kind = Kind::kAtOnce;
  Instant instant{};    // kAt
  Picoseconds delay{};  // kAfter
  std::uint64_t nth = 1;
  AccessKind access = AccessKind::kMmioRead;
  std::string name = {};  // empty: any
};

inline When at_once() {
  return {};
}
// At exactly this simulated time.
inline When at(Instant time) {
  return {When::Kind::kAt, time};
}
// This long after the call of inject().
inline When after(Picoseconds time) {
  return {When::Kind::kAfter, {}, time};
}
// Immediately before the n-th next access of a kind (1: the next), only to the register `name` if
// it is not empty (Access::name). Not for kInterrupt, which is no access of the host. A poll loop
// is one access while it sees no change.
inline When at_access(std::uint64_t nth, AccessKind kind, std::string name = {}) {
  return {When::Kind::kAccess, {}, {}, nth, kind, std::move(name)};
}

}  // namespace npu::testkit
