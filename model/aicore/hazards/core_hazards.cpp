// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/hazards/core_hazards.hpp"

#include "model/aicore/pipe_operation.hpp"
#include "model/core/work_watch.hpp"

namespace npu::model {

using platform::CrossScope;
using Kind = PipeEntry::Kind;

CoreHazards::CoreHazards(CoreParts& core, Hazards& hazards, Program& program)
    : number_(core.number),
      cube_(core.services.layout.type(core.number) == abi::CoreType::kAic),
      coupled_(core.services.layout.type(core.number) == abi::CoreType::kCoupled),
      calls_(core.calls),
      cross_flags_(core.cross_flags),
      hazards_(hazards),
      program_(program),
      order_(static_cast<std::uint16_t>(core.number)) {}

void CoreHazards::enter_call() {
  call().enter(calls_.call().block, calls_.call().role);
}

void CoreHazards::end_call() {
  for (const PlaceNumber place : order_.not_awaited()) {
    hazards_.found({HazardKind::kNotAwaited, place, place, Space::kGlobal, 0, 0, 0});
  }
  for (const auto& raised : order_.raised()) {
    hazards_.found({HazardKind::kFlagLeft, raised.place, raised.place, Space::kGlobal, 0, 0, 0});
  }
}

void CoreHazards::never_raised(PlaceNumber place) {
  hazards_.found({HazardKind::kNeverRaised, place, place, Space::kGlobal, 0, 0, 0});
}

void CoreHazards::stopped() {
  if (awaited_) never_raised(*awaited_);
}

// --- entries of pipes ----------------------------------------------------------------------

HazardPlace CoreHazards::here(Pipe pipe) const {
  HazardPlace place;
  place.call = program_.call_site();
  place.program = program_.program_name();
  place.pipe = pipe;
  place.core = static_cast<std::uint16_t>(number_);
  place.block = calls_.call().block;
  place.number = calls_.issued();
  return place;
}

PlaceNumber CoreHazards::place_of(Pipe pipe, const PipeEntry& entry) {
  switch (entry.kind) {
    case Kind::kInstruction: {
      HazardPlace place = here(pipe);
      place.operation = operation_of(entry.instruction);
      return hazards_.place(place);
    }
    case Kind::kSetFlag:
      return place_of_flag(pipe, static_cast<Pipe>(entry.peer), entry.id);
    case Kind::kWaitFlag:
      return place_of_flag(static_cast<Pipe>(entry.peer), pipe, entry.id);
    case Kind::kWaitCrossFlag:
      return place_of_cross_flag(pipe, entry.id);
    case Kind::kSetCrossFlag:
    case Kind::kBarrier:
      break;  // nothing is ever said of them
  }
  return 0;
}

PlaceNumber CoreHazards::place_of_flag(Pipe from, Pipe to, unsigned id) {
  HazardPlace place = here(from);
  place.what = HazardPlace::What::kFlag;
  place.to = to;
  place.id = static_cast<std::uint8_t>(id);
  return hazards_.place(place);
}

PlaceNumber CoreHazards::place_of_cross_flag(Pipe to, unsigned flag) {
  HazardPlace place = here(to);
  place.what = HazardPlace::What::kCrossFlag;
  place.to = to;
  place.id = static_cast<std::uint8_t>(flag);
  return hazards_.place(place);
}

void CoreHazards::issued(Pipe pipe, const PipeEntry& entry) {
  const auto place = place_of(pipe, entry);
  const bool instruction = entry.kind == Kind::kInstruction;
  if (instruction && detail::work_watch != nullptr) tell(pipe, entry.number, place);
  order_.issue(pipe, place, instruction);
}

void CoreHazards::reached(Pipe pipe, const PipeEntry& entry) {
  const auto [place, turn] = order_.take(pipe);
  switch (entry.kind) {
    case Kind::kInstruction:
      footprint_of(entry.instruction, cube_, coupled_, extents_);
      return access(pipe, place, turn, entry.reduction.operation);
    case Kind::kSetFlag:
      if (order_.raise(pipe, static_cast<Pipe>(entry.peer), entry.id, place)) {
        hazards_.found({HazardKind::kFlagRaisedTwice, place, place, Space::kGlobal, 0, 0, 0});
      }
      return;
    case Kind::kWaitFlag:
      return order_.lower(static_cast<Pipe>(entry.peer), pipe, entry.id);
    case Kind::kSetCrossFlag:
      return raise_cross(pipe, static_cast<CrossScope>(entry.peer), entry.id);
    case Kind::kWaitCrossFlag:
      return lower_cross(pipe, static_cast<CrossScope>(entry.peer), entry.id);
    case Kind::kBarrier:
      return;
  }
}

// --- accesses ------------------------------------------------------------------------------

AccessMap& CoreHazards::map(const Extent& extent) {
  if (extent.space == Space::kGlobal) return call().memory();
  CoreHazards* const core = extent.whose == Whose::kOwn ? this : program_.hazards_of(extent.whose);
  return core == nullptr ? nowhere_ : core->local_[static_cast<std::size_t>(extent.space)];
}

void CoreHazards::access(Pipe pipe, PlaceNumber place, std::uint32_t turn,
                         abi::ReduceOperation reduction) {
  const Access access{order_.happens(pipe), place, turn, reduction};
  const Clock& known = order_.known(pipe);
  access_ = access;
  for (const auto& extent : extents_) {
    extent_ = extent;
    AccessMap& accesses = map(extent);
    for (Bytes row = 0; row < extent.rows; ++row) {
      const std::uint64_t first = extent.first + row * extent.pitch;
      if (extent.write) {
        accesses.write(first, first + extent.row, access, known, *this);
      } else {
        accesses.read(first, first + extent.row, access, known, *this);
      }
    }
  }
}

// Pipes come to what nothing orders in any order; of one core, the program's own order counts.
void CoreHazards::unordered(const Access& other, bool other_writes, std::uint64_t first,
                            std::uint64_t bytes) {
  const bool turned = other.moment.core == access_.moment.core && other.issued > access_.issued;
  const bool earlier_writes = turned ? extent_.write : other_writes;
  const bool later_writes = turned ? other_writes : extent_.write;
  const auto kind = !later_writes    ? HazardKind::kReadAfterWrite
                    : earlier_writes ? HazardKind::kWriteAfterWrite
                                     : HazardKind::kWriteAfterRead;
  const Access& earlier = turned ? access_ : other;
  const Access& later = turned ? other : access_;
  hazards_.found({kind, earlier.place, later.place, extent_.space, first, bytes, 0,
                  earlier.moment.core, later.moment.core});
}

// --- the scalar unit -----------------------------------------------------------------------

void CoreHazards::raised(Pipe to, unsigned id) {
  const auto place = place_of_flag(Pipe::kScalar, to, id);
  if (order_.raise(Pipe::kScalar, to, id, place)) {
    hazards_.found({HazardKind::kFlagRaisedTwice, place, place, Space::kGlobal, 0, 0, 0});
  }
}

void CoreHazards::awaits(Pipe from, unsigned id) {
  awaited_ = place_of_flag(from, Pipe::kScalar, id);
}

void CoreHazards::lowered(Pipe from, unsigned id) {
  awaited_.reset();
  order_.lower(from, Pipe::kScalar, id);
}

void CoreHazards::cross_raised(CrossScope scope, unsigned flag) {
  raise_cross(Pipe::kScalar, scope, flag);
}

void CoreHazards::cross_awaits(CrossScope /*scope*/, unsigned flag) {
  awaited_ = place_of_cross_flag(Pipe::kScalar, flag);
}

void CoreHazards::cross_lowered(CrossScope scope, unsigned flag) {
  awaited_.reset();
  lower_cross(Pipe::kScalar, scope, flag);
}

void CoreHazards::raise_cross(Pipe pipe, CrossScope scope, unsigned flag) {
  call().raise(cross_flags_.member(scope), flag, order_.known(pipe));
}

void CoreHazards::lower_cross(Pipe pipe, CrossScope scope, unsigned flag) {
  Clock learnt = order_.known(pipe);
  call().lower(cross_flags_.member(scope), flag, learnt);
  order_.learn(pipe, learnt);
}

void CoreHazards::accessed_memory() {
  tell(Pipe::kScalar, calls_.issued(), hazards_.place(here(Pipe::kScalar)));
}

void CoreHazards::tell(Pipe pipe, std::uint32_t number, PlaceNumber place) const {
  HazardPlace now = hazards_.place(place);  // of the first time
  now.core = static_cast<std::uint16_t>(number_);
  now.block = calls_.call().block;
  now.number = number;
  detail::work_watch->issued({calls_.block().cause, number_, static_cast<unsigned>(pipe), number},
                             now);
}

void CoreHazards::accessed_ub(std::uint32_t offset, bool write) {
  extents_.assign(1, {Space::kUb, write, offset, 1, sizeof(std::uint32_t), 0});
  access(Pipe::kScalar, hazards_.place(here(Pipe::kScalar)), order_.next_turn(),
         abi::ReduceOperation::kNone);
}

}  // namespace npu::model
