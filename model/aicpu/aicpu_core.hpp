// SPDX-License-Identifier: Apache-2.0
// One AICPU: runs a program on a process of its own, block after block. Here is a block's life,
// from the command processor to the program and back; what the program does meanwhile is done by
// the parts.
#pragma once

#include "model/aicpu/aicpu_poll_loop.hpp"
#include "model/aicpu/aicpu_port.hpp"
#include "model/aicpu/phase_log.hpp"

namespace npu::model {

class AicpuCore : private AicpuStores::Owner, private DebuggedCore {
 public:
  AicpuCore(AicpuShared& shared, unsigned number, std::uint32_t track);

  // The body of the core's process; never returns.
  void serve();
  void start(const KernelBlock& block);
  bool busy() const { return busy_; }
  std::uint64_t context() const { return next_block_.context; }
  SpaceId space() const { return next_block_.vmid; }  // of the last block
  // The program ends at its next access, or in what it computes.
  void stop();
  // The same, and nobody is told; it hangs no longer.
  void reset();
  // It executes nothing while it is hung. A block can be stopped all the same.
  void set_hung(bool hung);
  void answered(Completion completion) { memory_.answered(completion); }
  // Or will, when the read in flight is answered.
  bool holds(SpaceId vmid, std::uint64_t address, Bytes length) const {
    return memory_.holds(vmid, address, length);
  }
  // Somebody has written. `later`: who comes after this core at equal times.
  void drop_lines(SpaceId vmid, std::uint64_t address, Bytes length, bool later);
  // The same of a register, or of anything that ends a sleep.
  void look_changed(bool later = false) { polls_.look_changed(later); }
  // When its process has an access that it waits for; UINT64_MAX: it does not.
  SimTime next_access() const { return thread_.next_access(); }
  const AicpuStatistics& statistics() const { return thread_.statistics(); }

  // For AicpuProgramPort (platform/aicpu_port.hpp): calls of the program, which end it by Ended,
  // and the parts that do others.
  unsigned thread() const { return thread_.block().block; }
  unsigned threads() const { return thread_.block().blocks; }
  std::uint64_t arguments() const { return thread_.block().arguments; }
  std::uint64_t system_counter();
  std::uint64_t counter_hz() const { return shared_.config.counter_hz; }
  void compute(std::uint64_t instructions) { thread_.compute(instructions); }
  // By the program since it was last asked; ahead of what it calls next.
  void executed(std::uint64_t instructions);
  AicpuMemory& memory() { return memory_; }
  AicpuRegisters& registers() { return registers_; }
  AicpuPollLoop& polls() { return polls_; }
  PhaseLog& phases() { return phases_; }
  bool omits(Synchronisation kind, const void* place) { return sim_.omits(kind, place); }

 private:
  void run_block();
  void run_program();
  LoadedProgram load_program();
  void fetch_object(std::uint64_t object, Bytes size);
  void report();
  void reported(std::uint64_t generation);
  void end_program();
  void store_refused(const CommandFault& fault) override;
  std::string debug_name() const override { return "aicpu " + std::to_string(number_); }
  unsigned debug_number() const override { return number_; }
  SpaceId debug_space() const override { return space(); }
  DeviceMemoryPort& debug_memory() override { return shared_.memory; }
  std::uint64_t debug_arguments() const override { return arguments(); }
  std::string debug_state() const override;

  AicpuShared& shared_;
  Simulation& sim_;
  const unsigned number_;
  const std::uint32_t track_;
  PollRounds rounds_;
  AicpuThread thread_;
  AicpuMemory memory_;
  AicpuRegisters registers_;
  AicpuPollLoop polls_;
  PhaseLog phases_;

  sc_core::sc_event start_;
  bool assigned_ = false, assigned_stopped_ = false;  // a block waits for the process
  bool busy_ = false, discard_ = false;
  std::uint32_t generation_ = 0;  // blocks and resets seen
  KernelBlock next_block_;
  SimTime started_ = 0;
  ProgramRun run_;
  AicpuProgramPort port_{*this, run_};
};

}  // namespace npu::model
