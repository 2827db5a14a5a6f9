// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/pipe_effects.hpp"

namespace npu::model {

using abi::FaultCode;
using platform::Pipe;

PipeEffects::PipeEffects(ProgramServices& services, bool cube, const CallStack& calls,
                         CoreThread& thread, RequestPort& requests, CrossFlagPort& cross_flags,
                         CoreTracks& tracks, LocalMemory& memory, Cluster& cluster)
    : services_(services),
      cube_(cube),
      calls_(calls),
      thread_(thread),
      requests_(requests),
      cross_flags_(cross_flags),
      tracks_(tracks),
      memory_(memory),
      cluster_(cluster) {}

void PipeEffects::execute(Pipe pipe, const PipeEntry& entry, SimTime begin, SimTime end,
                          Bytes bytes) {
  if (services_.sim.recorder.enabled()) {
    services_.sim.emit(tracks_.of(pipe), platform::Activity::kPipe, begin, end,
                       calls_.block().cause, bytes, static_cast<std::uint64_t>(pipe));
  }
  const auto* const fixpipe = std::get_if<platform::Fixpipe>(&entry.instruction);
  const bool local = fixpipe != nullptr && fixpipe->target != platform::FixpipeTarget::kGlobal;
  const auto fault = local ? move_from_l0c(*fixpipe)
                           : memory_.execute(entry.instruction, services_.memory, calls_.space());
  if (fault.failed()) thread_.fail(fault, pipe, entry.number);
}

CommandFault PipeEffects::move_from_l0c(const platform::Fixpipe& fixpipe) {
  LocalMemory* target = &memory_;
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
