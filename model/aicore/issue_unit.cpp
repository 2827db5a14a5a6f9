// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/issue_unit.hpp"

#include "model/aicore/function_checks.hpp"
#include "model/aicore/store_checks.hpp"

namespace npu::model {

using abi::FaultCode;
using platform::CrossScope;
using platform::Pipe;

namespace {

// Pipes that can do nothing any more will not end the wait, unless another core may.
class PipeCondition : public CoreThread::Condition {
 public:
  PipeCondition(const PipeUnit& pipes, const CoreThread& thread, Pipe pipe, unsigned id = 0)
      : pipes_(pipes), thread_(thread), pipe_(pipe), id_(id) {}
  bool hopeless() const override { return pipes_.stuck() && !pipes_.waits_for_cross_flag(); }
  std::uint64_t deadlock() const override {
    return thread_.at_fault(abi::FaultyField::kFlag, pipe_, id_);
  }

 protected:
  const PipeUnit& pipes_;
  const CoreThread& thread_;
  const Pipe pipe_;
  const unsigned id_;
};

class RoomInPipe final : public PipeCondition {
 public:
  using PipeCondition::PipeCondition;
  bool satisfied() const override { return !pipes_.full(pipe_); }
};

class FlagForScalar final : public PipeCondition {
 public:
  using PipeCondition::PipeCondition;
  bool satisfied() const override { return pipes_.raised(pipe_, Pipe::kScalar, id_); }
};

class PipesDrained final : public PipeCondition {
 public:
  using PipeCondition::PipeCondition;
  bool satisfied() const override { return pipes_.drained(); }
};

}  // namespace

IssueUnit::IssueUnit(CoreParts& core, PipeUnit& pipes)
    : services_(core.services),
      sizes_(core.sizes),
      ways_(core.ways),
      calls_(core.calls),
      thread_(core.thread),
      polls_(core.polls),
      pipes_(pipes),
      cross_flags_(core.cross_flags),
      statistics_(core.statistics) {}

// --- instructions --------------------------------------------------------------------------

void IssueUnit::make_room(Pipe pipe) {
  if (pipes_.full(pipe)) thread_.wait_for(RoomInPipe(pipes_, thread_, pipe));
  const SimTime room = pipes_.room_since(pipe);
  if (room > thread_.local()) {
    const SimTime begin = thread_.local();
    statistics_.queue_full += room - begin;
    thread_.set_local(room);
    const Began& after = pipes_.room_after(pipe);
    thread_.waited_for_room(begin, pipe, after.after, after.flag);
  }
  spend_issue();
}

template <class T>
void IssueUnit::issue_checked(Pipe pipe, const T& instruction, const InstructionFinding& found) {
  polls_.enter_effect();
  calls_.count_instruction();
  if (found.code != FaultCode::kNone) {
    const bool memory = found.code == FaultCode::kDeviceAddress;
    const auto address =
        memory ? found.address : thread_.at_fault(found.field, pipe, found.offset, found.buffer);
    thread_.raise_fault(found.code, address, memory && pipe != Pipe::kMte2, found.size, pipe);
  }
  make_room(pipe);
  pipes_.issue(pipe, instruction, calls_.issued(), thread_.local(), reduction_);
}

// One that no memory computes is as a malformed instruction.
void IssueUnit::set_store_reduction(const platform::StoreReduction& reduction) {
  polls_.enter_effect();
  spend_issue();
  if (reduction.operation != abi::ReduceOperation::kNone &&
      !abi::can_reduce(reduction.element, reduction.operation)) {
    thread_.raise_fault(FaultCode::kInstruction,
                        thread_.at_fault(abi::FaultyField::kKind, Pipe::kMte3, 0));
  }
  reduction_ = reduction;
}

void IssueUnit::issue(const platform::CopyIn& instruction) {
  issue_checked(Pipe::kMte2, instruction,
                check(sizes_, instruction, services_.config.transposed_percent != 0));
}
void IssueUnit::issue(const platform::CopyOut& instruction) {
  auto found = check(sizes_, instruction, ways_);
  if (!found.wrong()) found = check_reduced(instruction, reduction_);
  issue_checked(Pipe::kMte3, instruction, found);
}
void IssueUnit::issue(const platform::LoadL0& instruction) {
  issue_checked(Pipe::kMte1, instruction, check(sizes_, instruction));
}
void IssueUnit::issue(const platform::Mmad& instruction) {
  issue_checked(Pipe::kCube, instruction, check(sizes_, instruction));
}
void IssueUnit::issue(const platform::Fixpipe& instruction) {
  auto found = check(sizes_, instruction, ways_);
  if (!found.wrong()) found = check_reduced(instruction, reduction_);
  issue_checked(Pipe::kFixpipe, instruction, found);
}
void IssueUnit::issue(const platform::Vector& instruction) {
  issue_checked(Pipe::kVector, instruction, check(sizes_, instruction));
}
void IssueUnit::issue(const platform::VectorFunction& instruction) {
  const auto found = check(sizes_, instruction, services_.config.vector.function.ports != 0);
  HeldFunction held;
  if (!found.wrong()) held.body = std::make_shared<const FunctionBody>(instruction);
  issue_checked(Pipe::kVector, held, found);
}

// --- flags ---------------------------------------------------------------------------------

void IssueUnit::check_flag(Pipe from, Pipe to, unsigned id) {
  const bool known = from < Pipe::kAll && to < Pipe::kAll && from != to;
  if (!known || id >= platform::kFlagIds) {
    thread_.raise_fault(FaultCode::kInstruction, thread_.at_fault(abi::FaultyField::kFlag, to, id));
  }
}

void IssueUnit::set_flag(Pipe from, Pipe to, unsigned id) {
  polls_.enter_effect();
  check_flag(from, to, id);
  if (from == Pipe::kScalar) {
    spend_issue();
    return pipes_.raise(from, to, id, thread_.local());
  }
  make_room(from);
  pipes_.issue(from, PipeEntry::Kind::kSetFlag, static_cast<unsigned>(to), id, thread_.local());
}

void IssueUnit::wait_flag(Pipe from, Pipe to, unsigned id) {
  polls_.enter_effect();
  check_flag(from, to, id);
  if (to != Pipe::kScalar) {
    make_room(to);
    return pipes_.issue(to, PipeEntry::Kind::kWaitFlag, static_cast<unsigned>(from), id,
                        thread_.local());
  }
  spend_issue();
  if (auto* const watch = pipes_.watch()) watch->awaits(from, id);
  thread_.wait_for(FlagForScalar(pipes_, thread_, from, id));
  const SimTime raised = pipes_.lower(from, id);
  constexpr auto kScalar = static_cast<std::size_t>(Pipe::kScalar);
  const SimTime begin = thread_.local();
  if (raised > begin) statistics_.flag_wait[kScalar] += raised - begin;
  thread_.reach(raised);
  thread_.waited(platform::ScalarWait::kFlag, begin, from);
}

void IssueUnit::drain() {
  thread_.wait_for(PipesDrained(pipes_, thread_, Pipe::kScalar));
  if (auto* const watch = pipes_.watch()) watch->drained();
  const SimTime begin = thread_.local();
  thread_.reach(pipes_.drained_at());
  thread_.waited(platform::ScalarWait::kDrain, begin);
}

void IssueUnit::pipe_barrier(Pipe pipe) {
  polls_.enter_effect();
  if (pipe > Pipe::kAll) {
    thread_.raise_fault(FaultCode::kInstruction, thread_.at_fault(abi::FaultyField::kKind, pipe));
  }
  if (pipe == Pipe::kScalar) return;
  if (pipe != Pipe::kAll) {
    make_room(pipe);
    return pipes_.issue(pipe, PipeEntry::Kind::kBarrier, 0, 0, thread_.local());
  }
  spend_issue();
  drain();
}

// --- flags between cores -------------------------------------------------------------------

void IssueUnit::check_cross_flag(Pipe pipe, CrossScope scope, unsigned flag) {
  if (pipe >= Pipe::kAll) {
    thread_.raise_fault(FaultCode::kInstruction,
                        thread_.at_fault(abi::FaultyField::kFlag, pipe, flag));
  }
  cross_flags_.check(scope, flag);
}

void IssueUnit::set_cross_flag(Pipe pipe, CrossScope scope, unsigned flag) {
  polls_.enter_effect();
  check_cross_flag(pipe, scope, flag);
  if (pipe == Pipe::kScalar) {
    spend_issue();
    if (auto* const watch = pipes_.watch()) watch->cross_raised(scope, flag);
    return cross_flags_.raise(scope, flag, thread_.local());
  }
  make_room(pipe);
  pipes_.issue(pipe, PipeEntry::Kind::kSetCrossFlag, static_cast<unsigned>(scope), flag,
               thread_.local());
}

void IssueUnit::wait_cross_flag(Pipe pipe, CrossScope scope, unsigned flag) {
  polls_.enter_effect();
  check_cross_flag(pipe, scope, flag);
  if (pipe != Pipe::kScalar) {
    make_room(pipe);
    return pipes_.issue(pipe, PipeEntry::Kind::kWaitCrossFlag, static_cast<unsigned>(scope), flag,
                        thread_.local());
  }
  spend_issue();
  auto* const watch = pipes_.watch();
  if (watch != nullptr) watch->cross_awaits(scope, flag);
  cross_flags_.await(scope, flag);
  if (watch != nullptr) watch->cross_lowered(scope, flag);
}

}  // namespace npu::model
