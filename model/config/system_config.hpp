// SPDX-License-Identifier: Apache-2.0
// The typed configuration of a whole machine: host CPUs and memory, PCI topology, cards.
#pragma once

#include <string>
#include <vector>

#include "model/config/chip_config.hpp"
#include "model/config/fabric_config.hpp"

namespace npu::model {

// Whether the instructions that software executes take time, where it counts them.
enum class Instructions { kCounted, kFree };

struct FirmwareConfig {
  Instructions instructions = Instructions::kFree;
};

// What the driver gives its users; docs/sharing.md, "Probe", says what each is.
struct DriverFeatureConfig {
  bool svm_alloc_enforceable = true, token_set_available = true, dynamic_update = true,
       resident_metric_available = true, support_managed_svm = true,
       support_mem_prefetch_to_device = true, support_mem_advise_effective = true,
       support_host_uva_flag = true, support_vmm_reserve_map = true,
       support_page_fault_counter = true, support_device_stream_res_limit = true;
};

struct DriverConfig {
  std::uint64_t fault_warning_errors = 100;             // more than at first, and at least ...
  Picoseconds fault_warning_window{2'000'000'000'000};  // ... so long ago
  DriverFeatureConfig features;
};

// Programs of others (npusim exec), which run on the machine that npusim runs on: whether what they
// do between their calls takes time.
enum class ProgramWork { kFree, kInstructions, kWall };

struct ProgramConfig {
  ProgramWork work = ProgramWork::kFree;
  unsigned work_percent = 100;  // of what is measured
  // Of this machine's time: what neither calls nor sleeps for longer is not waited for.
  Picoseconds timeout{60'000'000'000'000};
};

// In which order the stores of the host's cores are seen by devices.
enum class HostOrder {
  kStrong,  // program order; stores that combine at the next other access or barrier (x86)
  kWeak,    // any that Arm allows, until a barrier
};

// What everybody sees of the accesses of others, where hardware leaves it open
// (docs/memory-order.md).
enum class OrderRule {
  kProgram,  // as the models have it: mostly program order
  kWeakest,  // what is unfriendly to programs
};

struct OrderConfig {
  OrderRule rule = OrderRule::kProgram;
  std::uint64_t seed = 0;  // which of the legal orders, together with that of the run
};

// What a driver in the kernel of an operating system spends on a card's memory
// (npu/platform/time.hpp, KernelWork): CPU time of the task that does it.
struct HostKernelConfig {
  Picoseconds page_table_lock;  // a turn of whoever serves faults, or a call that maps memory
  Picoseconds fault;
  Picoseconds first_touch;    // of a page of 2 MiB
  Picoseconds unmap;          // the same
  Picoseconds tlb_shootdown;  // of a range
  Picoseconds dma_map;        // of a page of 2 MiB
  Picoseconds allocate_page;  // the same, of the card's memory
  Picoseconds map_page;
};

// What host software costs. All times are CPU time of the task that does it.
struct HostCpuConfig {
  unsigned cores;           // tasks that can run at once
  std::uint64_t clock_hz;   // of a core
  unsigned ipc_percent;     // instructions that a core executes in 100 clocks
  Picoseconds mmio_store;   // one store to uncached memory, until it has left the core
  Picoseconds wc_store;     // one store of up to 8 bytes into a write combining buffer
  Picoseconds mmio_load;    // issuing a load from uncached memory, before its round trip
  Picoseconds barrier;      // write barrier: draining store buffers
  Picoseconds poll_round;   // one round of a loop that polls cached host memory
  Picoseconds lock;         // taking a free mutex: one atomic access
  Picoseconds call;         // one call into the operating system or platform
  Picoseconds block;        // going to sleep: first half of a context switch
  Picoseconds wake;         // the task that is woken running again: second half
  Picoseconds interrupt;    // a handler of an interrupt, on its core
  Picoseconds time_slice;   // of a task that others wait for
  std::uint64_t copy_rate;  // bytes per second that a core copies
  HostKernelConfig kernel;
  HostOrder order;
  std::uint64_t order_seed;    // which of the legal orders, together with that of the run
  std::uint64_t run_seed = 1;  // --seed; no key of a file
};

struct HostMemoryConfig {
  unsigned numa_nodes;
  Bytes size_per_node;
  Picoseconds read_latency;    // DMA read of local memory: root complex to data
  Picoseconds write_latency;   // DMA write of local memory until visible to a polling core
  Picoseconds remote_penalty;  // extra for memory of another NUMA node, each way
  std::uint64_t bandwidth;     // bytes per second that a node moves, of cores and devices
  Bytes huge_page;             // the largest page in which memory is pinned and mapped for devices
  std::uint64_t clear_rate;    // bytes per second that a core writes to make pages zero
  Picoseconds pin_page;        // a page found, and kept where it is
  Picoseconds unpin_page;      // given back
  Picoseconds iommu_lookup;    // address translation of a DMA request that the IOTLB serves
  unsigned iotlb_entries;      // pages
  unsigned iommu_walkers;      // walks at a time
  Picoseconds iommu_map;       // a page is entered into the IOMMU's tables
  Picoseconds iommu_unmap;     // a page is taken out
  Picoseconds iommu_invalidation;  // the IOTLB is told to forget a range, until it has
};

struct RootComplexConfig {
  Picoseconds latency;  // core to root port transmitter, and root port to memory, one way
  Picoseconds completion_timeout;    // for reads the CPU sends
  Picoseconds invalidation_timeout;  // ATS Invalidate Request to its completion
  Bytes read_completion_boundary;    // RCB: 64 or 128
};

// kCards is in files alone: `count` times kCard.
enum class PciNodeKind { kRootPort, kSwitch, kCard, kEmptySlot, kCards };

// A node of the PCI topology below a host bridge. A root port or a switch's downstream port has
// the children; `link` is the link above a switch (for a card it is chip.link).
struct PciNodeConfig {
  PciNodeKind kind;
  std::string name;
  LinkConfig link;               // kSwitch: upstream link
  Picoseconds switch_latency;    // kSwitch: ingress to egress port
  int card = -1;                 // kCard: index into SystemConfig::cards
  unsigned extra_functions = 0;  // kCard: functions 1..n without BARs (multi-function device)
  unsigned count = 0;            // kCards
  std::vector<PciNodeConfig> children;
};

struct HostBridgeConfig {
  std::string name;
  int numa_node;
  std::uint16_t first_bus;                // platform::Bdf::bus
  std::vector<PciNodeConfig> root_ports;  // device numbers 0, 1, ... on the root bus
};

// A key and its value: one from the command line instead of the file's, or any.
struct ReplacedKey {
  std::string key;    // as it was given: "link.generation", "cards.2.link.generation"
  std::string value;  // resolved: a decimal number in the key's unit, true, false, or text
  bool is_text;       // a word or the name of a file
};

struct SystemConfig {
  std::string path;
  std::vector<ReplacedKey> replaced;                // by key
  Instructions instructions = Instructions::kFree;  // of the driver
  DriverConfig driver;
  FirmwareConfig firmware;
  ProgramConfig programs;
  HostCpuConfig cpu;
  OrderConfig order;
  HostMemoryConfig memory;
  RootComplexConfig root_complex;
  std::vector<HostBridgeConfig> host_bridges;
  std::vector<std::string> faults;  // docs/faults.md
  FabricConfig fabric;
  std::vector<ChipConfig> cards;  // the index is DEVICE_INDEX
};

}  // namespace npu::model
