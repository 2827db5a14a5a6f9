// SPDX-License-Identifier: Apache-2.0
// One core that runs programs from device memory (platform/aicore_port.hpp): a thread of the
// simulation for the scalar unit, beside it the pipes. Here is the life of a block; what a program
// does meanwhile is done by the units.
#pragma once

#include <memory>
#include <string>

#include "model/aicore/core_registers.hpp"
#include "model/aicore/core_view.hpp"
#include "model/aicore/hazards/core_hazards.hpp"
#include "model/aicore/issue_unit.hpp"
#include "model/aicore/load_store_unit.hpp"
#include "model/aicore/pipe_effects.hpp"
#include "model/aicore/program_fetch.hpp"
#include "model/aicore/program_port.hpp"

namespace npu::model {

class ProgramCore : private PipeEffects::Cluster, private CoreHazards::Program {
 public:
  // answered() comes with the slot of what was sent.
  class Owner : public CoreParts::Owner, public CoreRegisters::Listener {
   public:
    virtual void block_ended(unsigned core, const KernelBlock& block,
                             const CommandFault& fault) = 0;
    virtual void status_changed(unsigned core) = 0;
    // `which` vector core of the cluster of a cube core.
    virtual ProgramCore& vector_core(unsigned cube, unsigned which) = 0;
    // The cube core of the cluster of a vector core.
    virtual ProgramCore& cube_core(unsigned vector) = 0;
  };

  ProgramCore(ProgramServices& services, const std::string& track, unsigned number, Owner& owner);

  bool busy() const { return busy_; }
  std::uint64_t context() const { return parts_.calls.block().context; }
  SpaceId space() const { return parts_.calls.space(); }  // of the last block
  const ProgramCoreStatistics& statistics() const { return parts_.statistics; }
  CoreWindow& window() { return parts_.window; }
  const CoreWindow& window() const { return parts_.window; }

  // The body of the core's thread.
  void run();
  // When its thread is to go on; UINT64_MAX: it waits for something else.
  SimTime resumes_at() const { return parts_.thread.resumes_at(); }
  // What the thread waits for.
  sc_core::sc_event& wake() { return parts_.thread.wake(); }

  // Its scalar unit executes nothing while it is hung; instructions of the pipes end. A block can
  // be stopped, and a reset ends it.
  void set_hung(bool hung) { parts_.thread.set_hung(hung); }
  void start(const KernelBlock& block);
  void stop();
  void reset();
  // An access of `length` bytes at `address`.
  struct Answer {
    Completion completion = Completion::kSuccess;
    std::uint64_t address = 0;
    bool write = false;
    Bytes length = 0;
    RequestTimes times;
    std::uint32_t l2_hits = 0, l2_misses = 0;  // lines
    const unsigned char* bytes = nullptr;      // that came with it, see carry()
  };
  void answered(std::uint32_t slot, const Answer& answer);
  void translated(std::uint32_t slot);
  // The request leads to another card and is of a line of the scalar unit: `line` goes with it, or
  // comes. So a flag is seen when the memory there has had its turn. False: it is another request.
  bool carry(std::uint32_t slot, bool write, unsigned char* line);
  void window_written(std::uint32_t offset, std::uint32_t value);
  void cross_flags_changed();
  // The program in the core, if there is one, goes on no further.
  void tell_stuck();

  // For ProgramPort (platform/aicore_port.hpp): calls of the program, which end it by Cut, and the
  // units that do others.
  const platform::KernelCall& call() const { return parts_.calls.call(); }
  // As software of the block's function numbers the cores.
  unsigned physical_core() const;
  abi::CoreType core_type() const { return parts_.services.layout.type(parts_.number); }
  Bytes buffer_size(platform::LocalBuffer buffer) const;
  bool has_transposing_copies() const { return parts_.services.config.transposed_percent != 0; }
  bool has_vector_functions() const { return parts_.services.config.vector.function.ports != 0; }
  void scalar(unsigned cycles);
  // By the program since it was last asked; ahead of what it calls next, from `call`. nullptr: it
  // has ended.
  void executed(const void* call, std::uint64_t instructions);
  void set_up(const platform::SetUp& set_up);
  int invoke(const platform::KernelCall& call);
  [[noreturn]] void trap(std::uint16_t code);
  PollLoop& polls() { return parts_.polls; }
  CoreRegisters& registers() { return registers_; }
  IssueUnit& issue() { return units_->issue; }
  LoadStoreUnit& memory() { return units_->memory; }
  bool omits(Synchronisation kind, const void* place) {
    return parts_.services.sim.omits(kind, place);
  }

 private:
  using Cut = CoreThread::Cut;
  // What belongs to a block; made with the first one.
  struct Units {
    explicit Units(ProgramCore& core);
    LocalMemory local;
    PipeEffects effects;
    PipeUnit pipes;
    IssueUnit issue;
    MemoryReads reads;
    WriteBacks write_backs;
    LoadStoreUnit memory;
    ProgramFetch fetch;
    std::unique_ptr<CoreHazards> hazards;  // null: nobody looks for any
  };

  Units& units();
  void run_block();
  int run_launched();
  int call_program(ProgramFetch::Program& program);
  void forget_accesses();
  void end_block();
  void report(std::uint64_t generation);
  void identify(const ProgramFetch::Program& program);
  void task_set_up(SimTime begun);
  LocalMemory* vector_memory(unsigned which) override;
  LocalMemory* cube_memory() override;
  ProgramCore* cluster_core(Whose whose);
  const void* call_site() const override;
  const std::array<char, 17>& program_name() const override;
  CoreHazards* hazards_of(Whose whose) override;

  Owner& owner_;
  CoreParts parts_;
  CoreRegisters registers_;
  std::unique_ptr<Units> units_;
  CoreView view_{parts_};

  ProgramRun run_;
  ProgramPort port_{*this, run_};
  bool busy_ = false, pending_ = false, in_block_ = false;
  bool abandoned_ = false;
  bool stuck_told_ = false;     // of the block
  bool stopped_early_ = false;  // before its thread had begun
  SimTime began_ = 0;
};

}  // namespace npu::model
