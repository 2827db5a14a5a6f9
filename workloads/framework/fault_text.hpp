// SPDX-License-Identifier: Apache-2.0
// Faults as text, for the command line and reports: "link_down,at=20us,for=5us,card=1".
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "npu/base/result.hpp"
#include "npu/testing/fault.hpp"

namespace npu::workloads {

// A kind of fault: its name, the keys it takes beside at, card and vf, and its effect.
struct FaultClass {
  const char* name;
  testkit::FaultKind kind;
  bool takes_duration, takes_vector, takes_peer, takes_requester;
  const char* effect;
};

inline constexpr std::array<FaultClass, 13> kFaultClasses{{
    {"link_down", testkit::FaultKind::kLinkDown, true, false, false, false,
     "the card's link is down; without a duration the card is removed"},
    {"function_level_reset", testkit::FaultKind::kFunctionLevelReset, false, false, false, false,
     "the function is reset from outside of the driver"},
    {"bus_master_off", testkit::FaultKind::kBusMasterOff, true, false, false, false,
     "the function makes no DMA and no interrupts"},
    {"memory_decode_off", testkit::FaultKind::kMemoryDecodeOff, true, false, false, false,
     "the function answers no access to its BARs"},
    {"power_down", testkit::FaultKind::kPowerDown, true, false, false, false,
     "the function is in D3hot"},
    {"poisoned_completion", testkit::FaultKind::kPoisonedCompletion, false, false, false, true,
     "the next completion of a read arrives poisoned"},
    {"lost_completion", testkit::FaultKind::kLostCompletion, false, false, false, true,
     "the next completion of a read is lost"},
    {"peer_link_down", testkit::FaultKind::kPeerLinkDown, true, false, true, false,
     "the HCCS link to a card is down"},
    {"lost_interrupt", testkit::FaultKind::kLostInterrupt, false, true, false, false,
     "the next interrupt is lost"},
    {"duplicated_interrupt", testkit::FaultKind::kDuplicatedInterrupt, false, true, false, false,
     "the next interrupt arrives twice"},
    {"delayed_interrupt", testkit::FaultKind::kDelayedInterrupt, true, true, false, false,
     "the next interrupt arrives later"},
    {"spurious_interrupt", testkit::FaultKind::kSpuriousInterrupt, false, true, false, false,
     "an interrupt arrives without a cause"},
    {"masked_vector", testkit::FaultKind::kMaskedVector, true, true, false, false,
     "the vector is masked in the function's MSI-X table"},
}};

const FaultClass& class_of(testkit::FaultKind kind);

struct PlannedFault {
  testkit::Fault fault;
  testkit::When when;  // at once if not given
};

// "KIND[,at=TIME][,for=TIME][,card=N][,vf=N][,vector=N][,peer=N][,requester=card|host]"; TIME as
// "2.5us".
// kInvalidArgument: not of that form; the context says what is allowed.
Result<PlannedFault> parse_fault(std::string_view text);
// Of a fault at a time; parse_fault() reads it.
std::string fault_text(const PlannedFault& planned);

}  // namespace npu::workloads
