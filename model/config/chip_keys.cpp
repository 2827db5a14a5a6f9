// SPDX-License-Identifier: Apache-2.0
// The keys of a chip file, except for its memory (hbm_keys.cpp).
#include <fmt/format.h>

#include "model/config/key_table.hpp"
#include "model/config/link_rate.hpp"

namespace npu::model {
namespace {

using keys::number;
using keys::section;

std::vector<Key> vf_keys() {
  using P = PciFunctionConfig;
  return {
      number("sriov_total_vfs", &P::sriov_total_vfs, 0, 255,
             "virtual functions; 0: no SR-IOV capability"),
      number("sriov_vf_device_id", &P::sriov_vf_device_id, 0, 0xFFFF, "VF Device ID field")
          .in_hex(),
      number("sriov_first_vf_offset", &P::sriov_first_vf_offset, 0, 255,
             "function number of VF 1 from the PF's; not 0 with VFs"),
      number("sriov_vf_stride", &P::sriov_vf_stride, 0, 255,
             "function numbers from one VF to the next; not 0 with VFs"),
      number("sriov_vf_bar0_size_kib", &P::sriov_vf_bar0_size, 4, 1024, "register BAR of a VF")
          .in_powers_of_two(),
      number("sriov_vf_bar2_size_mib", &P::sriov_vf_bar2_size, 1, 1 << 20, "memory BAR of a VF")
          .in_powers_of_two(),
  };
}

const Table& pci_table() {
  using P = PciFunctionConfig;
  static const Table kTable = [] {
    Table table;
    table.doc = "identity and PCI configuration space of the card's function";
    table.keys = {
        number("device_id", &P::device_id, 1, 0xFFFE, "PCI device id; the vendor is 0x19e5")
            .in_hex(),
        number("subsystem_vendor_id", &P::subsystem_vendor_id, 1, 0xFFFE, "PCI subsystem vendor")
            .in_hex(),
        number("subsystem_id", &P::subsystem_id, 1, 0xFFFE, "PCI subsystem id").in_hex(),
        number("revision", &P::revision, 0, 255, "PCI revision id").in_hex(),
        number("serial_number", &P::serial_number, 0, UINT64_MAX,
               "Device Serial Number; the card's index is added to it")
            .in_hex(),
        number("bar0_size_kib", &P::bar0_size, 4, 16 * 1024, "register window, a 64-bit BAR")
            .in_powers_of_two(),
        number("bar2_size_gib", &P::bar2_size, 1, 1024, "HBM window, 64-bit prefetchable")
            .in_powers_of_two(),
        number("msix_vectors", &P::msix_vectors, 1, 2048,
               "MSI-X table entries; BAR0 has room for 256"),
    };
    for (auto& key : vf_keys()) table.keys.push_back(std::move(key));
    return table;
  }();
  return kTable;
}

const Table& endpoint_table() {
  using E = EndpointConfig;
  static const Table kTable{
      "",
      "the card's side of the link",
      {
          number("ingress_ns", &E::ingress, 0, 100'000,
                 "transaction layer to register or memory controller port"),
          number("egress_ns", &E::egress, 0, 100'000, "DMA or MSI-X request to link transmitter"),
          number("register_access_ns", &E::register_access, 0, 100'000,
                 "extra for a register read, before its completion is formed"),
          number("completion_timeout_us", &E::completion_timeout, 50, 64'000'000,
                 "for reads the card sends"),
          number("flr_time_us", &E::flr_time, 0, 100'000,
                 "function level reset until configuration space answers"),
      }};
  return kTable;
}

const Table& dma_table() {
  using D = DmaConfig;
  static const Table kTable{
      "",
      "submission queue and DMA engines",
      {
          number("engines", &D::engines, 1, 16, "engines; commands of different streams overlap"),
          number("fetch_batch", &D::fetch_batch, 1, 64, "most ring entries of one fetch"),
          number("engine_queue_depth", &D::engine_queue_depth, 1, 64,
                 "fetched commands that an engine holds"),
          number("doorbell_decode_ns", &D::doorbell_decode, 0, 100'000,
                 "doorbell register to fetch request"),
          number("descriptor_decode_ns", &D::descriptor_decode, 0, 100'000,
                 "entry received to command dispatched"),
          number("engine_setup_ns", &D::engine_setup, 0, 100'000,
                 "dispatched to first data request"),
          number("reduce_setup_ns", &D::reduce_setup, 0, 100'000,
                 "more of it before a copy that reduces"),
          number("completion_processing_ns", &D::completion_processing, 0, 100'000,
                 "last data written to event record and MSI-X sent"),
          number("max_outstanding_reads", &D::max_outstanding_reads, 1, 1024,
                 "read requests over the link, per engine"),
          number("device_chunk_bytes", &D::device_chunk, 64, 65'536, "one HBM request of an engine")
              .in_powers_of_two(),
          number("buffer_kib", &D::buffer, 1, 65'536, "data read and not yet written, per engine"),
          number("engine_gb_per_s", &D::engine_rate, 1, 100'000,
                 "that an engine reads and writes in device memory, together"),
      }};
  return kTable;
}

const Table& mmu_table() {
  using M = MmuConfig;
  static const Table kTable{
      "",
      "translation of device virtual addresses",
      {
          number("tlb_entries", &M::tlb_entries, 1, 65'536, "translations held, of 2 MiB or 1 GiB")
              .in_powers_of_two(),
          number("tlb_ways", &M::tlb_ways, 1, 64, "associativity of the TLB").in_powers_of_two(),
          number("walk_cache_entries", &M::walk_cache_entries, 0, 4096,
                 "entries that point to tables, held beside the TLB"),
          number("walkers", &M::walkers, 1, 64, "walks in flight at once"),
          number("walk_step_ns", &M::walk_step, 0, 10'000,
                 "of the walker, beside the read of each entry"),
          number("invalidate_ns", &M::invalidate, 0, 1'000'000,
                 "MMU_INVALIDATE written until cached entries are dropped"),
          number(
              "fault_ns", &M::fault, 0, 1'000'000,
              "a walk that fails until the record of the fault leaves; one record after another"),
          keys::choice(
              "fault_policy", &M::fault_policy, {"message", "batch", "ats"},
              "who is to serve page faults of managed memory: the card's pager, a message each, "
              "or the driver, in batches; ats: nobody, the card uses the host's pages"),
          number("max_page_requests", &M::max_page_requests, 1, 512,
                 "ats: page requests that a function may have outstanding"),
          number("max_outstanding_host_reads", &M::max_outstanding_host_reads, 1, 1024,
                 "ats: reads of the host's pages over the link, up to 4 KiB each"),
      }};
  return kTable;
}

}  // namespace

const Table& link_table() {
  using L = LinkConfig;
  const std::vector<std::uint64_t> sizes{128, 256, 512, 1024, 2048, 4096};
  static const Table kTable{
      "",
      "a PCI Express link; both directions are alike",
      {
          number("generation", &L::generation, 1, 5, "2.5, 5, 8, 16, 32 GT/s"),
          number("lanes", &L::lanes, 1, 16, "link width").among({1, 2, 4, 8, 16}),
          number("max_payload_bytes", &L::max_payload, 128, 4096, "Max_Payload_Size (MPS)")
              .among(sizes),
          number("max_read_request_bytes", &L::max_read_request, 128, 4096,
                 "Max_Read_Request_Size (MRRS)")
              .among(sizes),
          number("tlp_framing_bytes", &L::tlp_framing, 0, 64,
                 "per TLP: framing token, sequence number, LCRC"),
          number("dllp_per_tlp_bytes", &L::dllp_per_tlp, 0, 64,
                 "ACK and UpdateFC DLLPs, averaged per TLP"),
          number("propagation_ns", &L::propagation, 0, 100'000,
                 "transmitter PHY to receiver's transaction layer, one way"),
          number("header_credits", &L::header_credits, 1, 65'536,
                 "posted and completion headers that the receiver buffers"),
          number("data_credits_bytes", &L::data_credits, 16, 1 << 24,
                 "payload that the receiver buffers"),
          number("credit_update_ns", &L::credit_update, 0, 100'000,
                 "from consumption to the UpdateFC being sent"),
      },
      [](const void* link) {
        const auto rate = link_bytes_per_second(*static_cast<const LinkConfig*>(link));
        return fmt::format("{}.{:03} GB/s each way after encoding, before TLP overhead",
                           rate / 1'000'000'000, rate / 1'000'000 % 1'000);
      }};
  return kTable;
}

const Table& chip_table() {
  using C = ChipConfig;
  static const Table kTable{
      "npusim.chip/1",
      "one card; chip files also have `system`, the system file for a chip file given alone, and "
      "may have `base`, a chip file that gives what they leave out, key by key",
      {
          keys::make("name", KeyType::kName, &C::name, "what reports call the chip"),
          number("ai_cores", &C::ai_cores, 1, 256,
                 "AI Cores, register AI_CORE_COUNT; of split ones clusters, at most 85"),
          number("aicpus", &C::aicpus, 0, 64, "cores that run AICPU kernels"),
          number("streams", &C::streams, 1, 1024, "stream windows in reserved HBM"),
          number("events", &C::events, 1, 65'536, "event registers; BAR0 has room for 2048"),
          section("pci", &C::pci, pci_table()),
          section("link", &C::link, link_table()),
          section("endpoint", &C::endpoint, endpoint_table()),
          section("dma", &C::dma, dma_table()),
          section("mmu", &C::mmu, mmu_table()),
          section("l2", &C::l2, l2_table()),
          section("command", &C::command, command_table()),
          section("aicore", &C::aicore, core_table()),
          section("aicpu", &C::aicpu, core_table()),
          section("core", &C::core, program_core_table(), KeyType::kFile),
          section("aicpu_core", &C::aicpu_core, aicpu_program_table()),
          section("hbm", &C::hbm, hbm_table()),
          section("hccs", &C::hccs, hccs_table()),
          section("virtual_functions", &C::virtual_functions, virtual_function_table(),
                  KeyType::kFile),
      }};
  return kTable;
}

}  // namespace npu::model
