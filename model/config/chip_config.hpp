// SPDX-License-Identifier: Apache-2.0
// The typed configuration of one card. Every field is filled from YAML (configs/README.md lists
// key, unit, range and source); nothing here has a default, so no number hides in the code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/config/aicpu_config.hpp"
#include "model/config/command_config.hpp"
#include "model/config/hbm_timings.hpp"
#include "model/config/l2_config.hpp"
#include "model/config/partition.hpp"
#include "model/config/program_core_config.hpp"
#include "model/config/virtual_function_config.hpp"
#include "npu/base/units.hpp"

namespace npu::model {

// Identity and PCI configuration space.
struct PciFunctionConfig {
  std::uint16_t device_id;
  std::uint16_t subsystem_vendor_id;
  std::uint16_t subsystem_id;
  std::uint8_t revision;
  std::uint64_t serial_number;  // Device Serial Number capability
  Bytes bar0_size;              // register window; power of two
  Bytes bar2_size;              // HBM window; power of two
  unsigned msix_vectors;        // 1..256
  unsigned sriov_total_vfs;     // 0: no SR-IOV capability
  std::uint16_t sriov_vf_device_id;
  unsigned sriov_first_vf_offset;
  unsigned sriov_vf_stride;
  Bytes sriov_vf_bar0_size;  // power of two, >= 4 KiB
  Bytes sriov_vf_bar2_size;
};

// One PCI Express link, both directions alike.
struct LinkConfig {
  unsigned generation;        // 1..5
  unsigned lanes;             // 1, 2, 4, 8, 16
  Bytes max_payload;          // MPS: 128..4096
  Bytes max_read_request;     // MRRS: 128..4096
  Bytes tlp_framing;          // per TLP: STP or STP token, sequence number, LCRC, END
  Bytes dllp_per_tlp;         // wire bytes of ACK and UpdateFC DLLPs, averaged per TLP
  Picoseconds propagation;    // transmitter PHY to receiver's transaction layer, one way
  unsigned header_credits;    // posted plus completion headers the receiver buffers
  Bytes data_credits;         // bytes of payload the receiver buffers
  Picoseconds credit_update;  // from consumption to the UpdateFC being sent
};

// The card's side of the link.
struct EndpointConfig {
  Picoseconds ingress;             // transaction layer to register or memory controller port
  Picoseconds egress;              // DMA or MSI-X request to link transmitter
  Picoseconds register_access;     // extra for a register read, before its completion is formed
  Picoseconds completion_timeout;  // for reads the card sends
  Picoseconds flr_time;            // function level reset until configuration answers; < 100 ms
};

struct DmaConfig {
  unsigned engines;                   // 1..16; commands of different streams run in parallel
  unsigned fetch_batch;               // ring entries per fetch, 1..64
  unsigned engine_queue_depth;        // fetched commands an engine holds, 1..64
  Picoseconds doorbell_decode;        // doorbell register to fetch request
  Picoseconds descriptor_decode;      // entry received to dispatched
  Picoseconds engine_setup;           // dispatched to first data request
  Picoseconds completion_processing;  // last data written to event record and MSI-X sent
  unsigned max_outstanding_reads;     // read requests over the link per engine
  Bytes device_chunk;                 // one HBM request of an engine; power of two
  Bytes buffer;                       // per engine: bytes read and not yet written
  // Bytes per second that an engine reads and writes in device memory, together; 0: any number.
  std::uint64_t engine_rate = 0;
  Picoseconds reduce_setup{};  // more than engine_setup before a copy that reduces
};

// Who is to serve page faults of managed memory (PAGE_FAULT_MODE).
enum class PageFaultPolicy {
  kMessage,  // the card's pager, which asks the host's driver for each page
  kBatch,    // the host's driver, from a ring
  kAts,      // nobody: the card uses the host's pages where they are
};

// Translation of device virtual addresses (abi/page_table.hpp).
struct MmuConfig {
  unsigned tlb_entries;         // translations held, of both page sizes; power of two
  unsigned tlb_ways;            // associativity; power of two
  unsigned walk_cache_entries;  // entries that point to tables, held beside the TLB; 0: none
  unsigned walkers;             // walks in flight at once
  Picoseconds walk_step;        // of the walker, beside the read of each entry
  Picoseconds invalidate;       // MMU_INVALIDATE written until cached entries are dropped
  Picoseconds fault;            // a walk that fails until the record of it leaves
  PageFaultPolicy fault_policy;
  unsigned max_page_requests;           // of a function, PRI's capacity
  unsigned max_outstanding_host_reads;  // of the host's pages, up to 4 KiB each
};

// The card's ports to other cards; every link has one of them at each end, both alike but for what
// they send.
struct HccsConfig {
  std::uint64_t rate;            // bytes per second on the wire, each way
  Bytes packet_payload;          // data of one packet
  Bytes packet_overhead;         // header, CRC and flow control of each packet, in wire bytes
  Picoseconds propagation;       // transmitter to the far port's transaction layer, one way
  Picoseconds ingress;           // far port to its memory controller port, each request
  Bytes receive_buffer;          // data of requests that a link's receiver holds, until they end
  Bytes max_outstanding_reads;   // bytes asked for and not yet here, per DMA engine
  Bytes max_outstanding_writes;  // bytes sent and not yet acknowledged, per DMA engine
  Picoseconds command_setup;     // of an engine before the first request of a P2P command
  Picoseconds response_timeout;  // a request without a response has failed
};

enum class HbmPolicy {
  kSplitQueues,  // separate read and write queues, writes drained in batches
  kSharedQueue,  // one queue for both kinds
};

// How closely the DRAM is followed.
enum class HbmFidelity : std::uint8_t {
  kExact,  // every command (hbm/channel_engine.hpp)
  kRun,    // every burst in closed form (hbm/run_planner.hpp)
};

struct HbmConfig {
  Bytes usable;       // what the HBM_SIZE register reports
  Bytes installed;    // >= usable; the rest is reserved for the card
  unsigned channels;  // power of two
  HbmTimings timings;
  HbmFidelity fidelity;
  HbmPolicy policy;
  unsigned read_queue;             // entries per channel
  unsigned write_queue;            // entries per channel (split queues)
  unsigned write_high_percent;     // of write_queue: start draining writes
  unsigned write_low_percent;      // of write_queue: go back to reads
  Bytes interleave;                // consecutive in one pseudo channel; a burst or less: one burst
  unsigned interleave_groups = 1;  // bank groups that the bursts of an interleave take in turn
  bool xor_hash;                   // fold row bits into channel and bank bits
  Picoseconds frontend;            // port to controller queue, each request
  Picoseconds backend;             // data bus to port, each read
};

struct ChipConfig {
  std::string name;  // "910b"
  std::string path;  // file it was read from
  unsigned ai_cores;
  unsigned aicpus;   // cores that run AICPU kernels
  unsigned streams;  // stream windows, 1..1024
  unsigned events;   // 1..2048
  PciFunctionConfig pci;
  LinkConfig link;
  EndpointConfig endpoint;
  DmaConfig dma;
  MmuConfig mmu;
  L2Config l2;
  CommandConfig command;
  CoreConfig aicore;
  CoreConfig aicpu;
  ProgramCoreConfig core;
  AicpuProgramConfig aicpu_core;
  HbmConfig hbm;
  HccsConfig hccs;
  VirtualFunctionConfig virtual_functions;
  std::vector<Partition> partitions;  // of physical ones; empty: one function that has everything

  unsigned physical_functions() const {
    return partitions.empty() ? 1 : static_cast<unsigned>(partitions.size());
  }
  // With a part of the card behind them: physical ones, then virtual ones.
  unsigned functions() const { return physical_functions() + pci.sriov_total_vfs; }
  // At power-up, when virtual functions have nothing.
  Partition partition(unsigned function) const {
    if (function >= physical_functions()) return {};
    if (!partitions.empty()) return partitions[function];
    const unsigned pages = command.slots > 0 ? command.doorbell_pages : 0;
    return {0, hbm.installed, hbm.usable, 0, ai_cores, 0, aicpus, pages, 0, dma.engines, {}, 0, {}};
  }
};

}  // namespace npu::model
