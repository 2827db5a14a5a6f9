// SPDX-License-Identifier: Apache-2.0
// The platform interface on the modelled host: what an operating system with a user-space driver
// framework offers, at the CPU costs of HostCpuConfig.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <systemc>

#include "model/config/system_config.hpp"
#include "model/core/simulation.hpp"
#include "model/host/cpu.hpp"
#include "model/host/host_memory.hpp"
#include "model/host/host_statistics.hpp"
#include "model/host/interrupts.hpp"
#include "model/host/memory_work.hpp"
#include "model/host/virtual_headers.hpp"
#include "npu/platform/platform.hpp"

namespace npu::model {

// What the operating system found at boot: where each BAR lies. Size 0: no such BAR.
struct BarResource {
  std::uint64_t address = 0;
  Bytes size = 0;
};
using ResourceLookup = std::function<BarResource(platform::Bdf, unsigned bar)>;
// The function may hold translations of the host's.
using AtsLookup = std::function<bool(platform::Bdf)>;

class HostPlatform : public sc_core::sc_module,
                     public platform::Platform,
                     private platform::PciAccess,
                     private platform::Clock,
                     private platform::Tasks {
 public:
  tlm_utils::simple_initiator_socket<HostPlatform> cpu_socket;

  HostPlatform(const sc_core::sc_module_name& name, Simulation& simulation, HostCpus& cpus,
               HostMemory& memory, Interrupts& interrupts,
               std::vector<platform::HostBridge> bridges, ResourceLookup resources,
               AtsLookup has_ats);

  platform::PciAccess& pci() override { return *this; }
  platform::Clock& clock() override { return *this; }
  platform::Tasks& tasks() override { return *this; }
  platform::Tracer& tracer() override { return simulation_.recorder; }
  Result<std::unique_ptr<platform::MmioRegion>> map_bar(platform::Bdf bdf, unsigned bar,
                                                        Bytes offset, Bytes size,
                                                        platform::Caching caching) override;
  Result<std::unique_ptr<platform::DmaMemory>> allocate_dma(
      platform::Bdf bdf, Bytes size, Bytes alignment, platform::DmaDirection direction) override;
  void copy(ByteSpan to, ConstByteSpan from) override { work_.copy(to, from); }
  Result<platform::BusAddress> share_dma(platform::DmaMemory& memory, platform::Bdf bdf) override;
  Result<platform::BusAddress> peer_address(platform::Bdf bdf, platform::Bdf owner, unsigned bar,
                                            Bytes offset) override;
  Status bind_pasid(platform::DmaMemory& memory, std::uint32_t pasid) override;
  Result<std::unique_ptr<platform::ProcessAddresses>> open_process_addresses(
      platform::Bdf bdf) override;
  Result<std::unique_ptr<platform::InterruptVector>> open_vector(platform::Bdf bdf,
                                                                 unsigned vector) override;
  Status reset_function(platform::Bdf bdf) override;
  Result<std::vector<platform::Bdf>> virtual_functions(platform::Bdf bdf) override;
  Status set_virtual_functions(platform::Bdf bdf, unsigned count) override;
  void write_barrier() override;
  void read_barrier() override {
    ++statistics_.read_barriers;
    trace_barrier(cpus_.local_now(), true);
  }

  // One access by the current task, at its CPU cost; `width` 1, 2, 4 or 8 bytes, aligned. `bar`:
  // through which it is mapped, for the count.
  std::uint64_t load(std::uint64_t address, unsigned width, unsigned bar = kNoBar);
  void store(std::uint64_t address, std::uint64_t value, unsigned width, unsigned bar = kNoBar);
  void store_combining(std::uint64_t address, std::uint64_t value, unsigned width, unsigned bar);
  // The function reaches [bus, bus + size) no more at the return: its pages are unmapped and what
  // it has cached of them is invalidated (PCIe 10.3), for which the core spins as long as that
  // takes; without an answer the IOMMU's fault log tells it. After the last task nobody waits.
  void unmap(std::uint16_t requester, std::uint64_t bus, Bytes size);
  // The same of a process' addresses, where the function may have translations of them.
  void unmap_process(std::uint16_t requester, std::uint32_t pasid, std::uint64_t address,
                     Bytes size);
  // A host task calls, and time may pass; after the last one it may not.
  bool in_task() const;
  // The function is to make no more page requests.
  void stop_page_requests(platform::Bdf bdf);
  // What allocate_dma() gave is unmapped, unpinned and freed; `others`: functions that share it.
  void free_dma(const Iommu::Mapping& mapping, const std::vector<std::uint16_t>& others);
  const HostStatistics& statistics() const { return statistics_; }
  // Offset of a capability in configuration space; 0: the function has none of that id.
  std::uint32_t find_capability(platform::Bdf bdf, std::uint8_t id);

 private:
  // PciAccess
  std::vector<platform::HostBridge> host_bridges() const override { return bridges_; }
  std::uint32_t read(platform::Bdf bdf, std::uint32_t offset, unsigned width) override;
  void write(platform::Bdf bdf, std::uint32_t offset, unsigned width, std::uint32_t value) override;
  // Clock
  Instant now() override;
  void relax(ConstByteSpan watched, Instant deadline) override;
  void sleep_until(Instant deadline) override;
  // Tasks
  Result<std::unique_ptr<platform::Task>> spawn(std::string name,
                                                std::function<void()> body) override;
  std::unique_ptr<platform::Mutex> make_mutex() override;
  std::unique_ptr<platform::Condition> make_condition() override;
  platform::CpuUsage cpu_usage() override;
  void system_calls(unsigned count) override { cpus_.charge(count * cpus_.config().call); }

  // A core's write combining buffer: bytes of one 64-byte line, contiguous.
  struct CombiningBuffer {
    std::uint64_t address = 0;
    unsigned length = 0;
    unsigned bar = 0;
    SimTime issued = 0;  // the first of the stores
    std::array<unsigned char, 64> bytes{};
  };
  tlm::tlm_generic_payload& request(tlm::tlm_command command, TransactionKind kind,
                                    std::uint64_t address, const void* data, unsigned length);
  void post(std::uint64_t address, const void* data, unsigned length, unsigned bar, SimTime issued);
  void drain_combining();
  void trace_barrier(SimTime begin, bool read);
  void trace_poll(SimTime begin, std::uint64_t rounds);
  std::uint32_t find_extended_capability(platform::Bdf bdf, std::uint16_t id);
  Status enable_pasids(platform::Bdf bdf);
  // Of a virtual function.
  std::optional<platform::Bdf> physical_of(platform::Bdf bdf) const;
  void disable_virtual_functions(platform::Bdf bdf, std::uint32_t sriov,
                                 const std::vector<platform::Bdf>& there);
  Status enable_virtual_functions(platform::Bdf bdf, std::uint32_t sriov, unsigned count);
  std::uint32_t shown(platform::Bdf bdf, std::uint32_t offset, unsigned width, std::uint32_t value);
  std::uint32_t access(platform::Bdf bdf, std::uint32_t offset, unsigned width);
  void invalidate(std::uint16_t requester, std::uint64_t bus, Bytes size);
  bool present(platform::Bdf bdf) { return read32(bdf, 0) != kAllOnes; }

  static constexpr std::uint32_t kAllOnes = 0xFFFFFFFF;
  static constexpr unsigned kNoBar = HostStatistics::kBars;

  Simulation& simulation_;
  HostCpus& cpus_;
  HostMemory& memory_;
  Interrupts& interrupts_;
  MemoryWork work_;
  std::vector<platform::HostBridge> bridges_;
  ResourceLookup resources_;
  AtsLookup has_ats_;
  std::map<std::pair<std::uint16_t, std::uint16_t>, std::uint32_t> extended_;  // found: BDF, id
  VirtualHeaders headers_;
  std::vector<CombiningBuffer> combining_;  // by core
  std::uint32_t track_;
  HostStatistics statistics_;
};

}  // namespace npu::model
