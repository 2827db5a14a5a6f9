// SPDX-License-Identifier: Apache-2.0
// The pipes of one core with their queues and the flags between them.
//
// Each entry of a pipe takes effect as soon as it is known when it does, which may lie ahead of
// simulated time: what MTE1, cube and vector unit do depends on times of other entries alone. Only
// copies from and to global memory happen at simulated time. So a program gets ahead of simulated
// time until it depends on memory, and entries cause few events of the simulation.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "model/aicore/memory_pipe.hpp"
#include "model/aicore/pipe_watch.hpp"
#include "model/aicore/statistics.hpp"

namespace npu::model {

class PipeUnit : private MemoryPipe::Owner {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void send(platform::Pipe pipe, const MemoryRequest& request) = 0;
    virtual DeviceMemoryPort::Hold hold() = 0;
    virtual void release(DeviceMemoryPort::Hold hold) = 0;
    virtual bool pages_may_leave() const = 0;
    virtual bool reaches(std::uint64_t address, Bytes length, bool write) = 0;
    // The instruction takes effect. It keeps its pipe busy from `begin` to `end`; `began`: why no
    // earlier.
    virtual void execute(platform::Pipe pipe, const PipeEntry& entry, SimTime begin, SimTime end,
                         Bytes bytes, const Began& began) = 0;
    virtual void copy_followed(platform::Pipe pipe, const PipeEntry& copy,
                               const CopyChain::Path& path) = 0;
    virtual void raise_cross_flag(platform::CrossScope scope, unsigned flag, SimTime when) = 0;
    // When the next wait for the flag ends, which lowers it; nothing if that is not known.
    virtual std::optional<SimTime> lower_cross_flag(platform::CrossScope scope, unsigned flag) = 0;
    // A flag was raised more often than flags can count.
    virtual void flag_overflow() = 0;
    // What the scalar unit waits for may be there.
    virtual void pipes_advanced() = 0;
  };

  PipeUnit(Simulation& sim, const ProgramCoreConfig& config, const CoreClock& clock,
           ProgramCoreStatistics& statistics, Owner& owner);

  // Hears of all entries from now on.
  void connect(PipeWatch& watch) { watch_ = &watch; }
  PipeWatch* watch() const { return watch_; }  // null: there is none

  // Of the scalar unit. `pipe` is none but its own.
  bool full(platform::Pipe pipe) const { return unit(pipe).queue.full(); }
  // Not full: since when there has been room.
  SimTime room_since(platform::Pipe pipe) const { return unit(pipe).queue.room_since(); }
  const Began& room_after(platform::Pipe pipe) const { return unit(pipe).queue.room_after(); }
  // The entry is handed over at `issued`. `number`: of the instruction (abi::InstructionPlace).
  void issue(platform::Pipe pipe, const Instruction& instruction, std::uint32_t number,
             SimTime issued, const platform::StoreReduction& reduction);
  void issue(platform::Pipe pipe, PipeEntry::Kind kind, unsigned peer, unsigned id, SimTime issued);
  // A flag of the scalar unit itself.
  void raise(platform::Pipe from, platform::Pipe to, unsigned id, SimTime when);
  bool raised(platform::Pipe from, platform::Pipe to, unsigned id) const {
    return flags_[flag(from, to, id)].raised();
  }
  // By the scalar unit, which waits for `from`.
  SimTime lower(platform::Pipe from, unsigned id);
  // Everything issued is done, and when.
  bool drained() const;
  SimTime drained_at() const;
  // Nothing in the pipes can go on, unless the scalar unit or another core raises a flag.
  bool stuck() const;
  // The watch hears of pipes that wait for a flag.
  void tell_stuck() const;
  bool waits_for_cross_flag() const;
  // A cross flag may have been raised.
  void cross_flags_changed();
  void answered(platform::Pipe pipe, std::uint32_t slot, Bytes bytes, const RequestTimes& times);
  // A request that will be answered.
  void translated(platform::Pipe pipe, std::uint32_t slot) { unit(pipe).memory->translated(slot); }
  // Of the copy in flight that a request belongs to.
  std::uint32_t instruction_of(platform::Pipe pipe, std::uint32_t slot) const {
    return unit(pipe).memory->instruction_of(slot);
  }
  // Forgets everything that was issued.
  void cut();

 private:
  struct Unit {
    explicit Unit(unsigned depth) : queue(depth) {}
    PipeQueue queue;
    SimTime free = 0;      // of the last entry
    SimTime begun = 0;     // the last instruction that computes
    Began since;           // why it was not free earlier
    SimTime last_end = 0;  // of the last instruction
    bool ran_empty = true;
    bool held = false;       // the memory pipe does not take the first entry
    bool scheduled = false;  // the first entry begins later
    std::unique_ptr<MemoryPipe> memory;
  };

  static std::size_t index(platform::Pipe pipe) { return static_cast<std::size_t>(pipe); }
  static std::size_t flag(platform::Pipe from, platform::Pipe to, unsigned id) {
    return (index(from) * platform::kPipes + index(to)) * platform::kFlagIds + id;
  }
  Unit& unit(platform::Pipe pipe) { return units_[index(pipe)]; }
  const Unit& unit(platform::Pipe pipe) const { return units_[index(pipe)]; }
  void raise_at(platform::Pipe from, platform::Pipe to, unsigned id, SimTime when);
  static void reach(Unit& unit, SimTime when, const Began& began);
  void reached(platform::Pipe pipe, const Unit& unit) {
    if (watch_ != nullptr) watch_->reached(pipe, unit.queue.front());
  }
  void mark(platform::Pipe pipe) { marked_ |= 1U << index(pipe); }
  void run();
  bool step(platform::Pipe pipe);
  bool step_instruction(platform::Pipe pipe, Unit& unit);
  void compute(platform::Pipe pipe, Unit& unit);
  void copy(platform::Pipe pipe, Unit& unit);
  bool step_set_flag(platform::Pipe pipe, Unit& unit);
  bool step_wait(platform::Pipe pipe, Unit& unit);
  bool step_barrier(platform::Pipe pipe, Unit& unit);
  void begin_later(std::uint64_t argument);

  void send(platform::Pipe pipe, const MemoryRequest& request) override {
    owner_.send(pipe, request);
  }
  DeviceMemoryPort::Hold hold() override { return owner_.hold(); }
  void release(DeviceMemoryPort::Hold hold) override { owner_.release(hold); }
  bool pages_may_leave() const override { return owner_.pages_may_leave(); }
  bool reaches(std::uint64_t address, Bytes length, bool write) override {
    return owner_.reaches(address, length, write);
  }
  void copy_ended(platform::Pipe pipe, const PipeEntry& copy, SimTime begin, SimTime end,
                  Bytes bytes) override;
  void copy_followed(platform::Pipe pipe, const PipeEntry& copy,
                     const CopyChain::Path& path) override {
    owner_.copy_followed(pipe, copy, path);
  }
  void raise_behind(platform::Pipe pipe, const PipeEntry& flag, SimTime when) override;
  void copy_advanced(platform::Pipe pipe) override;

  Simulation& sim_;
  const CoreClock& clock_;
  const InstructionTimes times_;
  ProgramCoreStatistics& statistics_;
  Owner& owner_;
  PipeWatch* watch_ = nullptr;
  const SimTime issue_, flag_delay_, scalar_delay_;
  std::vector<Unit> units_;  // by Pipe; the scalar unit's is not used
  std::vector<FlagTimes> flags_;
  unsigned marked_ = 0;  // pipes whose first entry may be able to go on
  bool running_ = false;
  std::uint64_t generation_ = 0;
};

}  // namespace npu::model
