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
};

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

  // The same, on another card of the machine.
  Fault on_card(unsigned index) const {
    Fault other = *this;
    other.card = index;
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
