// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/pipe_effects.hpp"

#include "model/aicore/hazards/footprint.hpp"
#include "model/aicore/pipe_operation.hpp"
#include "model/core/work_watch.hpp"

namespace npu::model {

using abi::FaultCode;
using platform::Pipe;

PipeEffects::PipeEffects(CoreParts& core, LocalMemory& memory, Cluster& cluster)
    : services_(core.services),
      number_(core.number),
      cube_(core.services.layout.type(core.number) == abi::CoreType::kAic),
      vector_(core.services.layout.type(core.number) == abi::CoreType::kAiv),
      calls_(core.calls),
      thread_(core.thread),
      requests_(core.requests),
      cross_flags_(core.cross_flags),
      tracks_(core.tracks),
      memory_(memory),
      cluster_(cluster) {}

void PipeEffects::execute(Pipe pipe, const PipeEntry& entry, SimTime begin, SimTime end,
                          Bytes bytes, const Began& began) {
  if (services_.sim.recorder.hears(platform::Activity::kPipe)) {
    platform::PipeDetail detail;
    detail.pipe = pipe;
    detail.operation = operation_of(entry.instruction);
    detail.after = began.after;
    detail.flag = began.flag;
    services_.sim.emit(tracks_.of(pipe), platform::Activity::kPipe, begin, end,
                       calls_.block().cause, bytes, detail.pack());
  }
  if (detail::program_debugger != nullptr) {
    detail::program_debugger->moves(
        {&services_.memory.of_this_card(), number_, static_cast<unsigned>(pipe), entry.number});
  }
  if (detail::work_watch != nullptr) tell_accesses(pipe, entry);
  const auto fault =
      stays_local(entry.instruction)
          ? move(entry.instruction)
          : memory_.execute(entry.instruction, entry.reduction, services_.memory, calls_.space());
  if (fault.failed()) thread_.fail(fault, pipe, entry.number);
}

void PipeEffects::tell_accesses(Pipe pipe, const PipeEntry& entry) const {
  std::vector<Extent> extents;
  const WorkWatch::Instruction by{calls_.block().cause, number_, static_cast<unsigned>(pipe),
                                  entry.number};
  footprint_of(entry.instruction, cube_, !cube_ && !vector_, extents);
  for (const auto& each : extents) {
    if (each.space != Space::kGlobal) continue;
    detail::work_watch->accessed(
        {calls_.space(), by, each.write, each.first, each.rows, each.row, each.pitch});
  }
}

void PipeEffects::copy_followed(Pipe pipe, const PipeEntry& copy, const CopyChain::Path& path) {
  services_.sim.emit(tracks_.of(pipe), platform::Activity::kCopyPath, path.begin, path.end,
                     calls_.block().cause, 0,
                     path.detail(pipe, operation_of(copy.instruction)).pack());
}

CommandFault PipeEffects::move(const Instruction& instruction) {
  LocalMemory* target = &memory_;
  if (const auto* copy = std::get_if<platform::CopyOut>(&instruction)) {
    if (vector_) target = cluster_.cube_memory();
    if (target == nullptr) return {FaultCode::kInstruction, copy->to, calls_.space(), true};
    memory_.move(*copy, *target);
    return {};
  }
  const auto& fixpipe = std::get<platform::Fixpipe>(instruction);
  if (fixpipe.target == platform::FixpipeTarget::kUb && cube_) {
    target = cluster_.vector_memory(fixpipe.vector_core);
    if (target == nullptr) return {FaultCode::kInstruction, fixpipe.to, calls_.space(), true};
  }
  memory_.move(fixpipe, *target);
  return {};
}

void PipeEffects::flag_overflow() {
  thread_.fail({FaultCode::kInstruction, 0, calls_.space(), false});
}

}  // namespace npu::model
