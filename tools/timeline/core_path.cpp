// SPDX-License-Identifier: Apache-2.0
#include "tools/timeline/core_path.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace npu::timeline {
namespace {

using platform::Activity;
using platform::BeganAfter;
using platform::Pipe;
using platform::PipeDetail;
using platform::ScalarWait;
using Group = PathEvents::Group;
constexpr auto kNoEvent = PathEvents::kNone;

std::string operation_name(const PathEvent& event) {
  const auto operation = static_cast<std::size_t>(PipeDetail::unpack(event.detail).operation);
  const auto& names = platform::kPipeOperationNames;
  return std::string(operation < names.size() ? names[operation] : names[0]);
}

}  // namespace

bool CorePath::knows(Index program) const {
  const std::uint64_t core = events_.core_of(at(program).track);
  return events_.any({Group::kScalar, core}) || events_.any({Group::kCore, core});
}

void CorePath::enter(Index program) {
  program_ = program;
  core_ = events_.core_of(at(program).track);
  floor_ = at(program).begin;
  setup_ = events_.latest({Group::kSetup, core_}, trail_.now());
  if (setup_ != kNoEvent && at(setup_).end < floor_) setup_ = kNoEvent;  // of an earlier call
  if (setup_ != kNoEvent) floor_ = std::max(floor_, at(setup_).end);
}

// A call that nothing set up is part of the block that has made it.
bool CorePath::leave_call() {
  if (at(program_).activity != Activity::kKernelCall || setup_ != kNoEvent) return false;
  const Index block = events_.around({Group::kPrograms, core_}, trail_.now());
  if (block == kNoEvent || at(block).begin >= floor_) return false;
  enter(block);
  return true;
}

PathEvents::Index CorePath::through(Index program) {
  enter(program);
  trail_.set_in_program(true);
  Next next = Next::kScalar;
  constexpr int kMostIdle = 100;  // steps in which no time passes
  int idle = 0;
  while (next != Next::kDone) {
    const auto before = trail_.now();
    next = next == Next::kScalar ? scalar() : next == Next::kInstruction ? instruction() : began();
    idle = trail_.now() == before ? idle + 1 : 0;
    if (idle > kMostIdle || trail_.now() <= floor_) {
      if (idle <= kMostIdle && leave_call()) {
        next = Next::kScalar;
        continue;
      }
      trail_.take(floor_, "scalar", core_name());
      next = Next::kDone;
    }
  }
  trail_.set_in_program(false);
  return setup_ != kNoEvent ? setup_ : program_;
}

// --- the scalar unit -----------------------------------------------------------------------

CorePath::Next CorePath::scalar() {
  const std::string name = "scalar";
  const Index wait = events_.latest({Group::kScalar, core_}, trail_.now());
  if (wait != kNoEvent && at(wait).end > floor_) {
    trail_.take(at(wait).end, name, core_name());
    if (std::exchange(wait_, wait) != wait) return after_wait(at(wait));
    // What it waited for leads back to it.
    const auto what = static_cast<std::size_t>(at(wait).detail & 0xF);
    const auto& names = platform::kScalarWaitNames;
    trail_.take(std::max(floor_, at(wait).begin),
                "scalar waits for " + std::string(names[std::min(what, names.size() - 1)]),
                core_name());
    return Next::kScalar;
  }
  // Nothing tells of its waits: what ended last.
  const bool known = events_.any({Group::kScalar, core_});
  const Index last = known ? kNoEvent : events_.latest({Group::kCore, core_}, trail_.now());
  if (last != kNoEvent && at(last).end > floor_ && at(last).activity != Activity::kTaskSetup) {
    return to(last, name);
  }
  trail_.take(floor_, name, core_name());
  return Next::kDone;
}

CorePath::Next CorePath::after_wait(const PathEvent& wait) {
  const auto detail = platform::ScalarWaitDetail::unpack(wait.detail);
  switch (detail.wait) {
    case ScalarWait::kRoom:
      if (detail.after == BeganAfter::kFlag) return pipe_ended(detail.flag);
      if (detail.after == BeganAfter::kCross) return other_core();
      return pipe_went_on(detail.pipe);
    case ScalarWait::kFlag:
      return pipe_ended(detail.pipe);
    case ScalarWait::kDrain: {
      const Index last = events_.latest({Group::kCore, core_}, trail_.now());
      if (last != kNoEvent && at(last).end > floor_) return to(last, "drain");
      break;
    }
    case ScalarWait::kCross:
      return other_core();
    case ScalarWait::kStart:
    case ScalarWait::kEnd:
      trail_.take(std::max(floor_, wait.begin),
                  detail.wait == ScalarWait::kEnd ? "end of kernel_block" : "start of kernel_block",
                  core_name());
      return Next::kScalar;
    case ScalarWait::kMemory:
      break;
  }
  trail_.take(std::max(floor_, wait.begin), "scalar waits for memory", core_name());
  return Next::kScalar;
}

// --- pipes ---------------------------------------------------------------------------------

CorePath::Next CorePath::to(Index instruction, std::string gap) {
  trail_.take(at(instruction).end, std::move(gap), core_name());
  instruction_ = instruction;
  return Next::kInstruction;
}

CorePath::Next CorePath::instruction() {
  const PathEvent& event = at(instruction_);
  if (event.activity == Activity::kCopyPath) {
    take_copy(event);
  } else {
    trail_.take(event.begin, operation_name(event), track_name_(event.track));
  }
  return Next::kBegan;
}

// Each thing it waited for in one piece, in the order in which a request meets them.
void CorePath::take_copy(const PathEvent& copy) {
  const auto detail = PipeDetail::unpack(copy.detail);
  const std::int64_t end = trail_.now(), whole = end - copy.begin;
  if (whole <= 0) return;
  const auto name = operation_name(copy);
  const auto unit = track_name_(copy.track);
  const std::array<std::pair<const char*, std::uint8_t>, 4> parts{{{" on its way", detail.way},
                                                                   {" waits for L2", detail.l2},
                                                                   {" waits for HBM", detail.hbm},
                                                                   {" waits for MMU", detail.mmu}}};
  std::int64_t sum = 0;
  for (const auto& [what, share] : parts) {
    sum += share;
    const auto whole_partitions = static_cast<std::int64_t>(PipeDetail::kWhole);
    trail_.take(
        end - whole / whole_partitions * sum - whole % whole_partitions * sum / whole_partitions,
        name + what, unit);
  }
  trail_.take(copy.begin, name + " at its rate", unit);
}

CorePath::Next CorePath::began() {
  const PathEvent& event = at(instruction_);
  const auto detail = PipeDetail::unpack(event.detail);
  switch (detail.after) {
    case BeganAfter::kFlag:
      return pipe_ended(detail.flag);
    case BeganAfter::kCross:
      return other_core();
    case BeganAfter::kIssue:
      return Next::kScalar;
    case BeganAfter::kOwn:
      break;
  }
  const Index before =
      events_.latest(events_.pipe_group(core_, detail.pipe), trail_.now(), instruction_);
  const bool is_right_before = before != kNoEvent && at(before).end == event.begin;
  return is_right_before ? to(before, "") : Next::kScalar;
}

// A flag was raised, or awaited, behind what the pipe did last.
CorePath::Next CorePath::pipe_ended(Pipe pipe) {
  if (pipe == Pipe::kScalar) return Next::kScalar;
  const Index last = events_.latest(events_.pipe_group(core_, pipe), trail_.now());
  if (last == kNoEvent || at(last).end <= floor_) return Next::kScalar;
  return to(last, "flag");
}

// An entry left the pipe's queue: an instruction began.
CorePath::Next CorePath::pipe_went_on(Pipe pipe) {
  const Index next = events_.after(events_.pipe_group(core_, pipe), trail_.now());
  if (next == kNoEvent) return pipe_ended(pipe);
  instruction_ = next;
  return at(next).begin < trail_.now() ? Next::kInstruction : Next::kBegan;
}

// The last of those that run the same launch and did something before.
CorePath::Next CorePath::other_core() {
  constexpr int kFar = 4096;
  const auto cause = at(program_).cause;
  Index each = events_.latest({Group::kLaunch, cause}, trail_.now());
  for (int i = 0; i < kFar && each != kNoEvent; ++i) {
    if (events_.core_of(at(each).track) != core_) break;
    each = events_.latest({Group::kLaunch, cause}, trail_.now(), each);
  }
  if (each == kNoEvent || events_.core_of(at(each).track) == core_) return Next::kScalar;
  const auto core = events_.core_of(at(each).track);
  const Index program = events_.around({Group::kPrograms, core}, at(each).end);
  if (program == kNoEvent) return Next::kScalar;
  trail_.take(at(each).end, "cross flag", core_name());
  enter(program);
  instruction_ = each;
  return Next::kInstruction;
}

}  // namespace npu::timeline
