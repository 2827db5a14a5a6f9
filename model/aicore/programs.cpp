// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/programs.hpp"

#include <algorithm>

#include "model/core/space_id.hpp"

namespace npu::model {

namespace {

constexpr int kThreadStack = 256 * 1024;

}  // namespace

AiCorePrograms::AiCorePrograms(const sc_core::sc_module_name& name, Simulation& sim,
                               const ChipConfig& config, DeviceMemoryPort& memory,
                               MemoryWatch& watch, std::string_view track_prefix)
    : sc_module(name),
      sim_(sim),
      services_{sim,
                config.core,
                config.aicore,
                CoreLayout(config),
                memory,
                watch,
                CoreClock(config.aicore.clock_hz),
                {abi::ImageKind::kAiCore, platform::kAicoreEntryName, sim.counted_programs,
                 sim.program_files},
                {},
                {},
                false,
                {}},
      space_busy_(config.functions() * abi::kVmids, services_.layout.cores()) {
  if (looks_for_hazards()) sim_.program_files.enable();
  for (unsigned i = 0; i < config.functions(); ++i) {
    services_.cores_of.push_back(services_.layout.cores_of(config.partition(i)));
  }
  memory_socket.register_nb_transport_bw(this, &AiCorePrograms::response);
  epochs_.resize(services_.layout.cores());
  busy_.resize(services_.layout.cores());
  ProgramCore::Owner& self = *this;
  for (unsigned i = 0; i < services_.layout.cores(); ++i) {
    const auto track = std::string(track_prefix) + std::to_string(i);
    cores_.push_back(std::make_unique<ProgramCore>(services_, track, i, self));
  }
  has_thread_.resize(cores_.size());
}

// The first block wakes the thread as every later one does. Cores that have none would each keep a
// stack and two mappings of the process, of which Linux allows 65530.
void AiCorePrograms::make_thread(unsigned number) {
  auto& core = *cores_[number];
  sc_core::sc_spawn_options options;
  options.set_stack_size(kThreadStack);
  options.dont_initialize();
  options.set_sensitivity(&core.wake());
  sc_core::sc_spawn([&core] { core.run(); }, nullptr, &options);
  has_thread_[number] = true;
}

bool AiCorePrograms::runs(std::uint64_t context) const {
  return std::any_of(cores_.begin(), cores_.end(),
                     [&](const auto& each) { return each->busy() && each->context() == context; });
}

// A launch that was given up before its last block is known by the next one of its context.
void AiCorePrograms::start(unsigned core, const KernelBlock& block) {
  auto& launch = launches_[block.context];
  const bool other = block.block == 0 || block.cause != launch.cause;
  if (other && !runs(block.context)) {
    services_.cross_flags.forget(block.context);
    launch = {block.cause, 0, block.vmid, 0};
  }
  if (!has_thread_[core]) make_thread(core);
  cores_[core]->start(block);
  busy_[core].begin(sim_now());
  space_busy_.begin(core, block.vmid, sim_now());
}

void AiCorePrograms::stop(std::uint64_t context) {
  for (auto& core : cores_) {
    if (core->busy() && core->context() == context) core->stop();
  }
}

void AiCorePrograms::function_reset(unsigned function) {
  for (std::size_t i = 0; i < cores_.size(); ++i) {
    if (function_of(cores_[i]->space()) != function) continue;
    epochs_[i] = (epochs_[i] + 1) & 0xFFFF;
    cores_[i]->reset();
    busy_[i].end(sim_now());
    space_busy_.end(static_cast<unsigned>(i), sim_now());
  }
  services_.loader.forget();
  for (auto launch = launches_.begin(); launch != launches_.end();) {
    const bool gone = function_of(launch->second.space) == function;
    if (gone) forget(launch->first);
    launch = gone ? launches_.erase(launch) : std::next(launch);
  }
}

void AiCorePrograms::forget(std::uint64_t context) {
  services_.cross_flags.forget(context);
  services_.hazards.forget(context);
}

// --- register windows ----------------------------------------------------------------------

std::uint32_t AiCorePrograms::read(unsigned core, std::uint32_t offset) const {
  return core < cores_.size() ? cores_[core]->window().read(offset) : 0xFFFF'FFFF;
}

void AiCorePrograms::write(unsigned core, std::uint32_t offset, std::uint32_t value) {
  if (core < cores_.size()) cores_[core]->window_written(offset, value);
}

void AiCorePrograms::cond_changed(unsigned core) {
  if (window_listener_ != nullptr) {
    window_listener_->register_changed(core, abi::Cond::kOffset);
  }
}

void AiCorePrograms::status_changed(unsigned core) {
  if (window_listener_ != nullptr) {
    window_listener_->register_changed(core, abi::CoreStatus::kOffset);
  }
}

bool AiCorePrograms::goes_later(unsigned core, SimTime when) const {
  for (unsigned i = 0; i < core; ++i) {
    if (cores_[i]->resumes_at() == when) return true;
  }
  return false;
}

// --- cores ---------------------------------------------------------------------------------

void AiCorePrograms::send(unsigned core, const MemoryRequest& request, const KernelBlock& block) {
  const auto command = request.write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND;
  auto& trans = sim_.pool.allocate(command, request.address, nullptr, 0);
  const auto length = static_cast<unsigned>(request.rows * request.row_bytes);
  trans.set_data_ptr(nullptr);
  trans.set_data_length(length);
  trans.set_streaming_width(length);
  auto& info = Transaction::of(trans);
  info.vmid = block.vmid;
  info.core = static_cast<std::uint16_t>(core + 1);
  info.cause = block.cause;
  info.rows = request.rows;
  info.pitch = static_cast<std::uint32_t>(request.rows > 1 ? request.pitch : 0);
  info.issued = sim_now();
  info.asks_translated = !is_physical(block.vmid);
  info.context =
      std::uint64_t{epochs_[core]} << 48 | std::uint64_t{core & 0xFFFF} << 32 | request.slot;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  auto delay = sc_core::SC_ZERO_TIME;
  memory_socket->nb_transport_fw(trans, phase, delay);
}

tlm::tlm_sync_enum AiCorePrograms::response(tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase,
                                            sc_core::sc_time&) {
  auto& info = Transaction::of(trans);
  const std::size_t core = (info.context >> 32) & 0xFFFF;
  const auto slot = static_cast<std::uint32_t>(info.context);
  const bool stale = info.context >> 48 != epochs_[core];
  if (phase == tlm::END_REQ) {
    info.translated_at = sim_now();
    if (stale) return tlm::TLM_ACCEPTED;
    const bool line = trans.get_data_length() == Transaction::kInlineData;
    if (info.peer != 0 && line &&
        cores_[core]->carry(slot, trans.is_write(), info.inline_data.data())) {
      trans.set_data_ptr(info.inline_data.data());
    }
    cores_[core]->translated(slot);
    return tlm::TLM_ACCEPTED;
  }
  if (!stale) {
    cores_[core]->answered(slot, {info.completion,
                                  trans.get_address(),
                                  trans.is_write(),
                                  trans.get_data_length(),
                                  {info.issued, info.translated_at, info.hbm_until},
                                  info.l2_hits,
                                  info.l2_misses,
                                  trans.is_read() ? trans.get_data_ptr() : nullptr});
  }
  trans.release();
  return tlm::TLM_COMPLETED;
}

void AiCorePrograms::block_ended(unsigned core, const KernelBlock& block,
                                 const CommandFault& fault) {
  busy_[core].end(sim_now());
  space_busy_.end(core, sim_now());
  // Blocks that have no core yet may wait for flags of those that are over.
  auto& launch = launches_[block.context];
  const bool last = ++launch.ended >= std::uint64_t{block.blocks} * block.lanes;
  if (fault.failed()) launch.failed = block.image;
  if (last && !runs(block.context)) {
    forget(block.context);
    launches_.erase(block.context);
  }
  if (fault.failed() && block.mixed) stop_cluster(core, block);
  if (fault.failed()) end_meeting(block.context);
  kernel_listener_->block_done(core, block, fault);
}

// The others of a mixed block would wait for the one that has failed.
void AiCorePrograms::stop_cluster(unsigned core, const KernelBlock& block) {
  const unsigned cluster = services_.layout.cluster(core);
  for (unsigned i = 0; i < cores_.size(); ++i) {
    const auto& other = *cores_[i];
    const bool same =
        other.busy() && other.context() == block.context && services_.layout.cluster(i) == cluster;
    if (same) cores_[i]->stop();
  }
}

void AiCorePrograms::cross_flag_raised(std::uint64_t context) {
  for (auto& core : cores_) {
    if (core->busy() && core->context() == context) core->cross_flags_changed();
  }
  const auto launch = launches_.find(context);
  if (launch == launches_.end() || launch->second.failed == 0) return;
  sim_.agenda.at<&AiCorePrograms::end_meeting>(sim_now(), *this, context);
}

// Blocks that wait for one that has failed would do so for ever.
void AiCorePrograms::end_meeting(std::uint64_t context) {
  const auto launch = launches_.find(context);
  const bool waits = launch != launches_.end() && launch->second.failed != 0 &&
                     services_.cross_flags.all_meet(context, launch->second.failed);
  if (waits) stop(context);
}

}  // namespace npu::model
