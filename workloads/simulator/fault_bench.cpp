// SPDX-License-Identifier: Apache-2.0
#include "workloads/simulator/fault_bench.hpp"

#include <fmt/format.h>

#include "npu/abi/pci.hpp"
#include "workloads/framework/fault_text.hpp"

namespace npu::workloads {

namespace pci = abi::pci;
using model::Endpoint;
using model::ticks;

namespace {

// What has a duration is something else than the fault.
bool is_at_once(FaultKind kind) {
  const auto& row = class_of(kind);
  return !row.takes("for") || row.takes("receiver") || kind == FaultKind::kDelayedInterrupt;
}

// How long the port above the card contains its error.
Picoseconds containment(const Fault& fault) {
  return fault.duration == Picoseconds::max() ? testkit::kContainment : fault.duration;
}

using Towards = model::Link::Towards;
Towards towards(const Fault& fault) {
  return fault.requester == Requester::kHost ? Towards::kUpstream : Towards::kDownstream;
}

std::uint32_t aer_bit(testkit::TlpError error) {
  switch (error) {
    case testkit::TlpError::kMalformed:
      return pci::kAerMalformed;
    case testkit::TlpError::kReceiverOverflow:
      return pci::kAerReceiverOverflow;
    case testkit::TlpError::kEcrc:
      break;
  }
  return pci::kAerEcrc;
}

}  // namespace

unsigned FaultBench::function_of(const Fault& fault) const {
  if (fault.virtual_function == kNoVirtualFunction) return 0;
  return system_.config().cards[fault.card].physical_functions() + fault.virtual_function;
}

platform::Bdf FaultBench::bdf_of(const Fault& fault) const {
  return platform::Bdf::unpack(system_.fabric().endpoint(fault.card).requester(function_of(fault)));
}

std::size_t FaultBench::waiting() const {
  std::size_t count = waiting_ + (system_.host_memory().refuses_next() ? 1 : 0);
  for (unsigned i = 0; i < system_.cards(); ++i) {
    count += system_.fabric().endpoint(i).armed_faults();
    count += system_.fabric().link(i).armed_errors();
    for (unsigned engine = 0; engine < system_.config().cards[i].dma.engines; ++engine) {
      count += system_.card(i).dma().engine(engine).loses_next() ? 1 : 0;
    }
  }
  return count;
}

void FaultBench::begin(const Fault& fault) {
  const auto now = model::sim_now();
  set(fault, true);
  if (fault.duration == Picoseconds::max() || is_at_once(fault.kind)) return tell(fault, now);
  faults_.push_back({fault, now});
  system_.simulation().agenda.at<&FaultBench::end_scheduled>(now + ticks(fault.duration), *this,
                                                             faults_.size() - 1);
}

void FaultBench::schedule(const Fault& fault, Instant time) {
  faults_.push_back({fault, 0});
  ++waiting_;
  system_.simulation().agenda.at<&FaultBench::begin_scheduled>(ticks(time), *this,
                                                               faults_.size() - 1);
}

void FaultBench::begin_scheduled(std::uint64_t place) {
  --waiting_;
  begin(Fault(faults_[place].fault));
}

void FaultBench::end_scheduled(std::uint64_t place) {
  const auto& [fault, begin] = faults_[place];
  set(fault, false);
  tell(fault, begin);
}

// In the trace: a span, or the instant at which something begins that does not end by itself.
void FaultBench::tell(const Fault& fault, model::SimTime begin) {
  auto& simulation = system_.simulation();
  if (!simulation.recorder.enabled()) return;
  const auto track = simulation.recorder.track(
      fmt::format("card{}.injected.{}", fault.card, class_of(fault.kind).name));
  simulation.emit(track, platform::Activity::kInjectedFault, begin, model::sim_now(), 0);
}

void FaultBench::set_peer_link(const Fault& fault, bool up) {
  const auto& plan = system_.hccs().plan();
  const auto link =
      fault.link.empty() ? plan.between(fault.card, fault.peer) : plan.link_named(fault.link);
  system_.hccs().set_up(*link, up);  // check_fault() has found it
}

void FaultBench::set(const Fault& fault, bool broken) {
  if (!broken && is_at_once(fault.kind)) return;  // it has happened
  auto& fabric = system_.fabric();
  const auto bdf = bdf_of(fault);
  switch (fault.kind) {
    case FaultKind::kLinkDown:
      return fabric.link(fault.card).set_down(broken);
    case FaultKind::kFunctionLevelReset:
      if (broken) reset_function(bdf);
      return;
    case FaultKind::kBusMasterOff:
      return set_command(bdf, pci::kCommandBusMaster, !broken);
    case FaultKind::kMemoryDecodeOff:
      return set_command(bdf, pci::kCommandMemory, !broken);
    case FaultKind::kPowerDown:
      return set_power(bdf, !broken);
    case FaultKind::kPeerLinkDown:
      return set_peer_link(fault, !broken);
    case FaultKind::kMemoryError:
      return static_cast<void>(
          system_.card(fault.card).hbm().ecc().inject(fault.address, fault.bits));
    case FaultKind::kLinkRetrained:
      return retrain(fault, broken);
    case FaultKind::kBadTlp:
      return fabric.link(fault.card).damage_next(towards(fault));
    case FaultKind::kUnexpectedCompletion:
      return fabric.link(fault.card).send_stray_completion(towards(fault));
    case FaultKind::kLinkError:
      return fabric.link(fault.card)
          .correctable(towards(fault), static_cast<model::Link::Correctable>(fault.type));
    case FaultKind::kStuckEngine:
    case FaultKind::kLostCommand:
    case FaultKind::kHungCore:
    case FaultKind::kHungAicpu:
    case FaultKind::kHungControlProcessor:
    case FaultKind::kThermalThrottling:
    case FaultKind::kSlowChannel:
      return set_unit(fault, broken);
    case FaultKind::kPoisonedCompletion:
    case FaultKind::kLostCompletion:
    case FaultKind::kRefusedCompletion:
      return fail_completion(fault);
    case FaultKind::kDroppedTlp:
    case FaultKind::kPoisonedWrite:
      return drop(fault);
    case FaultKind::kIommuFault:
      return system_.host_memory().refuse_next(bdf.bus);
    case FaultKind::kMisdirectedInterrupt:
    case FaultKind::kLostInterrupt:
    case FaultKind::kDuplicatedInterrupt:
    case FaultKind::kDelayedInterrupt:
    case FaultKind::kSpuriousInterrupt:
    case FaultKind::kMaskedVector:
      return interrupt(fault, broken);
  }
}

// Of the card's cores, engines and channels.
void FaultBench::set_unit(const Fault& fault, bool broken) {
  auto& card = system_.card(fault.card);
  switch (fault.kind) {
    case FaultKind::kStuckEngine:
      return card.dma().engine(fault.unit).set_stuck(broken);
    case FaultKind::kLostCommand:
      return lose_command(fault, broken);
    case FaultKind::kHungCore:
      return card.aicore_programs().set_hung(fault.unit, broken);
    case FaultKind::kHungAicpu:
      return card.aicpu_programs().set_hung(fault.unit, broken);
    case FaultKind::kHungControlProcessor:
      return card.control().set_hung(function_of(fault), broken);
    case FaultKind::kThermalThrottling:
      return card.set_core_clock(broken ? fault.clock_percent : 100);
    case FaultKind::kSlowChannel:
      return card.hbm().set_refresh_pace(fault.unit, broken ? fault.refreshes : 1);
    default:
      return;
  }
}

void FaultBench::lose_command(const Fault& fault, bool broken) {
  auto& dma = system_.card(fault.card).dma();
  dma.engine(fault.unit).lose_next(broken);
  if (!broken) dma.find_lost(fault.unit);
}

void FaultBench::fail_completion(const Fault& fault) {
  auto& endpoint = system_.fabric().endpoint(fault.card);
  const auto side = fault.requester == Requester::kHost ? Endpoint::CompletionSide::kSent
                                                        : Endpoint::CompletionSide::kReceived;
  if (fault.kind == FaultKind::kPoisonedCompletion) return endpoint.poison_next_completion(side);
  if (fault.kind == FaultKind::kLostCompletion) return endpoint.drop_next_completion(side);
  endpoint.refuse_next_completion(side, fault.status == testkit::CompletionStatus::kCompleterAbort);
}

void FaultBench::drop(const Fault& fault) {
  auto& fabric = system_.fabric();
  const bool poisoned = fault.kind == FaultKind::kPoisonedWrite;
  const auto bit = poisoned ? pci::kAerPoisoned : aer_bit(fault.error);
  if (fault.requester == Requester::kHost) {
    return fabric.link(fault.card).drop_next_upstream(bit, containment(fault));
  }
  auto& endpoint = fabric.endpoint(fault.card);
  return poisoned ? endpoint.poison_next_write() : endpoint.drop_next_received(bit);
}

void FaultBench::retrain(const Fault& fault, bool broken) {
  auto& link = system_.fabric().link(fault.card);
  const auto& full = link.config();
  const bool slower = broken && fault.generation != 0, narrower = broken && fault.lanes != 0;
  link.retrain(slower ? fault.generation : full.generation, narrower ? fault.lanes : full.lanes);
}

void FaultBench::interrupt(const Fault& fault, bool broken) {
  auto& endpoint = system_.fabric().endpoint(fault.card);
  const unsigned function = function_of(fault);
  using Kind = model::InterruptFault::Kind;
  switch (fault.kind) {
    case FaultKind::kMaskedVector:
      if (fault.vector == kAnyVector) return mask_all(bdf_of(fault), broken);
      return endpoint.mask_vector(function, fault.vector, broken);
    case FaultKind::kMisdirectedInterrupt:
      return endpoint.fault_next_interrupt(
          {Kind::kMisdirected, function, fault.vector, {}, fault.to});
    case FaultKind::kSpuriousInterrupt:
      return endpoint.raise(function, fault.vector, 0);
    case FaultKind::kDuplicatedInterrupt:
      return endpoint.fault_next_interrupt({Kind::kDuplicated, function, fault.vector, {}});
    case FaultKind::kDelayedInterrupt:
      return endpoint.fault_next_interrupt(
          {Kind::kDelayed, function, fault.vector, fault.duration});
    default:
      return endpoint.fault_next_interrupt({Kind::kLost, function, fault.vector, {}});
  }
}

// Configuration accesses of somebody else: they take none of the host's time.
std::uint32_t FaultBench::read(platform::Bdf bdf, std::uint32_t offset, unsigned width) {
  model::ConfigRequest request{bdf.packed(), offset, width};
  return system_.fabric().root_complex().config_access(request) ? request.value : pci::kAllOnes;
}

void FaultBench::write(platform::Bdf bdf, std::uint32_t offset, unsigned width,
                       std::uint32_t value) {
  model::ConfigRequest request{bdf.packed(), offset, width, true, value};
  static_cast<void>(system_.fabric().root_complex().config_access(request));
}

// 0: the function does not answer now, or has no such capability.
std::uint32_t FaultBench::capability(platform::Bdf bdf, std::uint8_t id) {
  // Its class, since a virtual function has no ids of its own.
  if (read(bdf, pci::kRevision, 4) == pci::kAllOnes) return 0;
  std::uint32_t offset = read(bdf, pci::kCapabilityPointer, 1) & 0xFC;
  for (int steps = 0; offset >= 0x40 && steps < 48; ++steps) {
    if (read(bdf, offset, 1) == id) return offset;
    offset = read(bdf, offset + 1, 1) & 0xFC;
  }
  return 0;
}

void FaultBench::set_command(platform::Bdf bdf, std::uint32_t bit, bool on) {
  const auto command = read(bdf, pci::kCommand, 2);
  if (command == 0xFFFF || command == pci::kAllOnes) return;
  write(bdf, pci::kCommand, 2, on ? command | bit : command & ~bit);
}

void FaultBench::set_power(platform::Bdf bdf, bool on) {
  constexpr std::uint32_t kControl = 4, kD0 = 0, kD3Hot = 3;
  const auto power = capability(bdf, pci::kCapPowerManagement);
  if (power != 0) write(bdf, power + kControl, 2, on ? kD0 : kD3Hot);
}

void FaultBench::mask_all(platform::Bdf bdf, bool masked) {
  const auto msix = capability(bdf, pci::kCapMsix);
  if (msix == 0) return;
  const auto control = read(bdf, msix + pci::kMsixControl, 2);
  write(bdf, msix + pci::kMsixControl, 2,
        masked ? control | pci::kMsixControlMaskAll : control & ~pci::kMsixControlMaskAll);
}

void FaultBench::reset_function(platform::Bdf bdf) {
  const auto express = capability(bdf, pci::kCapPciExpress);
  if (express == 0) return;
  const auto control = read(bdf, express + pci::kExpDeviceControl, 2);
  write(bdf, express + pci::kExpDeviceControl, 2, control | pci::kExpDeviceControlFlr);
}

}  // namespace npu::workloads
