// SPDX-License-Identifier: Apache-2.0
// Things that go wrong with a card, and when. All of them are what the model does, not what the
// platform pretends: a card whose link is down answers nothing, its DMA included. Of two that
// overlap and are of one kind and card, the first end is that of both.
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
};

// Of the interrupt faults below: whichever vector is next.
inline constexpr unsigned kAnyVector = ~0U;
// The fault is the physical function's.
inline constexpr unsigned kNoVirtualFunction = ~0U;

// Who waits for a completion that goes wrong.
enum class Requester : std::uint8_t {
  kCard,  // a read of host memory by the card
  kHost,  // an MMIO or configuration read by the host
};

struct Fault {
  FaultKind kind = FaultKind::kLinkDown;
  Picoseconds duration = Picoseconds::max();  // max(): for good
  Requester requester = Requester::kCard;
  unsigned peer = 0;  // the card at the other end
  unsigned card = 0;
  unsigned vector = kAnyVector;                    // of the function's MSI-X table
  unsigned virtual_function = kNoVirtualFunction;  // of the card, from 0

  // The same, on another card of the machine.
  Fault on_card(unsigned index) const {
    Fault other = *this;
    other.card = index;
    return other;
  }
  // The same, of a virtual function of the card: a function level reset, bus mastering and
  // interrupts are each function's own, all else is the card's.
  Fault on_virtual_function(unsigned index) const {
    Fault other = *this;
    other.virtual_function = index;
    return other;
  }
};

// The card is pulled out: reads are all ones, writes and interrupts vanish.
inline Fault surprise_removal() {
  return {};
}
// The card's link is down for `duration`. The card is reset by that and configured as at boot when
// it is back; software leaves it alone for 100 ms then (PCIe 6.6.1).
inline Fault link_down(Picoseconds duration) {
  return {FaultKind::kLinkDown, duration};
}
// Somebody else resets the function (PCIe 6.6.2).
inline Fault function_level_reset() {
  return {FaultKind::kFunctionLevelReset};
}
// Somebody else clears the bit in the function's command register, and sets it after `duration`.
inline Fault bus_master_off(Picoseconds duration = Picoseconds::max()) {
  return {FaultKind::kBusMasterOff, duration};
}
inline Fault memory_decode_off(Picoseconds duration = Picoseconds::max()) {
  return {FaultKind::kMemoryDecodeOff, duration};
}
// D3hot, and D0 after `duration`.
inline Fault power_down(Picoseconds duration = Picoseconds::max()) {
  return {FaultKind::kPowerDown, duration};
}
// The next completion for `requester` arrives poisoned, or not at all.
inline Fault poisoned_completion(Requester requester = Requester::kCard) {
  return {FaultKind::kPoisonedCompletion, {}, requester};
}
inline Fault lost_completion(Requester requester = Requester::kCard) {
  return {FaultKind::kLostCompletion, {}, requester};
}
// The next MSI-X message that the card sends, of `vector` or of any, does not arrive: what it tells
// of is in memory, and nobody is told. An interrupt fault is pending until a message has met it.
inline Fault lost_interrupt(unsigned vector = kAnyVector) {
  return {FaultKind::kLostInterrupt, {}, Requester::kCard, 0, 0, vector};
}
// It arrives twice, one behind the other.
inline Fault duplicated_interrupt(unsigned vector = kAnyVector) {
  return {FaultKind::kDuplicatedInterrupt, {}, Requester::kCard, 0, 0, vector};
}
// It arrives so much later; what the card writes and sends meanwhile overtakes it.
inline Fault delayed_interrupt(Picoseconds time, unsigned vector = kAnyVector) {
  return {FaultKind::kDelayedInterrupt, time, Requester::kCard, 0, 0, vector};
}
// The card raises the vector although nothing has happened. What its table or the function masks
// waits as any other.
inline Fault spurious_interrupt(unsigned vector) {
  return {FaultKind::kSpuriousInterrupt, {}, Requester::kCard, 0, 0, vector};
}
// Somebody else masks the vector in the function's MSI-X table, and unmasks it after `duration`;
// what was raised meanwhile is pending, and comes once then (PCI 3.0, 6.8.2.6).
inline Fault masked_vector(unsigned vector, Picoseconds duration = Picoseconds::max()) {
  return {FaultKind::kMaskedVector, duration, Requester::kCard, 0, 0, vector};
}
// The HCCS link between two cards of a machine.
inline Fault peer_link_down(unsigned peer, Picoseconds duration = Picoseconds::max()) {
  return {FaultKind::kPeerLinkDown, duration, Requester::kCard, peer};
}

// When it happens.
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
// At a simulated time, exactly: whatever the tasks do then.
inline When at(Instant time) {
  return {When::Kind::kAt, time};
}
// So much later than inject() is called.
inline When after(Picoseconds time) {
  return {When::Kind::kAfter, {}, time};
}
// Immediately before the n-th access (1 is the next) of a kind, to the register of that name if one
// is given (Access::name). Not for interrupts, which the host does not make. A poll loop is one
// access for as long as nothing it looks at changes.
inline When at_access(std::uint64_t nth, AccessKind kind, std::string name = {}) {
  return {When::Kind::kAccess, {}, {}, nth, kind, std::move(name)};
}

}  // namespace npu::testkit
