// SPDX-License-Identifier: Apache-2.0
// The life of a block.
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

ProgramCore::Units::Units(ProgramCore& core, ProgramServices& services)
    : pipes(services.sim, services.config, services.clock, core.statistics_, core),
      memory(core.sizes_, services.config.functional),
      cache(services.config.cache_lines, services.config.cache_ways) {}

ProgramCore::ProgramCore(ProgramServices& services, const std::string& track, unsigned number,
                         Owner& owner)
    : services_(services),
      sim_(services.sim),
      config_(services.config),
      clock_(services.clock),
      track_(track),
      number_(number),
      sizes_(sizes_of(services.config, services.layout.type(number))),
      ways_(ways_of(services.config, services.layout.type(number))),
      owner_(owner),
      window_(statistics_, services.clock) {}

unsigned ProgramCore::physical_core() const {
  const auto& own = services_.cores_of[function_of(block_.vmid)];
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
  cut_ = in_block_;  // a thread that a reset has not let go yet ends first
  ++generation_;
  block_ = block;
  call_ = {block.image, block.arguments, block.block, block.blocks, 0};
  depth_ = 0;
  issued_ = 0;
  fault_ = {};
  began_ = sim_now();
  window_.launched();
  owner_.status_changed(number_);
  sim_.agenda.notify(wake_);
}

void ProgramCore::stop() {
  if (!busy_) return;
  if (pending_) {  // the thread has not begun, and may still be leaving the block before
    stopped_early_ = true;
    return;
  }
  if (cut_) return;
  cut_ = true;
  sim_.agenda.notify(wake_);
}

void ProgramCore::reset() {
  window_.reset();
  ++generation_;
  busy_ = pending_ = false;
  stopped_early_ = false;
  forget_accesses();
  images_.clear();
  if (units_) {
    units_->pipes.cut();
    units_->memory.clear();  // whoever comes next is somebody else
  }
  if (!in_block_) return;
  cut_ = abandoned_ = true;
  sim_.agenda.notify(wake_);
}

void ProgramCore::keep_fault(CommandFault fault, platform::Pipe pipe, std::uint32_t number) {
  fault.instruction = abi::InstructionPlace{static_cast<std::uint8_t>(pipe), number}.pack();
  fault_ = fault;
}

void ProgramCore::fail(const CommandFault& fault, platform::Pipe pipe, std::uint32_t number) {
  if (cut_) return;
  keep_fault(fault, pipe, number);
  cut_ = true;
  sim_.agenda.notify(wake_);
}

// --- the thread ----------------------------------------------------------------------------

void ProgramCore::run() {
  for (;;) {
    while (!pending_) sim_.agenda.wait(wake_);
    pending_ = false;
    in_block_ = true;
    run_block();
    in_block_ = cut_ = abandoned_ = false;
  }
}

ProgramCore::Units& ProgramCore::units() {
  if (!units_) units_ = std::make_unique<Units>(*this, services_);
  return *units_;
}

void ProgramCore::run_block() {
  units();
  cut_ = stopped_early_;
  stopped_early_ = false;
  local_ = sim_now();
  units_->cache.clear();
  polls_.close();
  replayed_.clear();
  found_at_ = UINT64_MAX;
  run_.identify({"AI Core", number_, block_.block, block_.blocks, {}});
  const auto outcome = run_.run([this] {
    const int result = run_launched();
    if (result != 0) raise_fault(FaultCode::kKernelResult, static_cast<std::uint32_t>(result));
  });
  if (outcome == ProgramRun::Outcome::kThrew) {
    if (!cut_) fault_ = {FaultCode::kKernelTrap, block_.image, block_.vmid, false};
    cut_ = true;
  }
  if (!abandoned_) end_block();
}

int ProgramCore::run_launched() {
  if (cut_) throw Cut{};
  local_ += ticks(services_.launch.dispatch) + ticks(services_.launch.init);
  const SimTime initialised = local_ + ticks(services_.launch.software_init);
  catch_up();
  // Part of the software's initialisation, and longer than the rest of it if the image is large.
  const auto program = fetch(block_.image);
  identify(program);
  local_ = std::max(local_, initialised);
  const int result = run_.call_program(program.executed, [&] { return program.entry(port_); });
  executed(run_.take_executed());
  enter();
  wait_for({Waits::kDrained});
  local_ = std::max(local_, units_->pipes.drained_at());
  wait_for({Waits::kWriteBacks});
  catch_up();
  return result;
}

// None is under way, or those that are will not be heard of.
void ProgramCore::forget_accesses() {
  under_way_ = answers_ = writing_back_ = 0;
  for (auto& line : write_backs_) line.busy = false;
}

// Accesses under way end first.
void ProgramCore::end_block() {
  units_->pipes.cut();
  while (under_way_ > 0 && !abandoned_) sim_.agenda.wait(wake_);
  if (abandoned_) return;
  forget_accesses();
  const SimTime end = std::max(cut_ ? sim_now() : local_, sim_now());
  sim_.agenda.at<&ProgramCore::report>(end + ticks(services_.launch.report), *this, generation_);
}

void ProgramCore::report(std::uint64_t generation) {
  if (generation != generation_) return;
  ++statistics_.blocks;
  if (fault_.failed()) ++statistics_.faults;
  statistics_.running += sim_now() - began_;
  if (sim_.recorder.enabled()) {
    sim_.emit(track_of(Pipe::kScalar), platform::Activity::kKernelBlock, began_, sim_now(),
              block_.cause, 0, block_.block);
  }
  busy_ = false;
  window_.ended(fault_.code);
  owner_.status_changed(number_);
  const KernelBlock block = block_;
  owner_.block_ended(number_, block, fault_);
}

// --- time ----------------------------------------------------------------------------------

void ProgramCore::identify(const Program& program) {
  run_.identify({"AI Core", number_, call_.block, call_.blocks, program.name});
}

void ProgramCore::raise_fault(FaultCode code, std::uint64_t address, bool write, Bytes size,
                              platform::Pipe pipe) {
  if (!cut_) keep_fault({code, address, block_.vmid, write, size}, pipe, issued_);
  cut_ = true;
  throw Cut{};
}

void ProgramCore::enter() {
  if (cut_) throw Cut{};
  if (local_ > sim_now() + kRunAhead) catch_up();
}

void ProgramCore::enter_effect() {
  enter();
  spoil();
}

// Of cores at one time those of lower numbers go first, whatever woke them, so that what happens
// depends on times alone. Ahead of the kernel there is nobody else at that time.
void ProgramCore::sync_to(SimTime when) {
  goes_on_ = std::max(when, sim_now());
  while (sim_now() < when && !cut_) sim_.agenda.wait(wake_, when);
  if (!cut_) sim_.agenda.wait_until(sim_now());  // handlers due at this time go first
  while (!cut_ && detail::ahead_to == 0 && owner_.goes_later(number_, goes_on_)) {
    sim_.agenda.wait_a_delta();
    sim_.agenda.wait_until(sim_now());
  }
  goes_on_ = UINT64_MAX;
  if (cut_) throw Cut{};
}

void ProgramCore::catch_up() {
  sync_to(local_);
  local_ = std::max(local_, sim_now());
}

void ProgramCore::wake_thread() {
  if (waits_.what != Waits::kNothing) sim_.agenda.notify(wake_);
}

bool ProgramCore::satisfied(const WaitsFor& condition) const {
  const PipeUnit& pipes = units_->pipes;
  switch (condition.what) {
    case Waits::kRoom:
      return !pipes.full(condition.pipe);
    case Waits::kFlag:
      return pipes.raised(condition.pipe, Pipe::kScalar, condition.id);
    case Waits::kDrained:
      return pipes.drained();
    case Waits::kAnswers:
      return answers_ <= condition.id;
    case Waits::kWriteBacks:
      return writing_back_ <= condition.id;
    default:
      return false;
  }
}

bool ProgramCore::hopeless(const WaitsFor& condition) const {
  const bool pipes = condition.what == Waits::kRoom || condition.what == Waits::kFlag ||
                     condition.what == Waits::kDrained;
  return pipes && units_->pipes.stuck() && !units_->pipes.waits_for_cross_flag();
}

void ProgramCore::wait_for(const WaitsFor& condition) {
  while (!satisfied(condition)) {
    if (hopeless(condition)) {
      if (condition.what == Waits::kFlag) {
        raise_fault(FaultCode::kFlagDeadlock,
                    at_fault(abi::FaultyField::kFlag, condition.pipe, condition.id));
      }
      raise_fault(FaultCode::kFlagDeadlock, at_fault(abi::FaultyField::kFlag, condition.pipe));
    }
    waits_ = condition;
    sim_.agenda.wait(wake_);
    waits_ = {};
    if (cut_) throw Cut{};
  }
}

void ProgramCore::pipes_advanced() {
  if (waits_.what == Waits::kNothing) return;
  if (satisfied(waits_) || hopeless(waits_)) wake_thread();
}

}  // namespace npu::model
