// SPDX-License-Identifier: Apache-2.0
// What the pipes of a core do to everything around them: requests, bytes, flags between cores,
// faults, events of the trace.
#pragma once

#include "model/aicore/core_parts.hpp"
#include "model/aicore/local_memory.hpp"
#include "model/aicore/pipe_unit.hpp"

namespace npu::model {

class PipeEffects final : public PipeUnit::Owner {
 public:
  class Cluster {
   public:
    virtual ~Cluster() = default;
    // Local memory of a vector core; null: that runs something else and is not to be written to.
    virtual LocalMemory* vector_memory(unsigned which) = 0;
    // That of the cube core.
    virtual LocalMemory* cube_memory() = 0;
  };

  // Of a cube core, FixPipe to UB means that of a vector core of the cluster; of a vector core,
  // MTE3 to L1 means that of its cube core.
  PipeEffects(CoreParts& core, LocalMemory& memory, Cluster& cluster);

  void send(platform::Pipe pipe, const MemoryRequest& request) override {
    requests_.send(pipe, request);
  }
  DeviceMemoryPort::Hold hold() override { return services_.memory.hold(calls_.space()); }
  void release(DeviceMemoryPort::Hold hold) override { services_.memory.release(hold); }
  bool pages_may_leave() const override { return services_.memory.pages_may_leave(calls_.space()); }
  bool reaches(std::uint64_t address, Bytes length, bool write) override {
    return services_.memory.reaches(calls_.space(), address, length, write);
  }
  void execute(platform::Pipe pipe, const PipeEntry& entry, SimTime begin, SimTime end, Bytes bytes,
               const Began& began) override;
  void copy_followed(platform::Pipe pipe, const PipeEntry& copy,
                     const CopyChain::Path& path) override;
  void raise_cross_flag(platform::CrossScope scope, unsigned flag, SimTime when) override {
    cross_flags_.raise(scope, flag, when);
  }
  std::optional<SimTime> lower_cross_flag(platform::CrossScope scope, unsigned flag) override {
    return cross_flags_.lower(scope, flag);
  }
  void flag_overflow() override;
  void pipes_advanced() override { thread_.progressed(); }

 private:
  CommandFault move(const Instruction& instruction);
  // For who looks for races.
  void tell_accesses(platform::Pipe pipe, const PipeEntry& entry) const;

  ProgramServices& services_;
  const unsigned number_;
  const bool cube_, vector_;
  const CallStack& calls_;
  CoreThread& thread_;
  RequestPort& requests_;
  CrossFlagPort& cross_flags_;
  CoreTracks& tracks_;
  LocalMemory& memory_;
  Cluster& cluster_;
};

}  // namespace npu::model
