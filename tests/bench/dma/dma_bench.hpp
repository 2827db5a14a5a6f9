// SPDX-License-Identifier: Apache-2.0
// A DMA module with its registers between two stand-in memories.
#pragma once

#include <random>
#include <vector>

#include "model/dma/ring_front_end.hpp"
#include "model/mmu/mmu_context.hpp"
#include "stand_in_memory.hpp"
#include "tests/bench/support/register_host.hpp"
#include "tests/support/on_bench.hpp"
#include "tests/support/page_tables.hpp"

namespace npu::test {

using abi::DmaEntry;
using abi::DmaOpcode;
using abi::FaultCode;
using model::SimTime;

inline constexpr auto kH2d = DmaOpcode::kHostToDevice;
inline constexpr auto kD2h = DmaOpcode::kDeviceToHost;
inline constexpr auto kD2d = DmaOpcode::kDeviceToDevice;

inline constexpr std::uint64_t kUsable = 64_MiB;
inline constexpr std::uint64_t kInstalled = 128_MiB;
inline constexpr std::uint64_t kRing = kUsable;      // device-local
inline constexpr std::uint64_t kRecords = 0x1000;    // bus address of the event records
inline constexpr std::uint64_t kHostBytes = 64_MiB;  // bus addresses 0 .. are mapped

inline model::ChipConfig dma_chip_config() {
  model::ChipConfig config{};
  config.ai_cores = 32;
  config.streams = 64;
  config.events = 256;
  config.pci.device_id = 0xD110;
  config.link.max_read_request = 512;
  config.hbm.usable = kUsable;
  config.hbm.installed = kInstalled;
  config.dma.engines = 4;
  config.dma.fetch_batch = 16;
  config.dma.engine_queue_depth = 4;
  config.dma.doorbell_decode = 20_ns;
  config.dma.descriptor_decode = 15_ns;
  config.dma.engine_setup = 40_ns;
  config.dma.completion_processing = 25_ns;
  config.dma.max_outstanding_reads = 8;
  config.dma.device_chunk = 1_KiB;
  config.dma.buffer = 64_KiB;
  config.mmu.tlb_entries = 64;
  config.mmu.tlb_ways = 4;
  config.mmu.walk_cache_entries = 0;
  config.mmu.walkers = 2;
  config.mmu.walk_step = 5_ns;
  config.mmu.invalidate = 50_ns;
  return config;
}

// An MMU and the memory its walker reads.
struct VirtualMemory {
  static constexpr std::uint64_t kContext = 0x10000, kTables = 0x20000;

  VirtualMemory(model::Simulation& sim, const model::ChipConfig& config,
                model::CardRegisters& registers)
      : mmu("mmu", sim, config, 3, 1), context(registers, mmu), walked("walked", sim, 1_MiB) {
    mmu.walker_socket.bind(walked.socket);
    walked.latency = 100'000;
  }

  model::Mmu mmu;
  model::MmuContext context;
  StandInMemory walked;
  PageTables tables{kContext, kTables, [this](std::uint64_t address, std::uint64_t raw) {
                      std::memcpy(walked.bytes.data() + address, &raw, sizeof raw);
                    }};
};

struct SeenInterrupt {
  SimTime when;
  unsigned vector;
  std::uint64_t cause;
  std::size_t host_requests_before;
};

class DmaBench : public sc_core::sc_module, public RegisterHost, private model::InterruptPort {
 public:
  explicit DmaBench(const model::ChipConfig& chip = dma_chip_config(), bool with_mmu = false,
                    const sc_core::sc_module_name& name = "bench")
      : sc_module(name),
        config(chip),
        registers("registers", sim, config, 3),
        dma("dma", sim, config, 3),
        ring(registers, dma),
        host("host", sim, kHostBytes),
        hbm("hbm", sim, kInstalled) {
    bar0.bind(registers.register_socket);
    dma.host_socket.bind(host.socket);
    if (with_mmu) {
      paging = std::make_unique<VirtualMemory>(sim, config, registers);
      dma.hbm_socket.bind(paging->mmu.client_sockets[0]);
      paging->mmu.hbm_sockets[0].bind(hbm.socket);
    } else {
      dma.hbm_socket.bind(hbm.socket);
    }
    registers.connect(*this);
    host.latency = 500'000;
    host.move_late = true;
    hbm.latency = 100'000;
  }

  abi::EventRecord event(std::uint32_t id) { return registers.events().at(id); }
  abi::EventRecord event_record(std::uint32_t id) const {
    abi::EventRecord record;
    std::memcpy(&record.raw, host.bytes.data() + kRecords + 8 * id, 8);
    return record;
  }

  void enable_stream(unsigned stream, unsigned vector = 0, unsigned vmid = 0) {
    const auto offset = stream * abi::kStreamWindowSize;
    write_word(offset + abi::StreamVmid::kOffset, vmid);
    const auto control = abi::StreamControl{}.set<abi::StreamControl::Enable>(1);
    write_word(offset + abi::StreamControl::kOffset, control.raw);
    write_word(offset + abi::StreamVector::kOffset, vector);
  }
  // Enables the queue and the streams 0 .. streams - 1, vector = stream + 1.
  void enable(unsigned streams = 4, bool host_ring = false) {
    run(1_ps);
    in_host_ = host_ring;
    for (unsigned i = 0; i < streams; ++i) enable_stream(i, i + 1);
    ring_base = host_ring ? kHostBytes - 1_MiB : kRing;
    write(abi::DmaQueueBase::from_raw(ring_base));
    write(abi::EventRecordBase::from_raw(kRecords));
    enable_queue();
  }
  void enable_queue() {
    producer = 0;
    write(abi::DmaQueueControl{}
              .set<abi::DmaQueueControl::Enable>(1)
              .set<abi::DmaQueueControl::HostMemory>(in_host_ ? 1 : 0));
  }
  void push(const DmaEntry& entry) {
    auto& memory = in_host_ ? host.bytes : hbm.bytes;
    std::memcpy(memory.data() + ring_base + 32 * producer, &entry, sizeof entry);
    producer = (producer + 1) % abi::kRingEntries;
  }
  void ring_doorbell() { write(abi::DmaDoorbell::from_raw(producer)); }
  void submit(const DmaEntry& entry) {
    push(entry);
    ring_doorbell();
  }
  void fill_random(const LazyBytes& memory, std::uint64_t begin, std::uint64_t length) {
    for (std::uint64_t i = 0; i < length; ++i) {
      memory[begin + i] = static_cast<unsigned char>(random() >> 24);
    }
  }

  const model::ChipConfig config;
  model::CardRegisters registers;
  model::Dma dma;
  model::RingFrontEnd ring;
  StandInMemory host, hbm;
  std::unique_ptr<VirtualMemory> paging;
  std::vector<SeenInterrupt> interrupts;
  std::mt19937 random{42};
  std::uint64_t ring_base = kRing;
  std::uint32_t producer = 0;

 private:
  void raise(unsigned, unsigned vector, std::uint64_t cause) override {
    interrupts.push_back({model::sim_now(), vector, cause, host.seen.size()});
  }
  void write_word(std::uint64_t offset, std::uint32_t value) {
    unsigned char raw[4];
    std::memcpy(raw, &value, 4);
    registers.streams().host_write(offset, raw, 4);
  }
  bool in_host_ = false;
};

inline DmaEntry make_entry(DmaOpcode opcode, std::uint64_t source, std::uint64_t destination,
                           std::uint64_t size, unsigned stream = 0,
                           std::uint32_t event = abi::kNoEvent, bool interrupt = false) {
  DmaEntry entry;
  entry.opcode = static_cast<std::uint8_t>(opcode);
  entry.flags = interrupt ? abi::kDmaFlagInterrupt : std::uint8_t{0};
  entry.stream = static_cast<std::uint16_t>(stream);
  entry.event = event;
  entry.set_source(source);
  entry.set_destination(destination);
  entry.set_size(size);
  return entry;
}

}  // namespace npu::test
