// SPDX-License-Identifier: Apache-2.0
// A whole machine: host, PCI hierarchy and cards, composed from a SystemConfig. One per process.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "model/chip.hpp"
#include "model/config/system_config.hpp"
#include "model/core/simulation.hpp"
#include "model/host/cpu.hpp"
#include "model/host/host_memory.hpp"
#include "model/host/interrupts.hpp"
#include "model/host/platform.hpp"
#include "model/link/hccs_fabric.hpp"
#include "model/pcie/pci_fabric.hpp"

namespace npu::model {

class System {
 public:
  explicit System(const SystemConfig& config);
  ~System();
  System(const System&) = delete;
  System& operator=(const System&) = delete;

  // Runs `program` as a host task until it returns. kTimeout: every task waits for something that
  // cannot happen any more; the context says which for what, and the system is stuck for good.
  // kAborted: attend()'s `look` has stopped it, also for good.
  Status run(std::function<void(platform::Platform&)> program);

  // Before run(): calls `look` soon after `raised` has been set, see Agenda::attend().
  void attend(const std::atomic<bool>& raised, std::function<bool()> look) {
    simulation_.agenda.attend(raised, std::move(look));
  }

  const SystemConfig& config() const { return config_; }
  HostPlatform& host() { return platform_; }  // to be called from host tasks only
  HostCpus& cpus() { return cpus_; }
  ResourceLookup resources();
  AtsLookup has_ats();
  Simulation& simulation() { return simulation_; }
  HostMemory& host_memory() { return memory_; }
  Interrupts& interrupts() { return interrupts_; }
  PciFabric& fabric() { return fabric_; }
  unsigned cards() const { return static_cast<unsigned>(chips_.size()); }
  Chip& card(unsigned index) { return *chips_[index]; }
  HccsFabric& hccs() { return *hccs_; }

 private:
  class FunctionResets;

  void serve_programs();
  // The name of what makes the function look at memory (abi/trigger.hpp); empty: it does not.
  std::string_view trigger(platform::Bdf function, unsigned bar, Bytes offset);

  SystemConfig config_;
  Simulation simulation_;
  HostMemory memory_;
  HostCpus cpus_;
  Interrupts interrupts_;
  PciFabric fabric_;
  std::vector<std::unique_ptr<Chip>> chips_;
  std::unique_ptr<HccsFabric> hccs_;
  HostPlatform platform_;
  std::vector<std::unique_ptr<FunctionResets>> resets_;
  // The task that runs programs ends with the first one. Whoever has more is served by one that
  // stays: making a task takes longer than many a program.
  std::function<void(platform::Platform&)> program_;
  bool returned_ = false, has_more_ = false, rests_ = false;
  sc_core::sc_event next_program_;
};

}  // namespace npu::model
