// SPDX-License-Identifier: Apache-2.0
// The cores of one kind of a card, behind one port to the MMU. Functions that they know without a
// binary run here (abi/kernel_functions.hpp); programs in device memory are handed on.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <memory>
#include <string>
#include <vector>

#include "model/aicore/core.hpp"

namespace npu::model {

// A name of its own: as a base, KernelPort has a Listener, too.
using CorePoolListener = KernelPort::Listener;

class CorePool : public sc_core::sc_module,
                 public KernelPort,
                 public ResetListener,
                 public Core::Owner,
                 private CorePoolListener {
 public:
  // Trace events of core i carry the track `track_prefix` + i. `config` outlives the module.
  CorePool(const sc_core::sc_module_name& name, Simulation& sim, const CoreConfig& config,
           unsigned cores, const std::string& track_prefix);

  // Device virtual addresses; reads and writes with responses, in one page of 2 MiB.
  tlm_utils::simple_initiator_socket<CorePool> memory_socket{"memory_socket"};

  void connect(KernelPort::Listener& listener) override { listener_ = &listener; }
  // Who runs programs on these cores. Without it they are kInvalidFunction.
  void connect_programs(KernelPort& programs);
  unsigned cores() const override { return static_cast<unsigned>(cores_.size()); }
  void start(unsigned core, const KernelBlock& block) override;
  void stop(std::uint64_t context) override;
  // Stops everything and forgets it; late responses are dropped.
  void function_reset(unsigned function) override;

  std::uint64_t blocks() const { return blocks_; }  // done

 private:
  void send(unsigned core, const Core::Access& access) override;
  void core_done(unsigned core, const KernelBlock& block, const CommandFault& fault) override;
  void block_done(unsigned core, const KernelBlock& block, const CommandFault& fault) override {
    core_done(core, block, fault);
  }
  tlm::tlm_sync_enum response(tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay);

  Simulation& sim_;
  std::vector<std::unique_ptr<Core>> cores_;
  KernelPort::Listener* listener_ = nullptr;
  KernelPort* programs_ = nullptr;
  std::uint64_t blocks_ = 0;
  std::uint32_t epoch_ = 0;  // 16 bits; resets seen
};

}  // namespace npu::model
