// SPDX-License-Identifier: Apache-2.0
// A block's life: from the command processor to the program and back.
#include "model/aicpu/aicpu_core.hpp"

#include <algorithm>

#include "npu/abi/page_table.hpp"

namespace npu::model {

using abi::FaultCode;
using platform::Activity;
using platform::AicpuPhase;

namespace {
constexpr Bytes kFetchBorder = abi::entry_span(0);  // no access crosses one
constexpr SimTime kUninterrupted = 1'000'000;       // ps of computing; longer is ended by a stop
}  // namespace

AicpuCore::AicpuCore(Shared& shared, unsigned number, std::uint32_t track)
    : shared_(shared),
      sim_(shared.sim),
      number_(number),
      track_(track),
      instruction_scale_(std::max<std::uint64_t>(shared.launch.clock_hz / 1'000'000, 1) *
                         shared.config.ipc_percent),
      l1_hit_(ticks(shared.config.l1_hit)),
      l1_other_line_(ticks(shared.config.l1_other_line)),
      register_load_(ticks(shared.config.register_load)),
      cache_(shared.config.l1, shared.config.l1_ways),
      memory_stores_(shared.config.store_buffer, ticks(shared.config.store_done)),
      register_stores_(shared.config.register_stores, ticks(shared.config.register_store_done)) {}

void AicpuCore::serve() {
  for (;;) {
    while (!assigned_) sim_.agenda.wait(start_);
    run_block();
  }
}

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
  stop_ = true;
  if (sleeping_) look_changed();
  if (computing_) sim_.agenda.notify(wake_);
}

void AicpuCore::reset() {
  ++generation_;
  busy_ = assigned_ = false;
  stop_ = discard_ = true;
  if (sleeping_) look_changed();
  if (computing_) sim_.agenda.notify(wake_);
  fetching_ = false;
  if (waiting_) answered(Completion::kCompleterAbort);
  cache_.clear();
  register_visible_.clear();
  for (; !store_buffer_.empty(); store_buffer_.pop()) {
    shared_.memory.release(store_buffer_.oldest().hold);
  }
  ++resets_;
}

void AicpuCore::run_block() {
  assigned_ = false;
  stop_ = assigned_stopped_;
  discard_ = false;
  block_ = next_block_;
  // A launch begins with an empty data cache (platform/aicpu_port.hpp).
  cache_.clear();
  last_line_ = kNoLine;
  rounds_.forget();
  memory_stores_.reset();
  register_stores_.reset();
  phase_ = AicpuPhase::kIdle;
  at_phase_ = statistics_.work();
  const auto& launch = shared_.launch;
  local_ = started_ + ticks(launch.dispatch) + ticks(launch.init) + ticks(launch.software_init);
  local_ = std::max(local_, sim_now());
  run_program();
  if (discard_) return;
  end_phase();
  report();
}

void AicpuCore::run_program() {
  fault_ = {};
  run_.identify({"AICPU", number_, block_.block, block_.blocks, {}});
  const auto outcome = run_.run([this] {
    synchronise();
    const auto program = load_program();
    const auto entry = reinterpret_cast<platform::AicpuEntry>(program.entry);
    const int result = run_.call_program(program.executed, [&] { return entry(port_); });
    executed(run_.take_executed());
    sit_out();
    if (result != 0) {
      fault(FaultCode::kKernelResult, static_cast<std::uint32_t>(result), false);
    }
  });
  if (outcome == ProgramRun::Outcome::kThrew) {
    fault_ = {FaultCode::kKernelTrap, block_.image, block_.vmid, false};
  }
}

LoadedProgram AicpuCore::load_program() {
  abi::ImageHeader header;
  if (block_.image % abi::kImageAlignment != 0) {
    fault(FaultCode::kInvalidImage, block_.image, false);
  }
  read(block_.image, &header, sizeof header);
  if (!shared_.loader.accepts(header)) fault(FaultCode::kInvalidImage, block_.image, false);
  auto program = shared_.loader.find(header);
  if (program.entry == nullptr) {
    const std::uint64_t object = block_.image + sizeof header;
    for (Bytes at = 0; at < header.size;) {
      const Bytes in_page = kFetchBorder - (object + at) % kFetchBorder;
      const Bytes length = std::min({shared_.config.fetch, header.size - at, in_page});
      timed_read(object + at, length);
      at += length;
    }
    std::vector<unsigned char> bytes(header.size);
    const auto completion = shared_.memory.read(block_.vmid, object, bytes.data(), bytes.size());
    if (completion != Completion::kSuccess) fault(device_fault(completion), object, false);
    program = shared_.loader.load(header, bytes.data());
  }
  if (program.entry == nullptr) fault(FaultCode::kInvalidImage, block_.image, false);
  rounds_.forget();
  return program;
}

// What the program has posted is done before the command processor hears of its end.
void AicpuCore::report() {
  local_ = std::max({local_, sim_now(), memory_stores_.all_done(), register_stores_.all_done()});
  for (const SimTime visible : register_visible_) local_ = std::max(local_, visible);
  sim_.agenda.at<&AicpuCore::reported>(local_ + ticks(shared_.launch.report), *this, generation_);
}

void AicpuCore::reported(std::uint64_t generation) {
  if (generation != generation_) return;
  sim_.emit(track_, Activity::kKernelBlock, started_, sim_now(), block_.cause, 0, block_.block);
  busy_ = false;
  shared_.done(number_, block_, fault_);
}

// Of what the program computes all but the end, if it is much.
void AicpuCore::sit_out() {
  check();
  if (local_ <= sim_now() + kUninterrupted) return;
  computing_ = true;
  sim_.agenda.wait(wake_, local_ - kUninterrupted);
  computing_ = false;
  if (stop_) local_ = sim_now();  // the rest is not done
  check();
}

// Simulated time comes up to the program's own.
void AicpuCore::synchronise() {
  sit_out();
  if (local_ < sim_now()) {
    local_ = sim_now();
    return;
  }
  next_access_ = local_;
  sim_.agenda.wait_until(local_);
  // Ahead of the kernel there is nobody else at this time.
  if (detail::ahead_to == 0 && sc_core::sc_pending_activity_at_current_time()) {
    do sim_.agenda.wait_a_delta();
    while (shared_.goes_later(number_, local_));
  }
  next_access_ = UINT64_MAX;
  check();
}

void AicpuCore::executed(std::uint64_t instructions) {
  if (instructions == 0) return;
  statistics_.instructions += instructions;
  compute(instructions);
}

void AicpuCore::compute(std::uint64_t instructions) {
  local_ += instructions * 100'000'000 / instruction_scale_;
}

std::uint64_t AicpuCore::system_counter() {
  check();
  rounds_.acted();
  compute(1);
  const std::uint64_t mhz = shared_.config.counter_hz / 1'000'000;
  return local_ / 1'000'000 * mhz + local_ % 1'000'000 * mhz / 1'000'000;
}

void AicpuCore::phase(AicpuPhase phase, std::uint32_t task) {
  if (phase == phase_ && task == phase_task_) return;
  end_phase();
  phase_ = phase;
  phase_task_ = task;
  phase_since_ = local_;
}

void AicpuCore::end_phase() {
  static constexpr std::array<Activity, kAicpuPhases> kActivities{
      Activity::kAicpuIdle,     Activity::kAicpuHandshake, Activity::kAicpuWiring,
      Activity::kAicpuDispatch, Activity::kAicpuComplete,  Activity::kAicpuDrain,
      Activity::kAicpuDump,     Activity::kPagerTakeFault, Activity::kPagerMapPage,
      Activity::kPagerEvictPage};
  statistics_.phases[static_cast<std::size_t>(phase_)] += statistics_.work().since(at_phase_);
  at_phase_ = statistics_.work();
  if (phase_ == AicpuPhase::kIdle || local_ <= phase_since_) return;
  sim_.emit(track_, kActivities[static_cast<std::size_t>(phase_)], phase_since_, local_,
            block_.cause, 0, phase_task_);
}

}  // namespace npu::model
