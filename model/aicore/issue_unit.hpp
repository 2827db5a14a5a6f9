// SPDX-License-Identifier: Apache-2.0
// What the scalar unit hands to the pipes: instructions, flags and barriers, which take room in a
// pipe's queue; and where it waits for pipes itself.
#pragma once

#include "model/aicore/core_parts.hpp"
#include "model/aicore/pipe_unit.hpp"

namespace npu::model {

class IssueUnit {
 public:
  IssueUnit(CoreParts& core, PipeUnit& pipes);

  void issue(const platform::CopyIn& instruction);
  void issue(const platform::CopyOut& instruction);
  void issue(const platform::LoadL0& instruction);
  void issue(const platform::Mmad& instruction);
  void issue(const platform::Fixpipe& instruction);
  void issue(const platform::Vector& instruction);
  void issue(const platform::VectorFunction& instruction);
  // A register of the core: what CopyOut and Fixpipe do from now on.
  void set_store_reduction(const platform::StoreReduction& reduction);
  // A block begins.
  void begin_block() { reduction_ = {}; }
  void set_flag(platform::Pipe from, platform::Pipe to, unsigned id);
  void wait_flag(platform::Pipe from, platform::Pipe to, unsigned id);
  void pipe_barrier(platform::Pipe pipe);
  void set_cross_flag(platform::Pipe pipe, platform::CrossScope scope, unsigned flag);
  void wait_cross_flag(platform::Pipe pipe, platform::CrossScope scope, unsigned flag);
  // Until everything issued is done.
  void drain();

 private:
  template <class T>
  void issue_checked(platform::Pipe pipe, const T& instruction, const InstructionFinding& found);
  void spend_issue() { thread_.spend(services_.clock.clocks(services_.config.issue_clocks)); }
  void make_room(platform::Pipe pipe);
  void check_flag(platform::Pipe from, platform::Pipe to, unsigned id);
  void check_cross_flag(platform::Pipe pipe, platform::CrossScope scope, unsigned flag);

  ProgramServices& services_;
  const BufferSizes& sizes_;
  const FixpipeWays& ways_;
  CallStack& calls_;
  CoreThread& thread_;
  PollLoop& polls_;
  PipeUnit& pipes_;
  CrossFlagPort& cross_flags_;
  ProgramCoreStatistics& statistics_;
  platform::StoreReduction reduction_;
};

}  // namespace npu::model
