// SPDX-License-Identifier: Apache-2.0
// What the scalar unit hands to the pipes.
#include <algorithm>

#include "model/aicore/program_core.hpp"

namespace npu::model {

using abi::FaultCode;
using platform::CrossScope;
using platform::Pipe;

namespace {

constexpr std::array<const char*, platform::kPipes> kTrackNames{
    "", ".vector", ".cube", ".mte1", ".mte2", ".mte3", ".fixpipe"};

}  // namespace

void ProgramCore::make_room(Pipe pipe) {
  PipeUnit& pipes = units_->pipes;
  if (pipes.full(pipe)) wait_for({Waits::kRoom, pipe});
  const SimTime room = pipes.room_since(pipe);
  if (room > local_) {
    statistics_.queue_full += room - local_;
    local_ = room;
  }
  spend(clock_.clocks(config_.issue_clocks));
}

std::uint64_t ProgramCore::at_fault(abi::FaultyField field, Pipe pipe, unsigned offset,
                                    unsigned buffer) const {
  return abi::InstructionFault{field, static_cast<std::uint8_t>(buffer),
                               static_cast<std::uint8_t>(pipe), issued_, offset}
      .pack();
}

template <class T>
void ProgramCore::issue_checked(Pipe pipe, const T& instruction, const InstructionFinding& found) {
  enter_effect();
  ++issued_;
  if (found.code != FaultCode::kNone) {
    const bool memory = found.code == FaultCode::kDeviceAddress;
    raise_fault(found.code,
                memory ? found.address : at_fault(found.field, pipe, found.offset, found.buffer),
                memory && pipe != Pipe::kMte2, found.size, pipe);
  }
  make_room(pipe);
  units_->pipes.issue(pipe, instruction, issued_, local_);
}

void ProgramCore::issue(const platform::CopyIn& instruction) {
  issue_checked(Pipe::kMte2, instruction, check(sizes_, instruction));
}
void ProgramCore::issue(const platform::CopyOut& instruction) {
  issue_checked(Pipe::kMte3, instruction, check(sizes_, instruction));
}
void ProgramCore::issue(const platform::LoadL0& instruction) {
  issue_checked(Pipe::kMte1, instruction, check(sizes_, instruction));
}
void ProgramCore::issue(const platform::Mmad& instruction) {
  issue_checked(Pipe::kCube, instruction, check(sizes_, instruction));
}
void ProgramCore::issue(const platform::Fixpipe& instruction) {
  issue_checked(Pipe::kFixpipe, instruction, check(sizes_, instruction, ways_));
}
void ProgramCore::issue(const platform::Vector& instruction) {
  issue_checked(Pipe::kVector, instruction, check(sizes_, instruction));
}

// --- flags ---------------------------------------------------------------------------------

void ProgramCore::check_flag(Pipe from, Pipe to, unsigned id) {
  const bool known = from < Pipe::kAll && to < Pipe::kAll && from != to;
  if (!known || id >= platform::kFlagIds) {
    raise_fault(FaultCode::kInstruction, at_fault(abi::FaultyField::kFlag, to, id));
  }
}

void ProgramCore::set_flag(Pipe from, Pipe to, unsigned id) {
  enter_effect();
  check_flag(from, to, id);
  if (from == Pipe::kScalar) {
    spend(clock_.clocks(config_.issue_clocks));
    return units_->pipes.raise(from, to, id, local_);
  }
  make_room(from);
  units_->pipes.issue(from, PipeEntry::Kind::kSetFlag, static_cast<unsigned>(to), id, local_);
}

void ProgramCore::wait_flag(Pipe from, Pipe to, unsigned id) {
  enter_effect();
  check_flag(from, to, id);
  if (to != Pipe::kScalar) {
    make_room(to);
    return units_->pipes.issue(to, PipeEntry::Kind::kWaitFlag, static_cast<unsigned>(from), id,
                               local_);
  }
  spend(clock_.clocks(config_.issue_clocks));
  wait_for({Waits::kFlag, from, CrossScope::kCluster, id});
  const SimTime raised = units_->pipes.lower(from, to, id);
  constexpr auto kScalar = static_cast<std::size_t>(Pipe::kScalar);
  if (raised > local_) statistics_.flag_wait[kScalar] += raised - local_;
  local_ = std::max(local_, raised);
}

void ProgramCore::pipe_barrier(Pipe pipe) {
  enter_effect();
  if (pipe > Pipe::kAll) {
    raise_fault(FaultCode::kInstruction, at_fault(abi::FaultyField::kKind, pipe));
  }
  if (pipe == Pipe::kScalar) return;
  if (pipe != Pipe::kAll) {
    make_room(pipe);
    return units_->pipes.issue(pipe, PipeEntry::Kind::kBarrier, 0, 0, local_);
  }
  spend(clock_.clocks(config_.issue_clocks));
  wait_for({Waits::kDrained});
  local_ = std::max(local_, units_->pipes.drained_at());
}

// --- between cores -------------------------------------------------------------------------

CrossFlags::Member ProgramCore::member_of(CrossScope scope) const {
  const CoreLayout& layout = services_.layout;
  CrossFlags::Member member;
  member.context = block_.context;
  member.image = call_.image;
  member.arguments = call_.arguments;
  member.blocks = call_.blocks;
  member.scope = scope;
  if (scope == CrossScope::kCluster) {
    member.group = layout.cluster(number_);
    member.place = layout.role(number_);
    member.members = core_type() == abi::CoreType::kCoupled ? 1 : 3;
    return member;
  }
  const bool second = call_.role > 0;  // a vector core of a mixed block
  member.group = static_cast<std::uint32_t>(core_type());
  member.place = second ? 2 * call_.block + call_.role - 1 : call_.block;
  member.members = second ? 2 * call_.blocks : call_.blocks;
  return member;
}

CrossFlags::Member ProgramCore::cross_member(CrossScope scope, unsigned flag) {
  const bool known = scope == CrossScope::kCluster || scope == CrossScope::kSameType;
  if (!known || flag >= platform::kCrossFlags) {
    raise_fault(FaultCode::kInstruction, at_fault(abi::FaultyField::kFlag, Pipe::kScalar, flag));
  }
  const auto member = member_of(scope);
  // Blocks that have no core of their own could never be waited for.
  if (member.place >= member.members || member.members > services_.layout.cores()) {
    raise_fault(FaultCode::kFlagDeadlock, at_fault(abi::FaultyField::kFlag, Pipe::kScalar, flag));
  }
  return member;
}

void ProgramCore::set_cross_flag(Pipe pipe, CrossScope scope, unsigned flag) {
  enter_effect();
  if (pipe >= Pipe::kAll) {
    raise_fault(FaultCode::kInstruction, at_fault(abi::FaultyField::kFlag, pipe, flag));
  }
  const auto member = cross_member(scope, flag);
  if (pipe == Pipe::kScalar) {
    spend(clock_.clocks(config_.issue_clocks));
    services_.cross_flags.raise(member, flag, local_ + ticks(config_.cross_flag));
    return owner_.cross_flag_raised(block_.context);
  }
  make_room(pipe);
  units_->pipes.issue(pipe, PipeEntry::Kind::kSetCrossFlag, static_cast<unsigned>(scope), flag,
                      local_);
}

void ProgramCore::wait_cross_flag(Pipe pipe, CrossScope scope, unsigned flag) {
  enter_effect();
  if (pipe >= Pipe::kAll) {
    raise_fault(FaultCode::kInstruction, at_fault(abi::FaultyField::kFlag, pipe, flag));
  }
  const auto member = cross_member(scope, flag);
  if (pipe != Pipe::kScalar) {
    make_room(pipe);
    return units_->pipes.issue(pipe, PipeEntry::Kind::kWaitCrossFlag, static_cast<unsigned>(scope),
                               flag, local_);
  }
  spend(clock_.clocks(config_.issue_clocks));
  std::optional<SimTime> when;
  while (!(when = services_.cross_flags.lower(member, flag))) {
    waits_ = {Waits::kCrossFlag, Pipe::kScalar, scope, flag};
    sim_.agenda.wait(wake_);
    waits_ = {};
    if (cut_) throw Cut{};
  }
  local_ = std::max(local_, *when);
}

void ProgramCore::raise_cross_flag(CrossScope scope, unsigned flag, SimTime when) {
  services_.cross_flags.raise(member_of(scope), flag, when + ticks(config_.cross_flag));
  owner_.cross_flag_raised(block_.context);
}

std::optional<SimTime> ProgramCore::lower_cross_flag(CrossScope scope, unsigned flag) {
  return services_.cross_flags.lower(member_of(scope), flag);
}

void ProgramCore::cross_flags_changed() {
  if (!units_ || !in_block_) return;
  if (waits_.what == Waits::kCrossFlag) wake_thread();
  if (units_->pipes.waits_for_cross_flag()) units_->pipes.cross_flags_changed();
}

void ProgramCore::leave_call() {
  const bool mixed = call_.role > 0;  // its cluster may raise its first flag yet
  if (services_.cross_flags.empty() && !mixed) return;
  for (const auto scope : {CrossScope::kCluster, CrossScope::kSameType}) {
    services_.cross_flags.left(member_of(scope), mixed && scope == CrossScope::kCluster);
  }
}

// --- of the pipes --------------------------------------------------------------------------

void ProgramCore::send(Pipe pipe, const MemoryRequest& request) {
  MemoryRequest numbered = request;
  numbered.slot |= static_cast<std::uint32_t>(pipe) << kPipeShift;
  ++under_way_;
  ++statistics_.requests;
  owner_.send(number_, numbered, block_);
}

std::uint32_t ProgramCore::track_of(Pipe pipe) {
  const auto index = static_cast<std::size_t>(pipe);
  if (tracks_[index] == 0) tracks_[index] = sim_.recorder.track(track_ + kTrackNames[index]);
  return tracks_[index];
}

void ProgramCore::execute(Pipe pipe, const PipeEntry& entry, SimTime begin, SimTime end,
                          Bytes bytes) {
  if (sim_.recorder.enabled()) {
    sim_.emit(track_of(pipe), platform::Activity::kPipe, begin, end, block_.cause, bytes,
              static_cast<std::uint64_t>(pipe));
  }
  const auto* const fixpipe = std::get_if<platform::Fixpipe>(&entry.instruction);
  const bool local = fixpipe != nullptr && fixpipe->target != platform::FixpipeTarget::kGlobal;
  const auto fault = local
                         ? move_from_l0c(*fixpipe)
                         : units_->memory.execute(entry.instruction, services_.memory, block_.vmid);
  if (fault.failed()) fail(fault, pipe, entry.number);
}

// What a core runs is its innermost call: cores that an executor has called are all of one launch.
bool ProgramCore::shares_block_with(const ProgramCore& vector) const {
  const platform::KernelCall& theirs = vector.call_;
  const bool same_call = vector.busy_ && vector.block_.context == block_.context &&
                         vector.depth_ == depth_ && theirs.image == call_.image &&
                         theirs.arguments == call_.arguments && theirs.blocks == call_.blocks;
  if (depth_ == 0) return same_call;  // a launch's cores have a block each
  return same_call && theirs.block == call_.block && call_.role == 0 &&
         theirs.role == services_.layout.role(vector.number_);
}

// A vector core that runs something else is not to be written to.
CommandFault ProgramCore::move_from_l0c(const platform::Fixpipe& fixpipe) {
  LocalMemory* target = &units_->memory;
  if (fixpipe.target == platform::FixpipeTarget::kUb && core_type() == abi::CoreType::kAic) {
    ProgramCore& vector = owner_.vector_core(number_, fixpipe.vector_core);
    if (!shares_block_with(vector)) {
      return {FaultCode::kInstruction, fixpipe.to, block_.vmid, true};
    }
    target = &vector.units().memory;
  }
  units_->memory.move(fixpipe, *target);
  return {};
}

void ProgramCore::flag_overflow() {
  fail({FaultCode::kInstruction, 0, block_.vmid, false}, Pipe::kScalar, issued_);
}

}  // namespace npu::model
