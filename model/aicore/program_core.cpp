// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/program_core.hpp"

#include <algorithm>

namespace npu::model {

using abi::FaultCode;
using platform::LocalBuffer;
using platform::Pipe;

namespace {

BufferSizes sizes_of(const ProgramCoreConfig& config, abi::CoreType type) {
  const bool cube = type != abi::CoreType::kAiv;
  const bool vector = type != abi::CoreType::kAic;
  BufferSizes sizes{};
  const auto set = [&](LocalBuffer buffer, Bytes size, bool there) {
    sizes[static_cast<std::size_t>(buffer)] = there ? size : 0;
  };
  set(LocalBuffer::kL1, config.l1, cube);
  set(LocalBuffer::kL0a, config.l0a, cube);
  set(LocalBuffer::kL0b, config.l0b, cube);
  set(LocalBuffer::kL0c, config.l0c, cube);
  set(LocalBuffer::kUb, config.ub, vector);
  return sizes;
}

FixpipeWays ways_of(const ProgramCoreConfig& config, abi::CoreType type) {
  FixpipeWays ways;
  if (type == abi::CoreType::kAiv) return ways;
  if (config.l0c_to_l1.per_clock != 0) ways.l1 = config.l1;
  if (config.l0c_to_ub.per_clock != 0) ways.ub = config.ub;
  if (type == abi::CoreType::kAic) ways.vector_cores = 2;
  return ways;
}

}  // namespace

ProgramCore::Units::Units(ProgramCore& core)
    : local(core.sizes_, core.services_.config.functional),
      effects(core.services_, core.core_type() == abi::CoreType::kAic, core.calls_, core.thread_,
              core.requests_, core.cross_flags_, core.tracks_, local, core),
      pipes(core.sim_, core.services_.config, core.services_.clock, core.statistics_, effects),
      issue(core.services_, core.sizes_, core.ways_, core.calls_, core.thread_, core.polls_, pipes,
            core.cross_flags_, core.statistics_),
      reads(core.services_, core.calls_, core.thread_, core.requests_, core.statistics_),
      write_backs(core.services_, core.calls_, core.thread_, core.requests_),
      memory(core.services_, core.thread_, core.polls_, reads, write_backs, local,
             core.buffer_size(LocalBuffer::kUb), core.statistics_),
      fetch(core.services_, core.calls_, core.thread_, reads, core.statistics_) {}

ProgramCore::ProgramCore(ProgramServices& services, const std::string& track, unsigned number,
                         Owner& owner)
    : services_(services),
      sim_(services.sim),
      number_(number),
      sizes_(sizes_of(services.config, services.layout.type(number))),
      ways_(ways_of(services.config, services.layout.type(number))),
      owner_(owner),
      window_(statistics_, services.clock),
      tracks_(services.sim.recorder, track),
      thread_(services.sim, tracks_, number, calls_, statistics_, owner),
      requests_(owner, number, calls_, statistics_),
      polls_(services, window_, calls_, thread_, statistics_),
      registers_(services, number, window_, calls_, thread_, polls_, owner),
      cross_flags_(services, number, calls_, thread_, owner) {}

unsigned ProgramCore::physical_core() const {
  const auto& own = services_.cores_of[function_of(space())];
  return static_cast<unsigned>(std::lower_bound(own.begin(), own.end(), number_) - own.begin());
}

Bytes ProgramCore::buffer_size(LocalBuffer buffer) const {
  const auto index = static_cast<std::size_t>(buffer);
  return index < sizes_.size() ? sizes_[index] : 0;
}

// --- from outside --------------------------------------------------------------------------

void ProgramCore::start(const KernelBlock& block) {
  sc_assert(!busy_);
  busy_ = pending_ = true;
  thread_.set_cut(in_block_);  // a thread that a reset has not let go yet ends first
  calls_.launch(block);
  thread_.set_fault({});
  began_ = sim_now();
  window_.launched();
  owner_.status_changed(number_);
  thread_.wake_up();
}

void ProgramCore::stop() {
  if (!busy_) return;
  if (pending_) {  // the thread has not begun, and may still be leaving the block before
    stopped_early_ = true;
    return;
  }
  if (!thread_.is_cut()) thread_.end();
}

void ProgramCore::reset() {
  window_.reset();
  calls_.abandon();
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
  thread_.end();
}

void ProgramCore::answered(std::uint32_t slot, const Answer& answer) {
  requests_.answered();
  statistics_.events.answered(answer.write, answer.length, answer.l2_hits, answer.l2_misses);
  const auto [pipe, place] = RequestPort::unpack(slot);
  const bool scalar = pipe == Pipe::kScalar;
  if (answer.completion != Completion::kSuccess && !thread_.is_cut()) {
    thread_.fail(
        {device_fault(answer.completion), answer.address, space(), answer.write, answer.length},
        pipe, scalar ? calls_.issued() : units_->pipes.instruction_of(pipe, place));
  }
  if (thread_.is_cut()) {
    if (requests_.idle()) thread_.wake_up();
    return;
  }
  if (!scalar) return units_->pipes.answered(pipe, place, answer.length, answer.times);
  if (place == MemoryReads::kPlace) {
    units_->reads.answered();
  } else {
    units_->write_backs.answered(place);
  }
  thread_.answered();
}

void ProgramCore::translated(std::uint32_t slot) {
  const auto [pipe, place] = RequestPort::unpack(slot);
  if (thread_.is_cut() || pipe == Pipe::kScalar) return;
  units_->pipes.translated(pipe, place);
}

void ProgramCore::window_written(std::uint32_t offset, std::uint32_t value) {
  if (window_.write(offset, value)) polls_.register_written();
}

void ProgramCore::cross_flags_changed() {
  if (!units_ || !in_block_) return;
  cross_flags_.others_raised();
  if (units_->pipes.waits_for_cross_flag()) units_->pipes.cross_flags_changed();
}

LocalMemory* ProgramCore::vector_memory(unsigned which) {
  ProgramCore& vector = owner_.vector_core(number_, which);
  const unsigned role = services_.layout.role(vector.number_);
  if (!vector.busy_ || !calls_.shares_block_with(vector.calls_, role)) return nullptr;
  return &vector.units().local;
}

// --- the thread ----------------------------------------------------------------------------

void ProgramCore::run() {
  for (;;) {
    while (!pending_) sim_.agenda.wait(thread_.wake());
    pending_ = false;
    in_block_ = true;
    run_block();
    in_block_ = abandoned_ = false;
    thread_.set_cut(false);
  }
}

ProgramCore::Units& ProgramCore::units() {
  if (!units_) units_ = std::make_unique<Units>(*this);
  return *units_;
}

void ProgramCore::run_block() {
  units();
  thread_.begin_block(stopped_early_);
  stopped_early_ = false;
  units_->memory.clear();
  polls_.reset();
  const KernelBlock& block = calls_.block();
  run_.identify({"AI Core", number_, block.block, block.blocks, {}});
  const auto outcome = run_.run([this] {
    const int result = run_launched();
    if (result != 0) {
      thread_.raise_fault(FaultCode::kKernelResult, static_cast<std::uint32_t>(result));
    }
  });
  if (outcome == ProgramRun::Outcome::kThrew) {
    if (!thread_.is_cut()) {
      thread_.set_fault({FaultCode::kKernelTrap, block.image, block.vmid, false});
    }
    thread_.set_cut(true);
  }
  if (!abandoned_) end_block();
}

int ProgramCore::run_launched() {
  thread_.check();
  const CoreConfig& launch = services_.launch;
  thread_.pass(ticks(launch.dispatch) + ticks(launch.init));
  const SimTime initialised = thread_.local() + ticks(launch.software_init);
  thread_.waited(platform::ScalarWait::kStart, began_);
  thread_.catch_up();
  // Part of the software's initialisation, and longer than the rest of it if the image is large.
  const auto program = units_->fetch.fetch(calls_.block().image);
  identify(program);
  const SimTime fetched = thread_.local();
  thread_.reach(initialised);
  thread_.waited(platform::ScalarWait::kStart, fetched);
  const int result = call_program(program);
  thread_.enter();
  units_->issue.drain();
  const SimTime drained = thread_.local();
  units_->write_backs.await_most(0);
  thread_.catch_up();
  thread_.waited(platform::ScalarWait::kMemory, drained);
  thread_.told().tell();
  return result;
}

int ProgramCore::call_program(const ProgramFetch::Program& program) {
  const int result = run_.call_program(program.executed, [&] { return program.entry(port_); });
  executed(run_.take_executed());
  return result;
}

// None is in flight, or those that are will not be heard of.
void ProgramCore::forget_accesses() {
  requests_.forget();
  if (!units_) return;
  units_->reads.forget();
  units_->write_backs.forget();
}

// Accesses in flight end first.
void ProgramCore::end_block() {
  if (thread_.is_cut()) thread_.told().cut();
  thread_.told().tell();
  units_->pipes.cut();
  const SimTime answer = polls_.answered_at();
  while (!requests_.idle() && !abandoned_) sim_.agenda.wait(thread_.wake());
  while (sim_now() < answer && !abandoned_) sim_.agenda.wait(thread_.wake(), answer);
  if (abandoned_) return;
  forget_accesses();
  const SimTime end = std::max(thread_.is_cut() ? sim_now() : thread_.local(), sim_now());
  thread_.set_local(end + ticks(services_.launch.report));
  thread_.waited(platform::ScalarWait::kEnd, end);
  thread_.told().tell();
  sim_.agenda.at<&ProgramCore::report>(end + ticks(services_.launch.report), *this,
                                       calls_.generation());
}

void ProgramCore::report(std::uint64_t generation) {
  if (generation != calls_.generation()) return;
  const CommandFault& fault = thread_.fault();
  const KernelBlock block = calls_.block();
  ++statistics_.blocks;
  if (fault.failed()) ++statistics_.faults;
  statistics_.running += sim_now() - began_;
  if (sim_.recorder.enabled()) {
    sim_.emit(tracks_.of(Pipe::kScalar), platform::Activity::kKernelBlock, began_, sim_now(),
              block.cause, 0, block.block);
  }
  busy_ = false;
  window_.ended(fault.code);
  owner_.status_changed(number_);
  owner_.block_ended(number_, block, fault);
}

// --- calls of the program ------------------------------------------------------------------

void ProgramCore::identify(const ProgramFetch::Program& program) {
  run_.identify({"AI Core", number_, call().block, call().blocks, program.name});
}

void ProgramCore::executed(std::uint64_t instructions) {
  if (instructions == 0 || thread_.is_cut()) return;
  statistics_.executed += instructions;
  constexpr unsigned kPercent = 100;
  thread_.spend(services_.clock.clocks(instructions * kPercent) /
                services_.config.scalar_ipc_percent);
}

void ProgramCore::scalar(unsigned cycles) {
  thread_.enter();
  thread_.spend(services_.clock.clocks(cycles));
}

int ProgramCore::invoke(const platform::KernelCall& call) {
  polls_.enter_effect();
  if (calls_.full()) thread_.raise_fault(FaultCode::kInstruction, call.image);
  // What the caller has issued belongs to its own call, flags between cores above all.
  if (!units_->pipes.drained()) issue().pipe_barrier(Pipe::kAll);
  thread_.catch_up();
  const SimTime begin = thread_.local();
  const auto program = units_->fetch.fetch(call.image);
  const auto caller_identity = run_.identity();
  const auto caller = calls_.enter(call);
  identify(program);
  set_up(thread_.local());
  const int result = call_program(program);
  issue().pipe_barrier(Pipe::kAll);
  thread_.told().tell();
  cross_flags_.leave_call();
  calls_.leave(caller);
  run_.identify(caller_identity);
  polls_.close();
  ++statistics_.kernels;
  if (sim_.recorder.enabled()) {
    sim_.emit(tracks_.of(Pipe::kScalar), platform::Activity::kKernelCall, begin, thread_.local(),
              calls_.block().cause, 0,
              std::uint64_t{call.block} << 48 | (call.arguments & 0xFFFF'FFFF'FFFF));
  }
  return result;
}

void ProgramCore::set_up(SimTime begun) {
  const SimTime found = polls_.take_found();
  if (found > begun || !sim_.recorder.enabled()) return;
  sim_.emit(tracks_.setup(), platform::Activity::kTaskSetup, found, begun, calls_.block().cause, 0,
            call().block);
}

void ProgramCore::trap(std::uint16_t code) {
  polls_.enter_effect();
  thread_.raise_fault(FaultCode::kKernelTrap, code);
}

}  // namespace npu::model
