// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/pipe_unit.hpp"

#include <algorithm>

namespace npu::model {

using platform::BeganAfter;
using platform::CrossScope;
using platform::Pipe;
using Kind = PipeEntry::Kind;

namespace {

constexpr Pipe kUnits[] = {Pipe::kVector, Pipe::kCube, Pipe::kMte1,
                           Pipe::kMte2,   Pipe::kMte3, Pipe::kFixpipe};

bool copies(Pipe pipe) {
  return pipe == Pipe::kMte2 || pipe == Pipe::kMte3 || pipe == Pipe::kFixpipe;
}

}  // namespace

PipeUnit::PipeUnit(Simulation& sim, const ProgramCoreConfig& config, const CoreClock& clock,
                   ProgramCoreStatistics& statistics, Owner& owner)
    : sim_(sim),
      clock_(clock),
      times_(config, clock),
      statistics_(statistics),
      owner_(owner),
      issue_(clock.clocks(config.issue_clocks)),
      flag_delay_(clock.clocks(config.flag_clocks)),
      scalar_delay_(clock.clocks(config.scalar_flag_clocks)),
      flags_(platform::kPipes * platform::kPipes * platform::kFlagIds) {
  for (unsigned i = 0; i < platform::kPipes; ++i) units_.emplace_back(config.queue_depth);
  MemoryPipe::Owner& self = *this;
  for (const auto pipe : kUnits) {
    if (!copies(pipe)) continue;
    unit(pipe).memory = std::make_unique<MemoryPipe>(sim, config, clock, times_, pipe, self);
  }
}

void PipeUnit::issue(Pipe pipe, const Instruction& instruction, std::uint32_t number,
                     SimTime issued, const platform::StoreReduction& reduction) {
  PipeEntry& entry = unit(pipe).queue.push();
  entry.kind = Kind::kInstruction;
  entry.reduction = reduction;
  entry.issued = issued;
  entry.number = number;
  entry.instruction = instruction;
  if (watch_ != nullptr) watch_->issued(pipe, entry);
  mark(pipe);
  run();
}

void PipeUnit::issue(Pipe pipe, Kind kind, unsigned peer, unsigned id, SimTime issued) {
  PipeEntry& entry = unit(pipe).queue.push();
  entry.kind = kind;
  entry.peer = static_cast<std::uint8_t>(peer);
  entry.id = static_cast<std::uint8_t>(id);
  entry.issued = issued;
  if (watch_ != nullptr) watch_->issued(pipe, entry);
  mark(pipe);
  run();
}

void PipeUnit::raise_at(Pipe from, Pipe to, unsigned id, SimTime when) {
  FlagTimes& times = flags_[flag(from, to, id)];
  if (times.full()) return owner_.flag_overflow();
  const bool scalar = from == Pipe::kScalar || to == Pipe::kScalar;
  times.raise(when + (scalar ? scalar_delay_ : flag_delay_));
  if (to != Pipe::kScalar) mark(to);
}

void PipeUnit::raise(Pipe from, Pipe to, unsigned id, SimTime when) {
  if (watch_ != nullptr) watch_->raised(to, id);
  raise_at(from, to, id, when);
  run();
}

SimTime PipeUnit::lower(Pipe from, unsigned id) {
  if (watch_ != nullptr) watch_->lowered(from, id);
  return flags_[flag(from, Pipe::kScalar, id)].lower();
}

// --- entries -------------------------------------------------------------------------------

// The pipe is free no earlier than `when`.
void PipeUnit::reach(Unit& unit, SimTime when, const Began& began) {
  if (when <= unit.free) return;
  unit.free = when;
  unit.since = began;
}

void PipeUnit::run() {
  if (running_) return;
  running_ = true;
  while (marked_ != 0) {
    for (const auto pipe : kUnits) {
      const unsigned bit = 1U << index(pipe);
      if ((marked_ & bit) == 0) continue;
      marked_ &= ~bit;
      while (!unit(pipe).queue.empty() && step(pipe)) {
      }
    }
  }
  running_ = false;
}

bool PipeUnit::step(Pipe pipe) {
  Unit& unit = this->unit(pipe);
  if (unit.memory && !unit.memory->ready()) {
    unit.held = true;
    return false;
  }
  switch (unit.queue.front().kind) {
    case Kind::kInstruction:
      return step_instruction(pipe, unit);
    case Kind::kSetFlag:
    case Kind::kSetCrossFlag:
      return step_set_flag(pipe, unit);
    case Kind::kBarrier:
      return step_barrier(pipe, unit);
    default:
      return step_wait(pipe, unit);
  }
}

bool PipeUnit::step_instruction(Pipe pipe, Unit& unit) {
  const SimTime begin = std::max(unit.queue.front().issued, unit.free);
  reach(unit, begin, {BeganAfter::kIssue, Pipe::kScalar});
  if (!unit.memory) {
    compute(pipe, unit);
    return true;
  }
  if (begin > sim_now()) {
    if (!unit.scheduled) {
      sim_.agenda.at<&PipeUnit::begin_later>(begin, *this, generation_ << 3 | index(pipe));
    }
    unit.scheduled = true;
    return false;
  }
  copy(pipe, unit);
  return true;
}

void PipeUnit::compute(Pipe pipe, Unit& unit) {
  const PipeEntry& entry = unit.queue.front();
  reached(pipe, unit);
  const SimTime begin = unit.free;
  const bool ran_empty = unit.ran_empty || begin > unit.last_end;
  SimTime length = 0;
  if (pipe == Pipe::kCube) {
    length = times_.of(std::get<platform::Mmad>(entry.instruction), ran_empty);
  } else if (pipe == Pipe::kVector) {
    const auto* const function = std::get_if<HeldFunction>(&entry.instruction);
    length = function != nullptr
                 ? times_.of(*function->body)
                 : times_.of(std::get<platform::Vector>(entry.instruction), ran_empty);
  } else {
    length = times_.of(std::get<platform::LoadL0>(entry.instruction), ran_empty);
  }
  const SimTime end = begin + length;
  unit.ran_empty = false;
  const Began began = unit.since;
  const SimTime ready = std::max(entry.issued, unit.begun);
  if (pipe == Pipe::kVector && began.after == BeganAfter::kOwn && begin > ready) {
    statistics_.events.add(CoreEvent::kVectorTaken, begin - ready);
  }
  unit.begun = begin;
  statistics_.events.executed(entry.instruction, length);
  unit.free = unit.last_end = end;
  unit.since = {};
  ++statistics_.instructions[index(pipe)];
  statistics_.busy[index(pipe)] += length;
  owner_.execute(pipe, entry, begin, end, 0, began);
  unit.queue.pop(begin, began);
}

void PipeUnit::copy(Pipe pipe, Unit& unit) {
  reached(pipe, unit);
  ++statistics_.instructions[index(pipe)];
  const Began began = unit.since;
  unit.free = sim_now();
  unit.since = {};
  const bool local = stays_local(unit.queue.front().instruction);
  unit.memory->begin(unit.queue.front(), began);
  if (local) unit.free = unit.memory->port_free();
  unit.queue.pop(sim_now(), began);
}

void PipeUnit::begin_later(std::uint64_t argument) {
  if (argument >> 3 != generation_) return;
  const auto pipe = static_cast<Pipe>(argument & 7);
  unit(pipe).scheduled = false;
  copy_advanced(pipe);
}

bool PipeUnit::step_set_flag(Pipe pipe, Unit& unit) {
  PipeEntry& entry = unit.queue.front();
  reached(pipe, unit);
  const SimTime when = std::max(entry.issued, unit.free);
  reach(unit, when, {BeganAfter::kIssue, Pipe::kScalar});
  if (unit.memory && !unit.memory->idle()) {
    entry.issued = when;
    unit.memory->append_flag(entry);
  } else {
    raise_behind(pipe, entry, unit.memory ? std::max(when, unit.memory->last_end()) : when);
  }
  unit.queue.pop(when, unit.since);
  return true;
}

bool PipeUnit::step_wait(Pipe pipe, Unit& unit) {
  const PipeEntry& entry = unit.queue.front();
  SimTime raised = 0;
  Began began{BeganAfter::kCross, Pipe::kScalar};
  if (entry.kind == Kind::kWaitFlag) {
    began = {BeganAfter::kFlag, static_cast<Pipe>(entry.peer)};
    FlagTimes& times = flags_[flag(static_cast<Pipe>(entry.peer), pipe, entry.id)];
    if (!times.raised()) return false;
    raised = times.lower();
  } else {
    const auto when = owner_.lower_cross_flag(static_cast<CrossScope>(entry.peer), entry.id);
    if (!when) return false;
    raised = *when;
  }
  reached(pipe, unit);
  const SimTime since = std::max(entry.issued, unit.free);
  if (raised > since) statistics_.flag_wait[index(pipe)] += raised - since;
  reach(unit, since, {BeganAfter::kIssue, Pipe::kScalar});
  reach(unit, raised, began);
  unit.queue.pop(unit.free, unit.since);
  return true;
}

bool PipeUnit::step_barrier(Pipe pipe, Unit& unit) {
  if (unit.memory) {
    if (!unit.memory->idle()) return false;
    reach(unit, unit.memory->last_end(), {});
  }
  reached(pipe, unit);
  reach(unit, unit.queue.front().issued, {BeganAfter::kIssue, Pipe::kScalar});
  unit.ran_empty = true;
  unit.queue.pop(unit.free, unit.since);
  return true;
}

// --- copies --------------------------------------------------------------------------------

void PipeUnit::copy_ended(Pipe pipe, const PipeEntry& copy, SimTime begin, SimTime end,
                          Bytes bytes) {
  statistics_.busy[index(pipe)] += end - begin;
  statistics_.bytes[index(pipe)] += bytes;
  statistics_.events.executed(copy.instruction, end - begin);
  unit(pipe).last_end = end;
  owner_.execute(pipe, copy, begin, end, bytes, {});
}

void PipeUnit::raise_behind(Pipe pipe, const PipeEntry& entry, SimTime when) {
  if (entry.kind == Kind::kSetFlag) {
    raise_at(pipe, static_cast<Pipe>(entry.peer), entry.id, when);
  } else {
    owner_.raise_cross_flag(static_cast<CrossScope>(entry.peer), entry.id, when);
  }
}

void PipeUnit::copy_advanced(Pipe pipe) {
  Unit& unit = this->unit(pipe);
  if (unit.held && unit.memory->ready()) {
    unit.held = false;
    reach(unit, sim_now(), {});
  }
  mark(pipe);
  if (running_) return;
  run();
  owner_.pipes_advanced();
}

void PipeUnit::answered(Pipe pipe, std::uint32_t slot, Bytes bytes, const RequestTimes& times) {
  unit(pipe).memory->answered(slot, bytes, times);
}

// --- as a whole ----------------------------------------------------------------------------

void PipeUnit::cross_flags_changed() {
  for (const auto pipe : kUnits) mark(pipe);
  run();
  owner_.pipes_advanced();
}

bool PipeUnit::drained() const {
  return std::all_of(units_.begin(), units_.end(), [](const Unit& unit) {
    return unit.queue.empty() && (!unit.memory || unit.memory->idle());
  });
}

SimTime PipeUnit::drained_at() const {
  SimTime when = 0;
  for (const auto& unit : units_) when = std::max({when, unit.free, unit.last_end});
  return when;
}

bool PipeUnit::waits_for_cross_flag() const {
  return std::any_of(units_.begin(), units_.end(), [](const Unit& unit) {
    return !unit.queue.empty() && unit.queue.front().kind == Kind::kWaitCrossFlag;
  });
}

void PipeUnit::tell_stuck() const {
  if (watch_ == nullptr) return;
  for (const auto pipe : kUnits) {
    const auto& queue = units_[index(pipe)].queue;
    if (queue.empty()) continue;
    const Kind kind = queue.front().kind;
    if (kind == Kind::kWaitFlag || kind == Kind::kWaitCrossFlag) watch_->stuck(pipe);
  }
}

bool PipeUnit::stuck() const {
  return std::all_of(units_.begin(), units_.end(), [](const Unit& unit) {
    return !unit.memory || (unit.memory->idle() && !unit.scheduled);
  });
}

void PipeUnit::cut() {
  ++generation_;
  marked_ = 0;
  for (auto& unit : units_) {
    unit.queue.clear();
    unit.free = unit.begun = unit.last_end = 0;
    unit.since = {};
    unit.ran_empty = true;
    unit.held = unit.scheduled = false;
    if (unit.memory) unit.memory->cut();
  }
  for (auto& times : flags_) times.clear();
}

}  // namespace npu::model
