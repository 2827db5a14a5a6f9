// SPDX-License-Identifier: Apache-2.0
#include "model/aicpu/aicpu_core.hpp"

#include <algorithm>

#include "npu/abi/page_table.hpp"

namespace npu::model {

using abi::FaultCode;

namespace {
constexpr Bytes kFetchBorder = abi::entry_span(0);  // no access crosses one
}  // namespace

AicpuCore::AicpuCore(AicpuShared& shared, unsigned number, std::uint32_t track)
    : shared_(shared),
      sim_(shared.sim),
      number_(number),
      track_(track),
      thread_(shared, number),
      memory_(shared, number, thread_, rounds_, *this, thread_.statistics()),
      registers_(shared, thread_, rounds_, thread_.statistics()),
      polls_(shared, number, thread_, rounds_, memory_, registers_),
      phases_(thread_, shared.sim, track, thread_.statistics()) {
  run_.runs_on(*this);
}

// --- from outside ----------------------------------------------------------------------------

void AicpuCore::start(const KernelBlock& block) {
  sc_assert(!busy_);
  busy_ = assigned_ = true;
  assigned_stopped_ = false;
  ++generation_;
  next_block_ = block;
  started_ = sim_now();
  sim_.agenda.notify(start_);
}

void AicpuCore::stop() {
  if (!busy_) return;
  if (assigned_) {
    assigned_stopped_ = true;
    return;
  }
  end_program();
}

void AicpuCore::reset() {
  ++generation_;
  busy_ = assigned_ = false;
  discard_ = true;
  end_program();
  thread_.set_hung(false);
  memory_.reset();
  registers_.reset();
}

// Who sleeps stands from now on.
void AicpuCore::set_hung(bool hung) {
  thread_.set_hung(hung);
  polls_.look_changed();
}

void AicpuCore::end_program() {
  thread_.stop();
  polls_.look_changed();
  thread_.interrupt();
}

void AicpuCore::store_refused(const CommandFault& fault) {
  thread_.note_fault(fault);
  stop();
}

void AicpuCore::drop_lines(SpaceId vmid, std::uint64_t address, Bytes length, bool later) {
  if (memory_.drop(vmid, address, length)) polls_.lines_dropped(address, length, later);
}

std::string AicpuCore::debug_state() const {
  if (thread_.hung()) return "hangs";
  const SimTime when = thread_.next_access();
  if (when == UINT64_MAX) return "waits for memory or a register";
  return "goes on at " + std::to_string(when) + " ps";
}

// --- the process -----------------------------------------------------------------------------

void AicpuCore::serve() {
  for (;;) {
    while (!assigned_) sim_.agenda.wait(start_);
    run_block();
  }
}

void AicpuCore::run_block() {
  assigned_ = false;
  discard_ = false;
  const auto& launch = shared_.launch;
  thread_.begin(
      next_block_, assigned_stopped_,
      started_ + ticks(launch.dispatch) + ticks(launch.init) + ticks(launch.software_init));
  memory_.begin();
  registers_.begin();
  rounds_.forget();
  phases_.begin();
  run_program();
  if (discard_) return;
  phases_.end();
  report();
}

void AicpuCore::run_program() {
  const KernelBlock& block = thread_.block();
  run_.identify({"AICPU", number_, block.block, block.blocks, {}});
  const auto outcome = run_.run([this] {
    thread_.synchronise();
    const auto program = load_program();
    const auto entry = reinterpret_cast<platform::AicpuEntry>(program.entry);
    const int result = run_.call_program(program.executed, [&] { return entry(port_); });
    executed(run_.take_executed());
    thread_.sit_out();
    if (result != 0) {
      thread_.fault(FaultCode::kKernelResult, static_cast<std::uint32_t>(result), false);
    }
  });
  if (outcome == ProgramRun::Outcome::kThrew) {
    thread_.set_fault({FaultCode::kKernelTrap, block.image, block.vmid, false});
  }
}

LoadedProgram AicpuCore::load_program() {
  const KernelBlock& block = thread_.block();
  const auto invalid = [&] { thread_.fault(FaultCode::kInvalidImage, block.image, false); };
  abi::ImageHeader header;
  if (block.image % abi::kImageAlignment != 0) invalid();
  memory_.read(block.image, &header, sizeof header);
  if (!shared_.loader.accepts(header)) invalid();
  auto program = shared_.loader.find(header);
  if (program.entry == nullptr) {
    const std::uint64_t object = block.image + sizeof header;
    fetch_object(object, header.size);
    std::vector<unsigned char> bytes(header.size);
    const auto completion = shared_.memory.read(block.vmid, object, bytes.data(), bytes.size());
    if (completion != Completion::kSuccess) thread_.fault(device_fault(completion), object, false);
    program = shared_.loader.load(header, bytes.data());
  }
  if (program.entry == nullptr) invalid();
  rounds_.forget();
  return program;
}

void AicpuCore::fetch_object(std::uint64_t object, Bytes size) {
  for (Bytes at = 0; at < size;) {
    const Bytes in_page = kFetchBorder - (object + at) % kFetchBorder;
    const Bytes length = std::min({shared_.config.fetch, size - at, in_page});
    memory_.read_past(object + at, length);
    at += length;
  }
}

// What the program has posted is done before the command processor hears of its end.
void AicpuCore::report() {
  thread_.reach(std::max({sim_now(), memory_.stores_done(), registers_.stores_done()}));
  sim_.agenda.at<&AicpuCore::reported>(thread_.local() + ticks(shared_.launch.report), *this,
                                       generation_);
}

void AicpuCore::reported(std::uint64_t generation) {
  if (generation != generation_) return;
  const KernelBlock& block = thread_.block();
  sim_.emit(track_, platform::Activity::kKernelBlock, started_, sim_now(), block.cause, 0,
            block.block);
  busy_ = false;
  shared_.done(number_, block, thread_.fault());
}

// --- calls of the program --------------------------------------------------------------------

void AicpuCore::executed(std::uint64_t instructions) {
  if (instructions == 0) return;
  thread_.statistics().instructions += instructions;
  compute(instructions);
}

std::uint64_t AicpuCore::system_counter() {
  thread_.check();
  rounds_.acted();
  compute(1);
  const std::uint64_t mhz = shared_.config.counter_hz / 1'000'000;
  const SimTime now = thread_.local();
  return now / 1'000'000 * mhz + now % 1'000'000 * mhz / 1'000'000;
}

}  // namespace npu::model
