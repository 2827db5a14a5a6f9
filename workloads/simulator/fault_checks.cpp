// SPDX-License-Identifier: Apache-2.0
#include "workloads/simulator/fault_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "model/config/core_layout.hpp"
#include "model/config/fabric_plan.hpp"
#include "model/pcie/capabilities.hpp"
#include "npu/base/checked.hpp"
#include "npu/base/nearest_name.hpp"
#include "npu/base/shortened.hpp"

namespace npu::workloads {
namespace {

using model::ChipConfig;
using testkit::Fault;
using testkit::FaultKind;

Status refuse(std::string why) {
  return fail(ErrorCode::kInvalidArgument, std::move(why));
}

bool is_of_interrupts(FaultKind kind) {
  return class_of(kind).takes("vector");
}

bool needs_vector(FaultKind kind) {
  return kind == FaultKind::kSpuriousInterrupt;
}

Status check_function(const ChipConfig& chip, const Fault& fault) {
  if (fault.virtual_function == testkit::kNoVirtualFunction) return {};
  const unsigned count = chip.functions() - chip.physical_functions();
  if (fault.virtual_function >= count) {
    return refuse(fmt::format("no virtual function {}: card {} can have {}", fault.virtual_function,
                              fault.card, count));
  }
  if (class_of(fault.kind).takes("vf")) return {};
  return refuse("the fault is a card's, not one of its functions'");
}

Status check_vector(const ChipConfig& chip, const Fault& fault) {
  if (!is_of_interrupts(fault.kind)) return {};
  const bool is_virtual = fault.virtual_function != testkit::kNoVirtualFunction;
  const unsigned vectors = is_virtual ? model::virtual_vectors(chip.pci) : chip.pci.msix_vectors;
  const bool is_any = fault.vector == testkit::kAnyVector;
  if (is_any && needs_vector(fault.kind)) return refuse("give a vector");
  for (const unsigned vector : {is_any ? 0U : fault.vector, fault.to}) {
    if (vector >= vectors) {
      return refuse(fmt::format("no vector {}: the function has {}", vector, vectors));
    }
  }
  return {};
}

Status check_unit(const ChipConfig& chip, const Fault& fault) {
  struct Units {
    std::string_view name;
    unsigned count;
  };
  const auto units = [&]() -> std::optional<Units> {
    switch (fault.kind) {
      case FaultKind::kStuckEngine:
      case FaultKind::kLostCommand:
        return Units{"DMA engine", chip.dma.engines};
      case FaultKind::kHungCore:
        return Units{"AI Core", model::CoreLayout(chip).cores()};
      case FaultKind::kHungAicpu:
        return Units{"AICPU", std::max(chip.aicpus, chip.virtual_functions.aicpus)};
      case FaultKind::kSlowChannel:
        return Units{"HBM channel", chip.hbm.channels};
      default:
        return std::nullopt;
    }
  }();
  if (!units || fault.unit < units->count) return {};
  return refuse(fmt::format("no {} {}: the card has {}", units->name, fault.unit, units->count));
}

Status check_heat(const ChipConfig& chip, const Fault& fault) {
  if (fault.kind == FaultKind::kThermalThrottling &&
      (fault.clock_percent < 1 || fault.clock_percent > 100)) {
    return refuse("a clock is 1 to 100 percent of the configured one");
  }
  if (fault.kind != FaultKind::kSlowChannel) return {};
  if (chip.hbm.fidelity == model::HbmFidelity::kRun) {
    return refuse("refreshes need hbm.fidelity=exact");
  }
  if (fault.refreshes < 2 || fault.refreshes > 8) {
    return refuse("refreshes are 2 to 8 times as many as configured");
  }
  return {};
}

Status check_link(const ChipConfig& chip, const Fault& fault) {
  if (fault.kind != FaultKind::kLinkRetrained) return {};
  const auto& link = chip.link;
  const bool sound = fault.generation <= link.generation && fault.lanes <= link.lanes &&
                     (fault.lanes == 0 || is_power_of_two(fault.lanes));
  if (sound && (fault.generation != 0 || fault.lanes != 0)) return {};
  return refuse(fmt::format("give a generation of 1..{}, or lanes: a power of two, at most {}",
                            link.generation, link.lanes));
}

Status check_memory(const ChipConfig& chip, const Fault& fault) {
  if (fault.kind != FaultKind::kMemoryError) return {};
  const bool is_there = fault.address < chip.hbm.installed;
  if (is_there && (fault.bits == 1 || fault.bits == 2)) return {};
  return refuse(fmt::format("give 1 or 2 bits, and an address below {:#x}", chip.hbm.installed));
}

Status check_peer(const model::SystemConfig& system, const Fault& fault) {
  if (fault.kind != FaultKind::kPeerLinkDown) return {};
  const auto plan = model::plan_fabric(system);
  if (plan && !fault.link.empty()) {
    if (plan->link_named(fault.link)) return {};
    std::vector<std::string> names;
    for (const auto& link : plan->links) names.push_back(link.name);
    const auto near = nearest_name(fault.link, names);
    return refuse(fmt::format("no link '{}'{}", shortened(fault.link),
                              near.empty() ? "" : "; do you mean '" + near + "'?"));
  }
  if (plan && plan->between(fault.card, fault.peer)) return {};
  return refuse(fmt::format("no HCCS link between the cards {} and {}", fault.card, fault.peer));
}

}  // namespace

Status check_fault(const model::SystemConfig& system, const Fault& fault) {
  if (fault.card >= system.cards.size()) {
    return refuse(fmt::format("no card {}: the machine has {}", fault.card, system.cards.size()));
  }
  if (fault.duration < Picoseconds{}) {
    return refuse(fmt::format("a duration of {} ps", fault.duration.count()));
  }
  const auto& chip = system.cards[fault.card];
  for (const auto check :
       {check_function, check_vector, check_unit, check_link, check_memory, check_heat}) {
    if (auto ok = check(chip, fault); !ok) return ok;
  }
  return check_peer(system, fault);
}

Result<std::vector<PlannedFault>> configured_faults(const model::SystemConfig& system) {
  auto planned = parse_faults(system.faults);
  if (!planned) return fail(ErrorCode::kInvalidArgument, "faults: " + planned.error().context);
  for (const auto& each : *planned) {
    const auto fits = check_fault(system, each.fault);
    if (fits) continue;
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("faults: {}: {}", fault_text(each), fits.error().context));
  }
  return planned;
}

}  // namespace npu::workloads
