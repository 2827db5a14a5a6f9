// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/program_core.hpp"

#include <algorithm>

#include "model/aicore/set_up_time.hpp"

namespace npu::model {

using abi::FaultCode;
using platform::LocalBuffer;
using platform::Pipe;

ProgramCore::Units::Units(ProgramCore& core)
    : local(core.parts_.sizes, core.parts_.services.config.functional),
      effects(core.parts_, local, core),
      pipes(core.parts_.services.sim, core.parts_.services.config, core.parts_.services.clock,
            core.parts_.statistics, effects),
      issue(core.parts_, pipes),
      reads(core.parts_.services, core.parts_.calls, core.parts_.thread, core.parts_.requests,
            core.parts_.statistics),
      write_backs(core.parts_.services, core.parts_.calls, core.parts_.thread, core.parts_.requests,
                  core.parts_.number),
      memory(core.parts_, reads, write_backs, local),
      fetch(core.parts_.services, core.parts_.calls, core.parts_.thread, reads,
            core.parts_.statistics) {
  auto& services = core.parts_.services;
  if (services.config.hazards == HazardMode::kOff) return;
  CoreHazards::Program& program = core;
  hazards = std::make_unique<CoreHazards>(core.parts_, services.hazards, program);
  pipes.connect(*hazards);
  memory.connect(*hazards);
}

ProgramCore::ProgramCore(ProgramServices& services, const std::string& track, unsigned number,
                         Owner& owner)
    : owner_(owner), parts_(services, track, number, owner), registers_(parts_, owner) {
  run_.runs_on(view_);
}

unsigned ProgramCore::physical_core() const {
  const auto& own = parts_.services.cores_of[function_of(space())];
  return static_cast<unsigned>(std::lower_bound(own.begin(), own.end(), parts_.number) -
                               own.begin());
}

Bytes ProgramCore::buffer_size(LocalBuffer buffer) const {
  const auto index = static_cast<std::size_t>(buffer);
  return index < parts_.sizes.size() ? parts_.sizes[index] : 0;
}

// --- from outside --------------------------------------------------------------------------

void ProgramCore::start(const KernelBlock& block) {
  sc_assert(!busy_);
  busy_ = pending_ = true;
  parts_.thread.set_cut(in_block_);  // a thread that a reset has not let go yet ends first
  parts_.calls.launch(block);
  parts_.thread.set_fault({});
  began_ = sim_now();
  parts_.window.launched();
  owner_.status_changed(parts_.number);
  parts_.thread.wake_up();
}

void ProgramCore::stop() {
  if (!busy_) return;
  if (pending_) {  // the thread has not begun, and may still be leaving the block before
    stopped_early_ = true;
    return;
  }
  if (!parts_.thread.is_cut()) parts_.thread.end();
}

void ProgramCore::reset() {
  tell_stuck();  // a driver resets what does not end
  parts_.thread.set_hung(false);
  parts_.window.reset();
  parts_.calls.abandon();
  busy_ = pending_ = false;
  stopped_early_ = false;
  forget_accesses();
  if (units_) {
    units_->fetch.forget_images();
    units_->pipes.cut();
    units_->local.clear();  // whoever comes next is somebody else
  }
  if (!in_block_) return;
  abandoned_ = true;
  parts_.thread.end();
}

void ProgramCore::answered(std::uint32_t slot, const Answer& answer) {
  const auto [pipe, place] = RequestPort::unpack(slot);
  const bool ahead = pipe == Pipe::kScalar && (place & MemoryReads::kAhead) != 0;
  if (!ahead) parts_.requests.answered();
  parts_.statistics.events.answered(answer.write, answer.length, answer.l2_hits, answer.l2_misses);
  if (ahead) {
    units_->reads.ahead_answered(place);
    return parts_.thread.answered();
  }
  const bool scalar = pipe == Pipe::kScalar;
  if (answer.completion != Completion::kSuccess && !parts_.thread.is_cut()) {
    parts_.thread.fail(
        {device_fault(answer.completion), answer.address, space(), answer.write, answer.length},
        pipe, scalar ? parts_.calls.issued() : units_->pipes.instruction_of(pipe, place));
  }
  if (parts_.thread.is_cut()) {
    if (parts_.requests.idle()) parts_.thread.wake_up();
    return;
  }
  if (!scalar) return units_->pipes.answered(pipe, place, answer.length, answer.times);
  if (place == MemoryReads::kPlace) {
    units_->reads.answered(answer.address, answer.bytes);
  } else {
    units_->write_backs.answered(place);
  }
  parts_.thread.answered();
}

void ProgramCore::translated(std::uint32_t slot) {
  const auto [pipe, place] = RequestPort::unpack(slot);
  if (parts_.thread.is_cut() || pipe == Pipe::kScalar) return;
  units_->pipes.translated(pipe, place);
}

bool ProgramCore::carry(std::uint32_t slot, bool write, unsigned char* line) {
  const auto [pipe, place] = RequestPort::unpack(slot);
  if (parts_.thread.is_cut() || pipe != Pipe::kScalar) return false;
  if (write) units_->write_backs.carry(place, line);
  return write || place == MemoryReads::kPlace;
}

void ProgramCore::window_written(std::uint32_t offset, std::uint32_t value) {
  if (parts_.window.write(offset, value)) parts_.polls.register_written();
}

void ProgramCore::cross_flags_changed() {
  if (!units_ || !in_block_) return;
  parts_.cross_flags.others_raised();
  if (units_->pipes.waits_for_cross_flag()) units_->pipes.cross_flags_changed();
}

// Null: it runs something else.
ProgramCore* ProgramCore::cluster_core(Whose whose) {
  const bool own_cube = whose != Whose::kCube;
  ProgramCore& other = own_cube
                           ? owner_.vector_core(parts_.number, whose == Whose::kVector0 ? 0 : 1)
                           : owner_.cube_core(parts_.number);
  const auto& cube = own_cube ? *this : other;
  const auto& vector = own_cube ? other : *this;
  const unsigned role = parts_.services.layout.role(vector.parts_.number);
  if (!other.busy_ || !cube.parts_.calls.shares_block_with(vector.parts_.calls, role)) {
    return nullptr;
  }
  return &other;
}

LocalMemory* ProgramCore::vector_memory(unsigned which) {
  auto* const core = cluster_core(which == 0 ? Whose::kVector0 : Whose::kVector1);
  return core == nullptr ? nullptr : &core->units().local;
}

LocalMemory* ProgramCore::cube_memory() {
  auto* const core = cluster_core(Whose::kCube);
  return core == nullptr ? nullptr : &core->units().local;
}

CoreHazards* ProgramCore::hazards_of(Whose whose) {
  auto* const core = cluster_core(whose);
  return core == nullptr ? nullptr : core->units().hazards.get();
}

const void* ProgramCore::call_site() const {
  return units_->fetch.running()->before;
}

const std::array<char, 17>& ProgramCore::program_name() const {
  return units_->fetch.running()->name;
}

// --- the thread ----------------------------------------------------------------------------

void ProgramCore::run() {
  for (;;) {
    while (!pending_) parts_.services.sim.agenda.wait(parts_.thread.wake());
    pending_ = false;
    in_block_ = true;
    run_block();
    in_block_ = abandoned_ = false;
    parts_.thread.set_cut(false);
  }
}

ProgramCore::Units& ProgramCore::units() {
  if (!units_) {
    units_ = std::make_unique<Units>(*this);
    view_.has(units_->local);
  }
  return *units_;
}

void ProgramCore::run_block() {
  units();
  parts_.thread.begin_block(stopped_early_);
  stopped_early_ = stuck_told_ = false;
  units_->memory.clear();
  units_->issue.begin_block();
  if (units_->hazards) units_->hazards->begin_block();
  parts_.polls.reset();
  const KernelBlock& block = parts_.calls.block();
  run_.identify({"AI Core", parts_.number, block.block, block.blocks, {}});
  const auto outcome = run_.run([this] {
    const int result = run_launched();
    if (result != 0) {
      parts_.thread.raise_fault(FaultCode::kKernelResult, static_cast<std::uint32_t>(result));
    }
  });
  if (outcome == ProgramRun::Outcome::kThrew) {
    if (!parts_.thread.is_cut()) {
      parts_.thread.set_fault({FaultCode::kKernelTrap, block.image, block.vmid, false});
    }
    parts_.thread.set_cut(true);
  }
  if (!abandoned_) end_block();
}

int ProgramCore::run_launched() {
  parts_.thread.check();
  units_->fetch.enter(nullptr);
  const CoreConfig& launch = parts_.services.launch;
  parts_.thread.pass(ticks(launch.dispatch) + ticks(launch.init));
  const SimTime initialised = parts_.thread.local() + ticks(launch.software_init);
  parts_.thread.waited(platform::ScalarWait::kStart, began_);
  parts_.thread.catch_up();
  // Part of the software's initialisation.
  auto program = units_->fetch.fetch(parts_.calls.block().image);
  identify(program);
  const SimTime fetched = parts_.thread.local();
  parts_.thread.reach(initialised);
  parts_.thread.waited(platform::ScalarWait::kStart, fetched);
  const int result = call_program(program);
  parts_.thread.enter();
  units_->issue.drain();
  const SimTime drained = parts_.thread.local();
  units_->write_backs.await_most(0);
  parts_.thread.catch_up();
  parts_.thread.waited(platform::ScalarWait::kMemory, drained);
  parts_.thread.told().tell();
  return result;
}

int ProgramCore::call_program(ProgramFetch::Program& program) {
  auto* const caller = units_->fetch.enter(&program);
  if (units_->hazards) units_->hazards->enter_call();
  const int result = run_.call_program(program.executed, [&] { return program.entry(port_); });
  executed(nullptr, run_.take_executed());
  if (units_->hazards && !parts_.thread.is_cut()) units_->hazards->end_call();
  units_->fetch.enter(caller);
  return result;
}

// None is in flight, or those that are will not be heard of.
void ProgramCore::forget_accesses() {
  parts_.requests.forget();
  if (!units_) return;
  units_->reads.forget();
  units_->write_backs.forget();
}

// What it waits for has not come.
void ProgramCore::tell_stuck() {
  if (!in_block_ || !units_ || !units_->hazards || stuck_told_) return;
  stuck_told_ = true;
  units_->pipes.tell_stuck();
  units_->hazards->stopped();
}

// Accesses in flight end first.
void ProgramCore::end_block() {
  if (parts_.thread.is_cut()) {
    parts_.thread.told().cut();
    tell_stuck();
  }
  parts_.thread.told().tell();
  units_->pipes.cut();
  const SimTime answer = parts_.polls.answered_at();
  while (!parts_.requests.idle() && !abandoned_)
    parts_.services.sim.agenda.wait(parts_.thread.wake());
  while (sim_now() < answer && !abandoned_)
    parts_.services.sim.agenda.wait(parts_.thread.wake(), answer);
  if (abandoned_) return;
  forget_accesses();
  const SimTime end =
      std::max(parts_.thread.is_cut() ? sim_now() : parts_.thread.local(), sim_now());
  parts_.thread.set_local(end + ticks(parts_.services.launch.report));
  parts_.thread.waited(platform::ScalarWait::kEnd, end);
  parts_.thread.told().tell();
  parts_.services.sim.agenda.at<&ProgramCore::report>(end + ticks(parts_.services.launch.report),
                                                      *this, parts_.calls.generation());
}

void ProgramCore::report(std::uint64_t generation) {
  if (generation != parts_.calls.generation()) return;
  const CommandFault& fault = parts_.thread.fault();
  const KernelBlock block = parts_.calls.block();
  ++parts_.statistics.blocks;
  if (fault.failed()) ++parts_.statistics.faults;
  parts_.statistics.running += sim_now() - began_;
  if (parts_.services.sim.recorder.enabled()) {
    parts_.services.sim.emit(parts_.tracks.of(Pipe::kScalar), platform::Activity::kKernelBlock,
                             began_, sim_now(), block.cause, 0, block.block);
  }
  busy_ = false;
  parts_.window.ended(fault.code);
  owner_.status_changed(parts_.number);
  owner_.block_ended(parts_.number, block, fault);
}

// --- calls of the program ------------------------------------------------------------------

void ProgramCore::identify(const ProgramFetch::Program& program) {
  run_.identify({"AI Core", parts_.number, call().block, call().blocks, program.name});
}

void ProgramCore::executed(const void* call, std::uint64_t instructions) {
  if (parts_.thread.is_cut()) return;
  units_->fetch.execute(call, instructions, parts_.polls);
  if (instructions == 0) return;
  parts_.statistics.executed += instructions;
  constexpr unsigned kPercent = 100;
  parts_.thread.spend(parts_.services.clock.clocks(instructions * kPercent) /
                      parts_.services.config.scalar_ipc_percent);
}

void ProgramCore::scalar(unsigned cycles) {
  parts_.thread.enter();
  parts_.thread.spend(parts_.services.clock.clocks(cycles));
}

void ProgramCore::set_up(const platform::SetUp& set_up) {
  parts_.polls.enter_effect();
  if (static_cast<std::size_t>(set_up.tiling) >= platform::kTilings) {
    parts_.thread.raise_fault(FaultCode::kInstruction,
                              parts_.thread.at_fault(abi::FaultyField::kKind, Pipe::kScalar));
  }
  const SetUpConfig& costs = parts_.services.config.set_up;
  const unsigned turns = turns_of(set_up, call(), parts_.services.layout, core_type());
  if (set_up.pipe) units_->fetch.read_objects(costs.pipe_reads);
  const SimTime begin = parts_.thread.local();
  parts_.thread.pass(ticks(set_up_time(costs, set_up, turns, core_type())));
  parts_.thread.waited(platform::ScalarWait::kStart, begin);
}

int ProgramCore::invoke(const platform::KernelCall& call) {
  parts_.polls.enter_effect();
  if (parts_.calls.full()) parts_.thread.raise_fault(FaultCode::kInstruction, call.image);
  // What the caller has issued belongs to its own call, flags between cores above all.
  if (!units_->pipes.drained()) issue().pipe_barrier(Pipe::kAll);
  if (units_->hazards) units_->hazards->drained();
  parts_.thread.catch_up();
  const SimTime begin = parts_.thread.local();
  auto program = units_->fetch.fetch(call.image);
  const auto caller_identity = run_.identity();
  const auto caller = parts_.calls.enter(call);
  identify(program);
  task_set_up(parts_.thread.local());
  const int result = call_program(program);
  issue().pipe_barrier(Pipe::kAll);
  parts_.thread.told().tell();
  parts_.cross_flags.leave_call();
  parts_.calls.leave(caller);
  run_.identify(caller_identity);
  parts_.polls.close();
  ++parts_.statistics.kernels;
  if (parts_.services.sim.recorder.enabled()) {
    parts_.services.sim.emit(parts_.tracks.of(Pipe::kScalar), platform::Activity::kKernelCall,
                             begin, parts_.thread.local(), parts_.calls.block().cause, 0,
                             std::uint64_t{call.block} << 48 | (call.arguments & 0xFFFF'FFFF'FFFF));
  }
  return result;
}

void ProgramCore::task_set_up(SimTime begun) {
  const SimTime found = parts_.polls.take_found();
  if (found > begun || !parts_.services.sim.recorder.enabled()) return;
  parts_.services.sim.emit(parts_.tracks.setup(), platform::Activity::kTaskSetup, found, begun,
                           parts_.calls.block().cause, 0, call().block);
}

void ProgramCore::trap(std::uint16_t code) {
  parts_.polls.enter_effect();
  parts_.thread.raise_fault(FaultCode::kKernelTrap, code);
}

}  // namespace npu::model
