// SPDX-License-Identifier: Apache-2.0
#include "model/aicpu/aicpu_programs.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace npu::model {
namespace {

constexpr int kProgramStack = 256 * 1024;
constexpr unsigned kMostAicpus = 64;  // bits of a set of watchers

}  // namespace

AicpuPrograms::AicpuPrograms(const sc_core::sc_module_name& name, Simulation& simulation,
                             const CoreConfig& launch_times,
                             const AicpuProgramConfig& program_times, unsigned core_count,
                             std::string_view track_prefix, DeviceMemoryPort& device_memory)
    : sc_module(name), AicpuShared(simulation, launch_times, program_times, device_memory) {
  sc_assert(core_count <= kMostAicpus);
  epochs_.resize(core_count);
  busy_.resize(core_count);
  memory_socket.register_nb_transport_bw(this, &AicpuPrograms::response);
  sc_core::sc_spawn_options options;
  options.set_stack_size(kProgramStack);
  for (unsigned i = 0; i < core_count; ++i) {
    const auto track = sim.recorder.track(std::string(track_prefix) + std::to_string(i));
    AicpuShared& shared = *this;
    cores_.push_back(std::make_unique<AicpuCore>(shared, i, track));
    auto* const core = cores_.back().get();
    sc_core::sc_spawn([core] { core->serve(); }, ("core" + std::to_string(i)).c_str(), &options);
  }
}

AicpuPrograms::~AicpuPrograms() = default;

void AicpuPrograms::connect_windows(CoreWindows& register_windows,
                                    std::vector<std::vector<unsigned>> of_functions) {
  windows = &register_windows;
  windows_of = std::move(of_functions);
  if (windows_of.empty()) {
    auto& all = windows_of.emplace_back(windows->windows());
    std::iota(all.begin(), all.end(), 0U);
  }
  watchers_.resize(windows->windows());
  windows->connect(*this);
}

void AicpuPrograms::start(unsigned core, const KernelBlock& block) {
  cores_[core]->start(block);
  busy_[core].begin(sim_now());
}

void AicpuPrograms::stop(std::uint64_t context) {
  for (auto& core : cores_) {
    if (core->busy() && core->context() == context) core->stop();
  }
}

void AicpuPrograms::function_reset(unsigned function) {
  for (std::size_t i = 0; i < cores_.size(); ++i) {
    if (function_of(cores_[i]->space()) != function) continue;
    ++epochs_[i];
    cores_[i]->reset();
    busy_[i].end(sim_now());
    for (auto& watchers : watchers_) watchers &= ~(std::uint64_t{1} << i);
  }
  loader.forget();
  held_.keep([function](const auto& holder) { return function_of(holder.vmid) != function; });
  writes_.forget(function);
}

AicpuStatistics AicpuPrograms::statistics() const {
  AicpuStatistics sum;
  for (const auto& core : cores_) {
    const auto& s = core->statistics();
    sum += s.work();
    for (std::size_t i = 0; i < kAicpuPhases; ++i) sum.phases[i] += s.phases[i];
    sum.rounds += s.rounds, sum.rounds_skipped += s.rounds_skipped;
  }
  return sum;
}

// --- memory ----------------------------------------------------------------------------------

void AicpuPrograms::request(unsigned core, Access access, SpaceId vmid, std::uint64_t address,
                            Bytes length, std::uint64_t cause) {
  const auto command =
      access == Access::kTranslateWrite ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND;
  auto& trans = sim.pool.allocate_timing(command, address, static_cast<unsigned>(length));
  auto& info = Transaction::of(trans);
  if (access != Access::kRead) info.kind = TransactionKind::kTranslation;
  info.vmid = vmid;
  info.core = static_cast<std::uint16_t>(core + 1);
  info.cause = cause;
  info.issued = sim_now();
  info.context = std::uint64_t{epochs_[core]} << 32 | core;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  auto delay = sc_core::SC_ZERO_TIME;
  memory_socket->nb_transport_fw(trans, phase, delay);
}

tlm::tlm_sync_enum AicpuPrograms::response(tlm::tlm_generic_payload& trans, tlm::tlm_phase&,
                                           sc_core::sc_time&) {
  const auto& info = Transaction::of(trans);
  const std::size_t core = info.context & 0xFFFF'FFFF;
  if (info.context >> 32 == epochs_[core]) {
    cores_[core]->answered(info.completion);
  }
  trans.release();
  return tlm::TLM_COMPLETED;
}

Completion AicpuPrograms::write(unsigned core, Writer writer, SpaceId vmid, std::uint64_t address,
                                const void* data, Bytes length) {
  writer_ = core;
  const auto completion = memory.write(writer, vmid, address, data, length);
  writer_ = kNobody;
  return completion;
}

// Caches hear of what AI Cores write in the order in which they write, all as late.
void AicpuPrograms::snoop_later(SpaceId vmid, std::uint64_t address, Bytes length) {
  SimTime due = sim_now() + ticks(config.snoop);
  if (sim.weakest) due = last_snoop_ = std::max(last_snoop_, due + sim.weakest->late(kLateSnoop));
  writes_.add(vmid, address, length, sim_now(), due);
  const bool held = std::any_of(cores_.begin(), cores_.end(), [&](const auto& core) {
    return core->holds(vmid, address, length);
  });
  if (!held) return;
  snoops_.push_back({address, length, vmid});
  sim.agenda.at<&AicpuPrograms::snoop_due>(due, *this);
}

SimTime AicpuPrograms::arrival(SpaceId vmid, std::uint64_t address, Bytes length) const {
  return writes_.arrival(vmid, address, length, sim_now());
}

void AicpuPrograms::snoop_due(std::uint64_t) {
  const Snoop due = snoops_.front();
  snoops_.pop_front();
  for (auto& core : cores_) core->drop_lines(due.vmid, due.address, due.length, false);
}

void AicpuPrograms::snoop(Writer writer, SpaceId vmid, std::uint64_t address, Bytes length) {
  if (writer == Writer::kDma && !config.snoops_dma) return;
  if (writer == Writer::kAiCore && (config.snoop != Picoseconds{} || sim.weakest)) {
    return snoop_later(vmid, address, length);
  }
  for (unsigned i = 0; i < cores_.size(); ++i) {
    if (i == writer_ || !cores_[i]->busy()) continue;  // a launch begins with an empty cache
    cores_[i]->drop_lines(vmid, address, length, writer == Writer::kAicpuAtomic && writer_ > i);
  }
}

void AicpuPrograms::caches(unsigned core, SpaceId vmid, std::uint64_t line) {
  if (!config.snoops_dma) return;
  const auto local = memory.local(vmid, line);
  if (!local) return;
  const std::size_t lines = config.l1 / HeldLines::kLine * cores_.size();
  if (held_.size() >= 2 * lines) {
    held_.keep([this](const HeldLines::Holder& holder) {
      return cores_[holder.core]->holds(holder.vmid, holder.address, HeldLines::kLine);
    });
  }
  held_.add(*local, {core, vmid, line});
}

void AicpuPrograms::snoop_local(std::uint64_t address, Bytes length) {
  held_.take(address, length, [this](const HeldLines::Holder& holder) {
    cores_[holder.core]->drop_lines(holder.vmid, holder.address, HeldLines::kLine, false);
  });
}

bool AicpuPrograms::goes_later(unsigned core, SimTime when) const {
  for (unsigned i = 0; i < core; ++i) {
    if (cores_[i]->next_access() == when) return true;
  }
  return false;
}

// --- registers -------------------------------------------------------------------------------

void AicpuPrograms::watch_register(unsigned core, unsigned ai_core) {
  if (ai_core < watchers_.size()) watchers_[ai_core] |= std::uint64_t{1} << core;
}

void AicpuPrograms::register_written(unsigned ai_core) {
  if (ai_core >= watchers_.size()) return;
  for (std::uint64_t waiting = std::exchange(watchers_[ai_core], 0); waiting != 0;
       waiting &= waiting - 1) {
    cores_[static_cast<unsigned>(__builtin_ctzll(waiting))]->look_changed();
  }
}

void AicpuPrograms::register_changed(unsigned ai_core, std::uint32_t) {
  register_written(ai_core);
}

void AicpuPrograms::done(unsigned core, const KernelBlock& block, const CommandFault& fault) {
  busy_[core].end(sim_now());
  listener_->block_done(core, block, fault);
}

}  // namespace npu::model
