// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/core_pool.hpp"

namespace npu::model {

CorePool::CorePool(const sc_core::sc_module_name& name, Simulation& sim, const CoreConfig& config,
                   unsigned cores, const std::string& track_prefix)
    : sc_module(name), sim_(sim) {
  memory_socket.register_nb_transport_bw(this, &CorePool::response);
  for (unsigned i = 0; i < cores; ++i) {
    const auto track = sim.recorder.track(track_prefix + std::to_string(i));
    cores_.push_back(std::make_unique<Core>(sim, config, track, i, *this));
  }
}

void CorePool::connect_programs(KernelPort& programs) {
  programs_ = &programs;
  programs.connect(*this);
}

void CorePool::start(unsigned core, const KernelBlock& block) {
  if (block.image != 0 && programs_ != nullptr) return programs_->start(core, block);
  cores_[core]->start(block);
}

void CorePool::stop(std::uint64_t context) {
  for (auto& core : cores_) {
    if (core->busy() && core->context() == context) core->stop();
  }
  if (programs_ != nullptr) programs_->stop(context);
}

void CorePool::function_reset(unsigned) {
  epoch_ = (epoch_ + 1) & 0xFFFF;
  for (auto& core : cores_) core->reset();
}

void CorePool::send(unsigned core, const Core::Access& access) {
  auto& trans = sim_.pool.allocate(access.command, access.address, access.data,
                                   static_cast<unsigned>(access.length));
  auto& info = Transaction::of(trans);
  info.vmid = access.vmid;
  info.cause = access.cause;
  info.issued = sim_now();
  info.context = std::uint64_t{epoch_} << 48 | std::uint64_t{core & 0xFFFF} << 32 | access.slot;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  auto delay = sc_core::SC_ZERO_TIME;
  memory_socket->nb_transport_fw(trans, phase, delay);
}

tlm::tlm_sync_enum CorePool::response(tlm::tlm_generic_payload& trans, tlm::tlm_phase&,
                                      sc_core::sc_time&) {
  const auto context = Transaction::of(trans).context;
  if (context >> 48 == epoch_) {
    cores_[(context >> 32) & 0xFFFF]->answered(static_cast<std::uint32_t>(context), trans);
  }
  trans.release();
  return tlm::TLM_COMPLETED;
}

void CorePool::core_done(unsigned core, const KernelBlock& block, const CommandFault& fault) {
  ++blocks_;
  listener_->block_done(core, block, fault);
}

}  // namespace npu::model
