// SPDX-License-Identifier: Apache-2.0
// The AI Cores of a card as they run programs from device memory: behind the port of the command
// processor, which gives them the blocks of launches, and behind their register windows, which the
// AICPUs see.
//
// Requests on memory_socket are for time alone: their data pointer is null, their bytes move
// through `memory` at the same time of the simulation. They stay in one 2 MiB page and in the
// address space of the block; a request of several rows has Transaction::rows and pitch. Reads
// and writes both have responses.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/aicore/program_core.hpp"
#include "model/aicore/space_busy.hpp"
#include "model/core/busy_time.hpp"
#include "model/core/core_windows.hpp"
#include "model/core/space_id.hpp"

namespace npu::model {

// Names of their own: as bases, both ports have a Listener.
using BlockListener = KernelPort::Listener;
using WindowListener = CoreWindows::Listener;

class AiCorePrograms : public sc_core::sc_module,
                       public KernelPort,
                       public CoreWindows,
                       public ResetListener,
                       private ProgramCore::Owner {
 public:
  // Trace events of core i have the tracks `track_prefix` + i + pipe. References outlive the
  // module.
  AiCorePrograms(const sc_core::sc_module_name& name, Simulation& sim, const ChipConfig& config,
                 DeviceMemoryPort& memory, MemoryWatch& watch, std::string_view track_prefix);

  tlm_utils::simple_initiator_socket<AiCorePrograms> memory_socket{"memory_socket"};

  // KernelPort
  void connect(BlockListener& listener) override { kernel_listener_ = &listener; }
  unsigned cores() const override { return services_.layout.cores(); }
  void start(unsigned core, const KernelBlock& block) override;
  void stop(std::uint64_t context) override;

  // CoreWindows
  void connect(WindowListener& listener) override { window_listener_ = &listener; }
  unsigned windows() const override { return services_.layout.cores(); }
  bool open_to(unsigned core, unsigned function) const override {
    return core >= cores_.size() || !cores_[core]->busy() ||
           function_of(cores_[core]->space()) == function;
  }
  std::uint32_t read(unsigned core, std::uint32_t offset) const override;
  void write(unsigned core, std::uint32_t offset, std::uint32_t value) override;

  // What the function has is another; it has been reset.
  void set_partition(unsigned function, const Partition& partition) {
    services_.cores_of[function] = services_.layout.cores_of(partition);
  }
  // Stops everything and forgets it; late responses are dropped.
  void function_reset(unsigned function) override;

  // The clock of all cores from now on, in percent of the configuration's, 1 to 100.
  void set_clock_percent(unsigned percent) { services_.clock.set_percent(percent); }
  std::uint64_t clock_mhz() const { return services_.clock.mhz(); }
  void set_hung(unsigned core, bool hung) { cores_[core]->set_hung(hung); }

  const CoreLayout& layout() const { return services_.layout; }
  const ProgramCoreStatistics& statistics(unsigned core) const {
    return cores_[core]->statistics();
  }
  // Time with a block, from its start to its end.
  SimTime busy(unsigned core) const { return busy_[core].until(sim_now()); }
  // Time in which the space had a block on at least one core.
  SimTime space_busy(SpaceId space) const { return space_busy_.until(space, sim_now()); }
  bool looks_for_hazards() const { return services_.config.hazards != HazardMode::kOff; }
  // The run is over: programs that wait for flags are hazards.
  void tell_stuck() {
    for (auto& core : cores_) core->tell_stuck();
  }
  const Hazards& hazards() const { return services_.hazards; }
  const ProgramLoader& loader() const { return services_.loader; }
  // Every round of a poll loop is executed; the same times, for comparison.
  void naive_polling(bool naive) { services_.naive_polling = naive; }

 private:
  void make_thread(unsigned number);
  void send(unsigned core, const MemoryRequest& request, const KernelBlock& block) override;
  void block_ended(unsigned core, const KernelBlock& block, const CommandFault& fault) override;
  void cond_changed(unsigned core) override;
  void status_changed(unsigned core) override;
  ProgramCore& vector_core(unsigned cube, unsigned which) override {
    return *cores_[services_.layout.clusters() + cube * services_.layout.vector_cores() + which];
  }
  ProgramCore& cube_core(unsigned vector) override {
    return *cores_[services_.layout.cluster(vector)];
  }
  bool goes_later(unsigned core, SimTime when) const override;
  void cross_flag_raised(std::uint64_t context) override;
  void end_meeting(std::uint64_t context);
  tlm::tlm_sync_enum response(tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay);

  // A launch of which blocks run or will run.
  struct Launch {
    std::uint64_t cause = 0;
    std::uint64_t ended = 0;  // blocks, once for every core
    SpaceId space = 0;
    std::uint64_t failed = 0;  // the image of a block that has; 0: none
  };
  bool runs(std::uint64_t context) const;
  // Nothing of the launch runs any more.
  void forget(std::uint64_t context);
  void stop_cluster(unsigned core, const KernelBlock& block);

  Simulation& sim_;
  ProgramServices services_;
  std::vector<std::unique_ptr<ProgramCore>> cores_;
  std::map<std::uint64_t, Launch> launches_;  // by context
  BlockListener* kernel_listener_ = nullptr;
  WindowListener* window_listener_ = nullptr;
  std::vector<BusyTime> busy_;    // by core
  std::vector<bool> has_thread_;  // by core: it has had a block
  SpaceBusy space_busy_;
  std::vector<std::uint32_t> epochs_;  // by core; 16 bits; resets seen
};

}  // namespace npu::model
