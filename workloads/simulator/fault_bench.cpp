// SPDX-License-Identifier: Apache-2.0
#include "workloads/simulator/fault_bench.hpp"

#include <fmt/format.h>

#include "npu/abi/pci.hpp"

namespace npu::workloads {

namespace pci = abi::pci;
using model::Endpoint;
using model::ticks;

namespace {

bool is_interrupt_fault(FaultKind kind) {
  return kind == FaultKind::kLostInterrupt || kind == FaultKind::kDuplicatedInterrupt ||
         kind == FaultKind::kDelayedInterrupt || kind == FaultKind::kSpuriousInterrupt ||
         kind == FaultKind::kMaskedVector;
}

bool needs_vector(FaultKind kind) {
  return kind == FaultKind::kSpuriousInterrupt || kind == FaultKind::kMaskedVector;
}

// It ends by itself: what has a duration is something else.
bool is_one_message(FaultKind kind) {
  return is_interrupt_fault(kind) && kind != FaultKind::kMaskedVector;
}

bool is_a_functions_own(FaultKind kind) {
  return kind == FaultKind::kFunctionLevelReset || kind == FaultKind::kBusMasterOff ||
         is_interrupt_fault(kind);
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
  std::size_t count = waiting_;
  for (unsigned i = 0; i < system_.cards(); ++i) {
    count += system_.fabric().endpoint(i).armed_interrupt_faults();
  }
  return count;
}

Status FaultBench::check_virtual(const Fault& fault) const {
  if (fault.virtual_function == kNoVirtualFunction) return {};
  const auto& chip = system_.config().cards[fault.card];
  const unsigned count = chip.functions() - chip.physical_functions();
  if (fault.virtual_function >= count) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("no virtual function {}: card {} can have {}", fault.virtual_function,
                            fault.card, count));
  }
  if (is_a_functions_own(fault.kind)) return {};
  return fail(ErrorCode::kInvalidArgument, "the fault is a card's, not one of its functions'");
}

Status FaultBench::check_vector(const Fault& fault) const {
  if (!is_interrupt_fault(fault.kind)) return {};
  if (fault.vector == kAnyVector) {
    if (!needs_vector(fault.kind)) return {};
    return fail(ErrorCode::kInvalidArgument, "which vector?");
  }
  const unsigned vectors = system_.fabric().endpoint(fault.card).vectors(function_of(fault));
  if (fault.vector < vectors) return {};
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("no vector {}: the function has {}", fault.vector, vectors));
}

Status FaultBench::check(const Fault& fault) const {
  const unsigned cards = system_.cards();
  if (fault.card >= cards) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("no card {}: the machine has {}", fault.card, cards));
  }
  if (fault.duration < Picoseconds{}) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("a duration of {} ps", fault.duration.count()));
  }
  if (auto ok = check_virtual(fault); !ok) return ok;
  if (auto ok = check_vector(fault); !ok) return ok;
  if (fault.kind != FaultKind::kPeerLinkDown) return {};
  if (fault.peer >= cards || fault.peer == fault.card ||
      system_.mesh().between(fault.card, fault.peer) == nullptr) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("no HCCS link between the cards {} and {}", fault.card, fault.peer));
  }
  return {};
}

void FaultBench::begin(const Fault& fault) {
  set(fault, true);
  if (fault.duration == Picoseconds::max() || is_one_message(fault.kind)) return;
  faults_.push_back(fault);
  system_.simulation().agenda.at<&FaultBench::end_scheduled>(
      model::sim_now() + ticks(fault.duration), *this, faults_.size() - 1);
}

void FaultBench::schedule(const Fault& fault, Instant time) {
  faults_.push_back(fault);
  ++waiting_;
  system_.simulation().agenda.at<&FaultBench::begin_scheduled>(ticks(time), *this,
                                                               faults_.size() - 1);
}

void FaultBench::begin_scheduled(std::uint64_t place) {
  --waiting_;
  begin(Fault(faults_[place]));
}

void FaultBench::end_scheduled(std::uint64_t place) {
  set(faults_[place], false);
}

void FaultBench::set(const Fault& fault, bool broken) {
  auto& fabric = system_.fabric();
  const auto bdf = bdf_of(fault);
  const auto side = fault.requester == Requester::kHost ? Endpoint::CompletionSide::kSent
                                                        : Endpoint::CompletionSide::kReceived;
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
    case FaultKind::kPoisonedCompletion:
      if (broken) fabric.endpoint(fault.card).poison_next_completion(side);
      return;
    case FaultKind::kLostCompletion:
      if (broken) fabric.endpoint(fault.card).drop_next_completion(side);
      return;
    case FaultKind::kPeerLinkDown:
      return system_.mesh().between(fault.card, fault.peer)->set_up(!broken);
    case FaultKind::kLostInterrupt:
    case FaultKind::kDuplicatedInterrupt:
    case FaultKind::kDelayedInterrupt:
    case FaultKind::kSpuriousInterrupt:
    case FaultKind::kMaskedVector:
      return interrupt(fault, broken);
  }
}

void FaultBench::interrupt(const Fault& fault, bool broken) {
  auto& endpoint = system_.fabric().endpoint(fault.card);
  const unsigned function = function_of(fault);
  using Kind = model::InterruptFault::Kind;
  switch (fault.kind) {
    case FaultKind::kMaskedVector:
      return endpoint.mask_vector(function, fault.vector, broken);
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

void FaultBench::reset_function(platform::Bdf bdf) {
  const auto express = capability(bdf, pci::kCapPciExpress);
  if (express == 0) return;
  const auto control = read(bdf, express + pci::kExpDeviceControl, 2);
  write(bdf, express + pci::kExpDeviceControl, 2, control | pci::kExpDeviceControlFlr);
}

}  // namespace npu::workloads
