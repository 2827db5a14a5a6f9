// SPDX-License-Identifier: Apache-2.0
// The platform interface on the modelled host: what an operating system with a user-space driver
// framework offers, at the CPU costs of HostCpuConfig.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <memory>
#include <optional>
#include <systemc>
#include <vector>

#include "model/config/system_config.hpp"
#include "model/host/host_clock.hpp"
#include "model/host/host_tasks.hpp"
#include "model/host/interrupts.hpp"
#include "model/host/process_sharing.hpp"

namespace npu::model {

class HostPlatform : public sc_core::sc_module, public platform::Platform {
 public:
  tlm_utils::simple_initiator_socket<HostPlatform> cpu_socket;

  HostPlatform(const sc_core::sc_module_name& name, Simulation& simulation, HostCpus& cpus,
               HostMemory& memory, Interrupts& interrupts,
               std::vector<platform::HostBridge> bridges, ResourceLookup resources,
               AtsLookup has_ats);

  platform::PciAccess& pci() override { return pci_; }
  platform::Clock& clock() override { return clock_; }
  platform::Tasks& tasks() override { return tasks_; }
  platform::Tracer& tracer() override { return simulation_.recorder; }
  Result<std::unique_ptr<platform::MmioRegion>> map_bar(platform::Bdf bdf, unsigned bar,
                                                        Bytes offset, Bytes size,
                                                        platform::Caching caching) override;
  Result<std::unique_ptr<platform::DmaMemory>> allocate_dma(
      platform::Bdf bdf, Bytes size, Bytes alignment, platform::DmaDirection direction) override;
  Result<std::unique_ptr<platform::DmaMemory>> import_dma(platform::Bdf bdf, ByteSpan memory,
                                                          platform::DmaDirection direction,
                                                          platform::HostPages pages) override;
  void copy(ByteSpan to, ConstByteSpan from) override {
    bus_.time_passes();
    work_.copy(to, from);
  }
  Result<platform::BusAddress> share_dma(platform::DmaMemory& memory, platform::Bdf bdf) override;
  Result<platform::BusAddress> peer_address(platform::Bdf bdf, platform::Bdf owner, unsigned bar,
                                            Bytes offset) override;
  Status bind_pasid(platform::DmaMemory& memory, std::uint32_t pasid) override;
  Result<std::unique_ptr<platform::ProcessAddresses>> open_process_addresses(
      platform::Bdf bdf) override {
    return sharing_.open(bdf);
  }
  Result<std::unique_ptr<platform::InterruptVector>> open_vector(platform::Bdf bdf,
                                                                 unsigned vector) override;
  Status reset_function(platform::Bdf bdf) override;
  Result<std::vector<platform::Bdf>> virtual_functions(platform::Bdf bdf) override {
    return sriov_.functions(bdf);
  }
  Status set_virtual_functions(platform::Bdf bdf, unsigned count) override {
    return sriov_.set(bdf, count);
  }
  void note_program(ConstByteSpan file) override { simulation_.program_files.note(file); }
  void write_barrier() override { bus_.write_barrier(); }
  void read_barrier() override { bus_.read_barrier(); }

  // One access by the current task (HostBus).
  std::uint64_t load(std::uint64_t address, unsigned width) {
    return bus_.load(address, width, MappedBar());
  }
  void store(std::uint64_t address, std::uint64_t value, unsigned width) {
    bus_.store(address, value, width, MappedBar());
  }
  // What makes a card look at memory, for the names of what overtakes a store (host.cpu.order).
  void triggers(TriggerLookup lookup) {
    if (bus_.weak() != nullptr) bus_.weak()->triggers(std::move(lookup));
  }
  // Null: no store overtakes another on this host.
  const OvertakenStores* overtaken() {
    return bus_.weak() == nullptr ? nullptr : &bus_.weak()->overtaken();
  }
  // The function reaches [bus, bus + size) no more at the return: its pages are unmapped and what
  // it has cached of them is invalidated (PCIe 10.3), for which the core spins as long as that
  // takes; without an answer the IOMMU's fault log tells it. After the last task nobody waits.
  void unmap(std::uint32_t requester, std::uint64_t bus, Bytes size);
  // The same of a process' addresses, where the function may have translations of them.
  void unmap_process(std::uint32_t requester, std::uint32_t pasid, std::uint64_t address,
                     Bytes size);
  // A host task calls, and time may pass; after the last one it may not.
  bool in_task() const;
  // The function is to make no more page requests.
  void stop_page_requests(platform::Bdf bdf) { sharing_.stop_page_requests(bdf); }
  // What allocate_dma() gave is unmapped, unpinned and freed; `others`: functions that share it.
  void free_dma(const Iommu::Mapping& mapping, const std::vector<std::uint32_t>& others);
  const HostStatistics& statistics() const { return statistics_; }
  // Offset of a capability in configuration space; 0: the function has none of that id.
  std::uint32_t find_capability(platform::Bdf bdf, std::uint8_t id) {
    return pci_.find_capability(bdf, id);
  }
  std::uint32_t find_extended_capability(platform::Bdf bdf, std::uint16_t id) {
    return pci_.find_extended_capability(bdf, id);
  }
  // Of a virtual function that is there; of others none.
  std::optional<platform::Bdf> physical_of(platform::Bdf bdf) const {
    return sriov_.physical_of(bdf);
  }
  // Somebody else than set_virtual_functions() may have changed which there are: whoever was lent
  // their physical function.
  void follow_virtual_functions(platform::Bdf bdf) { sriov_.follow(bdf); }
  // By whomever, or its device has ended.
  void function_was_reset(platform::Bdf bdf) { pci_.headers().reset(bdf); }

 private:
  void invalidate(std::uint32_t requester, std::uint64_t bus, Bytes size);
  Status await_function(platform::Bdf bdf, Instant limit);

  Simulation& simulation_;
  HostCpus& cpus_;
  HostMemory& memory_;
  Interrupts& interrupts_;
  MemoryWork work_;
  const ResourceLookup resources_;
  const AtsLookup has_ats_;
  HostStatistics statistics_;
  HostBus bus_;
  HostPci pci_;
  HostClock clock_;
  HostTasks tasks_;
  SriovControl sriov_;
  ProcessSharing sharing_;
};

}  // namespace npu::model
