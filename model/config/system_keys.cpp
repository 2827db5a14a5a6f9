// SPDX-License-Identifier: Apache-2.0
// The keys of host and system files.
#include "model/config/fabric_keys.hpp"
#include "model/config/key_table.hpp"

namespace npu::model {
namespace {

using keys::number;
using keys::section;

const Table& kernel_table() {
  using K = HostKernelConfig;
  static const Table kTable{
      "",
      "what a driver in the kernel of an operating system spends on cards' memory, for which "
      "npusim's stands, in CPU time of the task that does it",
      {
          number("page_table_lock_ns", &K::page_table_lock, 0, 10'000'000,
                 "locking an address space and its page tables and looking up what they guard: "
                 "once a turn of serving page faults, and once a call that maps memory"),
          number("serve_fault_ns", &K::fault, 0, 10'000'000,
                 "a page fault of a card: decoded, entered in the books, its entry made"),
          number("first_touch_ns", &K::first_touch, 0, 10'000'000,
                 "books of a page of 2 MiB that a card touches for the first time"),
          number("unmap_ns", &K::unmap, 0, 10'000'000,
                 "taking a page of 2 MiB that goes to a card out of the program's page tables"),
          number("tlb_shootdown_ns", &K::tlb_shootdown, 0, 10'000'000,
                 "making the host's cores forget it; once for the pages of a prefetch that go "
                 "together"),
          number("dma_map_ns", &K::dma_map, 0, 10'000'000,
                 "mapping the host's pages of 2 MiB for a card, at their first way to it"),
          number("allocate_page_ns", &K::allocate_page, 0, 10'000'000,
                 "a page of 2 MiB of a card's memory in the call that allocates it: found, "
                 "cleared, accounted for"),
          number(
              "map_page_ns", &K::map_page, 0, 10'000'000,
              "an entry of 2 MiB or 1 GiB in the call that maps such memory: made, the card told"),
      }};
  return kTable;
}

const Table& cpu_table() {
  using C = HostCpuConfig;
  static const Table kTable{
      "",
      "what host software costs, in CPU time of the task that does it",
      {
          number("cores", &C::cores, 1, 4096,
                 "tasks that can run at once; more of them take turns"),
          number("clock_mhz", &C::clock_hz, 1, 10'000, "clock of a core"),
          number("ipc_percent", &C::ipc_percent, 1, 1'600,
                 "instructions that a core executes in 100 clocks"),
          number("mmio_store_ns", &C::mmio_store, 0, 100'000,
                 "a store to uncached memory, until it has left the core"),
          number("wc_store_ns", &C::wc_store, 0, 100'000,
                 "a store of up to 8 bytes into a write combining buffer"),
          number("mmio_load_ns", &C::mmio_load, 0, 100'000,
                 "issuing a load from uncached memory, before its round trip"),
          number("barrier_ns", &C::barrier, 0, 100'000, "write barrier: draining store buffers"),
          number("poll_round_ns", &C::poll_round, 1, 100'000,
                 "one round of a loop that polls cached host memory"),
          number("lock_ns", &C::lock, 0, 100'000, "taking a free mutex: one atomic access"),
          number("call_ns", &C::call, 0, 1'000'000, "a call into the operating system"),
          number("block_ns", &C::block, 0, 1'000'000,
                 "going to sleep, the first half of a context switch; a switch when a time slice "
                 "is over"),
          number("wake_ns", &C::wake, 0, 1'000'000,
                 "what wakes a task to the task running again: second half"),
          number(
              "interrupt_ns", &C::interrupt, 0, 1'000'000,
              "the handler of an interrupt, until who waits for it is woken; the task on its core "
              "stands still"),
          number("time_slice_us", &C::time_slice, 1, 1'000'000,
                 "what a task keeps its core for when others wait for one"),
          number("copy_gb_per_s", &C::copy_rate, 1, 1'000,
                 "copying between a program's memory and DMA memory, by one core"),
          section("kernel", &C::kernel, kernel_table()),
          keys::choice("order", &C::order, {"strong", "weak"},
                       "how devices see stores: in program order (x86), or in any order that Arm "
                       "allows until a write barrier"),
          number("order_seed", &C::order_seed, 0, 1'000'000'000,
                 "with weak: which of the legal orders, together with the run's --seed"),
      }};
  return kTable;
}

const Table& memory_table() {
  using M = HostMemoryConfig;
  static const Table kTable{
      "",
      "host memory",
      {
          number("numa_nodes", &M::numa_nodes, 1, 64, "NUMA nodes"),
          number("size_per_node_gib", &M::size_per_node, 1, 16'384, "memory of each node"),
          number("read_latency_ns", &M::read_latency, 0, 100'000,
                 "DMA read of local memory: root complex to data"),
          number("write_latency_ns", &M::write_latency, 0, 100'000,
                 "DMA write of local memory until a polling core sees it"),
          number("remote_penalty_ns", &M::remote_penalty, 0, 100'000,
                 "extra for another node's memory, each way"),
          number("bandwidth_gb_per_s", &M::bandwidth, 1, 10'000,
                 "what a node moves, reads and writes of cores and devices together"),
          number("huge_page_kib", &M::huge_page, 4, 1'048'576,
                 "the largest page in which DMA memory is pinned and mapped; 4: none is huge")
              .among({4_KiB, 2_MiB, 1_GiB}),
          number("clear_gb_per_s", &M::clear_rate, 1, 1'000,
                 "zeroing of pages by one core, when DMA memory is allocated"),
          number("pin_page_ns", &M::pin_page, 0, 1'000'000,
                 "finding a page and keeping it where it is, when DMA memory is allocated"),
          number("unpin_page_ns", &M::unpin_page, 0, 1'000'000,
                 "giving a page back, when DMA memory is freed"),
          number("iommu_lookup_ns", &M::iommu_lookup, 0, 100'000,
                 "address translation of a DMA request that the IOTLB serves"),
          number("iotlb_entries", &M::iotlb_entries, 1, 65'536,
                 "pages in the IOTLB of each node's cards; a miss reads a table of the IOMMU per "
                 "level"),
          number("iommu_walkers", &M::iommu_walkers, 1, 256,
                 "walks of the IOMMU's tables at once, for each node's cards"),
          number("iommu_map_ns", &M::iommu_map, 0, 1'000'000,
                 "entering a page into the IOMMU's tables"),
          number("iommu_unmap_ns", &M::iommu_unmap, 0, 1'000'000,
                 "taking a page out of the IOMMU's tables"),
          number("iommu_invalidation_ns", &M::iommu_invalidation, 0, 10'000'000,
                 "telling the IOTLB to forget a range and waiting until it has"),
      }};
  return kTable;
}

const Table& order_table() {
  using O = OrderConfig;
  static const Table kTable{
      "",
      "what hosts, cores and cards see of each other's accesses (docs/memory-order.md)",
      {
          keys::choice("rule", &O::rule, {"program", "weakest"},
                       "mostly program order, or of all that hardware allows what is unfriendly to "
                       "programs; weakest has cpu.order=weak in it"),
          number("seed", &O::seed, 0, 1'000'000'000,
                 "with weakest: which of the legal orders, together with the run's --seed"),
      }};
  return kTable;
}

const Table& root_complex_table() {
  using R = RootComplexConfig;
  static const Table kTable{
      "",
      "root complex",
      {
          number("latency_ns", &R::latency, 0, 100'000,
                 "core to root port transmitter, and root port to memory, one way"),
          number("completion_timeout_us", &R::completion_timeout, 50, 64'000'000,
                 "for reads the CPU sends"),
          number("invalidation_timeout_us", &R::invalidation_timeout, 50, 90'000'000,
                 "ATS Invalidate Request to its completion; the IOMMU logs one that never came"),
          number("read_completion_boundary_bytes", &R::read_completion_boundary, 64, 128, "RCB")
              .among({64, 128}),
      }};
  return kTable;
}

Key node_name() {
  return keys::make("name", KeyType::kName, &PciNodeConfig::name, "unique in the system");
}

Key node_kind() {
  return keys::choice("kind", &PciNodeConfig::kind,
                      {"root_port", "switch", "card", "empty_slot", "cards"},
                      "what is plugged in here; root ports stand under root_ports only");
}

Key children(std::string doc) {
  return keys::make("children", KeyType::kNodes, &PciNodeConfig::children, std::move(doc));
}

Table switch_table() {
  Table table;
  table.doc = "a PCI Express switch";
  table.keys = {node_kind(), node_name(),
                number("switch_latency_ns", &PciNodeConfig::switch_latency, 0, 100'000,
                       "ingress to egress port"),
                section("link", &PciNodeConfig::link, link_table()),
                children("one node per downstream port, device numbers 0, 1, ...")};
  return table;
}

Table card_table() {
  Table table;
  table.doc = "a card; its link is the chip's, its DEVICE_INDEX its place among all cards";
  Key chip;
  chip.name = "chip";
  chip.type = KeyType::kChip;
  chip.table = &chip_table();
  chip.doc = "chip file; left out: the chip file given on the command line";
  table.keys = {node_kind(), node_name(),
                number("extra_functions", &PciNodeConfig::extra_functions, 0, 7,
                       "functions 1..n without BARs (multi-function device)"),
                chip};
  return table;
}

Table cards_table() {
  Table table = card_table();
  table.doc = "several cards, one behind another";
  table.keys[1].doc = "each is called so, with its DEVICE_INDEX behind it";
  table.keys.insert(table.keys.begin() + 2,
                    number("count", &PciNodeConfig::count, 1, 64, "how many"));
  return table;
}

}  // namespace

const Table& node_table(PciNodeKind kind) {
  static const Table kRootPort{"",
                               "a root port, device numbers 0, 1, ... on the root bus",
                               {node_name(), children("none (an empty slot) or one node")}};
  static const Table kSwitch = switch_table();
  static const Table kCard = card_table();
  static const Table kCards = cards_table();
  static const Table kEmptySlot{"", "a slot with nothing in it", {node_kind(), node_name()}};
  switch (kind) {
    case PciNodeKind::kRootPort:
      return kRootPort;
    case PciNodeKind::kSwitch:
      return kSwitch;
    case PciNodeKind::kCard:
      return kCard;
    case PciNodeKind::kCards:
      return kCards;
    case PciNodeKind::kEmptySlot:
      break;
  }
  return kEmptySlot;
}

const Table& host_bridge_table() {
  using B = HostBridgeConfig;
  static const Table kTable{
      "",
      "a root of the PCI hierarchy",
      {keys::make("name", KeyType::kName, &B::name, "unique in the system"),
       number("numa_node", &B::numa_node, 0, 63, "the node it is attached to"),
       number("first_bus", &B::first_bus, 0, 65'535, "its root bus: PCI segment * 0x100 + bus")
           .in_hex(),
       keys::make("root_ports", KeyType::kNodes, &B::root_ports, "its root ports, at most 32")}};
  return kTable;
}

Key feature(const char* name, bool DriverFeatureConfig::*member, const char* doc) {
  return keys::make(name, KeyType::kFlag, member, doc);
}

const Table& driver_feature_table() {
  using F = DriverFeatureConfig;
  static const Table kTable{
      "",
      "what npusim probe tries; false: the driver does without it, and calls for it are refused",
      {feature("svm_alloc_enforceable", &F::svm_alloc_enforceable,
               "managed pages on a card count in their client's memory quota"),
       feature("token_set_available", &F::token_set_available,
               "a client of a card's cores may have a token"),
       feature("dynamic_update", &F::dynamic_update,
               "shares change while their clients work; else dynamic_update_latency_ms is null"),
       feature("resident_metric_available", &F::resident_metric_available,
               "the bytes that managed memory has on cards are told"),
       feature("support_managed_svm", &F::support_managed_svm, "managed memory"),
       feature("support_mem_prefetch_to_device", &F::support_mem_prefetch_to_device,
               "its prefetch"),
       feature("support_mem_advise_effective", &F::support_mem_advise_effective, "its advice"),
       feature("support_host_uva_flag", &F::support_host_uva_flag,
               "cards use the host's pages, if they can (mmu.fault_policy)"),
       feature("support_vmm_reserve_map", &F::support_vmm_reserve_map,
               "addresses reserved and mapped apart"),
       feature("support_page_fault_counter", &F::support_page_fault_counter,
               "page faults and those that failed are told"),
       feature("support_device_stream_res_limit", &F::support_device_stream_res_limit,
               "limits of cores of devices and streams")}};
  return kTable;
}

const Table& driver_table() {
  using D = DriverConfig;
  static const Table kTable{
      "",
      "the driver",
      {number("fault_warning_errors", &D::fault_warning_errors, 1, 1'000'000'000,
              "a warning comes, once, when the page faults of a process that nobody could serve "
              "are so many more than when the first were seen"),
       number("fault_warning_window_ms", &D::fault_warning_window, 0, 3'600'000,
              "and that is so long ago"),
       section("features", &D::features, driver_feature_table())}};
  return kTable;
}

const Table& firmware_table() {
  static const Table kTable{
      "",
      "programs of the cards' cores",
      {keys::choice("instructions", &FirmwareConfig::instructions, {"counted", "free"},
                    "whether the instructions of programs that npusim brings along take time; "
                    "others count none")}};
  return kTable;
}

const Table& program_table() {
  using P = ProgramConfig;
  static const Table kTable{
      "",
      "programs of others, which npusim exec runs",
      {keys::choice("work", &P::work, {"free", "instructions", "wall"},
                    "what a program does between its calls takes no time, that of its instructions "
                    "on a core of cpu, or the wall time that it took here, another one each time"),
       number("work_percent", &P::work_percent, 1, 1'000'000, "of that"),
       number("patience_ms", &P::timeout, 10, 3'600'000,
              "how long others wait, of this machine's time, for a program that neither calls nor "
              "sleeps")}};
  return kTable;
}

const Table& host_table() {
  using S = SystemConfig;
  static const Table kTable{
      "npusim.host/1",
      "host processor, memory and root complex; a host file may have `base`, a host file that "
      "gives "
      "what it leaves out, key by key",
      {keys::choice("instructions", &S::instructions, {"counted", "free"},
                    "whether the driver's instructions take time, where it counts them"),
       section("driver", &S::driver, driver_table()),
       section("firmware", &S::firmware, firmware_table()),
       section("programs", &S::programs, program_table()), section("cpu", &S::cpu, cpu_table()),
       section("order", &S::order, order_table()), section("memory", &S::memory, memory_table()),
       section("root_complex", &S::root_complex, root_complex_table())}};
  return kTable;
}

Key fabric_key() {
  Key key = keys::section("fabric", &SystemConfig::fabric, fabric_table(), KeyType::kFabric);
  key.words = fabric_words();
  return key;
}

const Table& system_table() {
  static const Table kTable = [] {
    Table table;
    table.schema = "npusim.system/1";
    table.doc = "a machine";
    Key host;
    host.name = "host";
    host.type = KeyType::kFile;
    host.table = &host_table();
    host.doc = host_table().doc;
    host.member = [](void* system) { return system; };
    table.keys = {host,
                  keys::make("host_bridges", KeyType::kBridges, &SystemConfig::host_bridges,
                             "roots of the PCI hierarchy"),
                  fabric_key(),
                  keys::make("faults", KeyType::kTexts, &SystemConfig::faults,
                             "faults that happen in every run (docs/faults.md); may be missing")};
    return table;
  }();
  return kTable;
}

}  // namespace npu::model
