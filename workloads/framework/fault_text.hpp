// SPDX-License-Identifier: Apache-2.0
// Faults as text, for the command line and reports: "link_down,at=20us,for=5us,card=1".
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "npu/base/result.hpp"
#include "npu/testing/fault.hpp"

namespace npu::workloads {

// A kind of fault: its name, the keys it takes beside at and card, and its effect. With vf it is
// one of a function.
struct FaultClass {
  std::string_view name;
  testkit::FaultKind kind;
  std::string_view keys;  // separated by a space
  std::string_view effect;

  bool takes(std::string_view key) const;  // of `keys`
};

inline constexpr std::array<FaultClass, 30> kFaultClasses{{
    {"link_down", testkit::FaultKind::kLinkDown, "for",
     "the card's link is down; without a duration the card is removed"},
    {"function_level_reset", testkit::FaultKind::kFunctionLevelReset, "vf",
     "the function is reset from outside of the driver"},
    {"bus_master_off", testkit::FaultKind::kBusMasterOff, "for vf",
     "the function makes no DMA and no interrupts"},
    {"memory_decode_off", testkit::FaultKind::kMemoryDecodeOff, "for",
     "the function answers no access to its BARs"},
    {"power_down", testkit::FaultKind::kPowerDown, "for", "the function is in D3hot"},
    {"poisoned_completion", testkit::FaultKind::kPoisonedCompletion, "requester",
     "the next completion of a read arrives poisoned"},
    {"lost_completion", testkit::FaultKind::kLostCompletion, "requester",
     "the next completion of a read is lost"},
    {"peer_link_down", testkit::FaultKind::kPeerLinkDown, "for peer link",
     "the HCCS link to a card is down"},
    {"lost_interrupt", testkit::FaultKind::kLostInterrupt, "vector vf",
     "the next interrupt is lost"},
    {"duplicated_interrupt", testkit::FaultKind::kDuplicatedInterrupt, "vector vf",
     "the next interrupt arrives twice"},
    {"delayed_interrupt", testkit::FaultKind::kDelayedInterrupt, "for vector vf",
     "the next interrupt arrives later"},
    {"spurious_interrupt", testkit::FaultKind::kSpuriousInterrupt, "vector vf",
     "an interrupt arrives without a cause"},
    {"masked_vector", testkit::FaultKind::kMaskedVector, "for vector vf",
     "the vector, or all of them, is masked in the function's MSI-X table"},
    {"memory_error", testkit::FaultKind::kMemoryError, "address bits",
     "bits of a burst of the card's HBM are flipped"},
    {"link_retrained", testkit::FaultKind::kLinkRetrained, "for generation lanes",
     "the card's link trains to a lower generation or fewer lanes"},
    {"bad_tlp", testkit::FaultKind::kBadTlp, "receiver",
     "the next TLP arrives damaged and is sent again"},
    {"stuck_engine", testkit::FaultKind::kStuckEngine, "for engine",
     "a DMA engine begins no more commands"},
    {"hung_core", testkit::FaultKind::kHungCore, "for core",
     "an AI Core executes no more instructions"},
    {"refused_completion", testkit::FaultKind::kRefusedCompletion, "requester status",
     "the next completion of a read says that it is refused"},
    {"dropped_tlp", testkit::FaultKind::kDroppedTlp, "for receiver error",
     "the next TLP is dropped for an uncorrectable error"},
    {"iommu_fault", testkit::FaultKind::kIommuFault, "",
     "the IOMMU refuses the card's next read or translation"},
    {"thermal_throttling", testkit::FaultKind::kThermalThrottling, "for clock",
     "the AI Cores' clock is lower"},
    {"slow_channel", testkit::FaultKind::kSlowChannel, "for channel refreshes",
     "a channel of the HBM is refreshed more often"},
    {"poisoned_write", testkit::FaultKind::kPoisonedWrite, "for receiver",
     "the next memory write arrives poisoned and is dropped"},
    {"unexpected_completion", testkit::FaultKind::kUnexpectedCompletion, "receiver",
     "a completion arrives that nobody has asked for"},
    {"link_error", testkit::FaultKind::kLinkError, "receiver type",
     "the card's link has a correctable error"},
    {"misdirected_interrupt", testkit::FaultKind::kMisdirectedInterrupt, "vector to vf",
     "the next interrupt arrives at another vector"},
    {"lost_command", testkit::FaultKind::kLostCommand, "for engine",
     "a DMA engine loses the next command that it begins"},
    {"hung_aicpu", testkit::FaultKind::kHungAicpu, "for aicpu",
     "an AICPU executes no more instructions"},
    {"hung_control_processor", testkit::FaultKind::kHungControlProcessor, "for vf",
     "the function's control processor executes no more instructions"},
}};

const FaultClass& class_of(testkit::FaultKind kind);

struct PlannedFault {
  testkit::Fault fault;
  testkit::When when;  // at once if not given
};

// "KIND[,at=TIME][,for=TIME][,card=N][,vf=N][,KEY=VALUE...]"; TIME as "2.5us".
// kInvalidArgument: not of that form; the context says what is allowed.
Result<PlannedFault> parse_fault(std::string_view text);
// Each of a list. Errors as of parse_fault().
Result<std::vector<PlannedFault>> parse_faults(const std::vector<std::string>& texts);
// Of a fault at a time; parse_fault() reads it.
std::string fault_text(const PlannedFault& planned);

}  // namespace npu::workloads
