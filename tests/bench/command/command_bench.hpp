// SPDX-License-Identifier: Apache-2.0
// A command processor with DMA engines, an MMU and cores between two stand-in memories, and what a
// driver and its processes do about it.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <array>
#include <map>
#include <optional>
#include <vector>

#include "model/aicore/programs.hpp"
#include "model/aicpu/aicpu_programs.hpp"
#include "model/command/command_processor.hpp"
#include "model/dma/dma.hpp"
#include "model/mmu/mmu_context.hpp"
#include "npu/platform/aicore_port.hpp"
#include "port_memory.hpp"
#include "tests/bench/aicore/core_config.hpp"
#include "tests/bench/support/register_host.hpp"
#include "tests/support/on_bench.hpp"
#include "tests/support/page_tables.hpp"

namespace npu::test {

using abi::FaultCode;
using abi::QueueEntry;
using abi::QueueOpcode;
using model::SimTime;

inline constexpr Bytes kUsable = 256_MiB, kInstalled = 384_MiB;
inline constexpr Bytes kHostBytes = 64_MiB;
// Whose socket of the device memory is which. Prefetches go to the L2's.
enum DevicePort {
  kDmaPort,
  kCommandPort,
  kAiCorePort,
  kAicpuPort,
  kPrefetchPort,
  kWalkerPort,
  kDevicePorts
};

// Device memory: process p has [p, p + 1) * 8 MiB, at kVirtual of its own address space.
inline constexpr Bytes kShare = 8_MiB;
inline constexpr std::uint64_t kVirtual = 0x4000'0000;
inline constexpr Bytes kSignals = 4_MiB, kData = 5_MiB;  // of a process' share
inline constexpr Bytes kArguments = kData + 2_MiB;
// Programs in each partition: what kernel, and for AICPUs.
inline constexpr Bytes kSpin = kArguments + 256_KiB, kElementwise = kSpin + 128_KiB;
inline constexpr Bytes kNoteThread = kElementwise + 128_KiB;
// Host memory: the driver's own, and for process p [p, p + 1) * 2 MiB.
inline constexpr std::uint64_t kManagementRing = 0x1000, kFence = 0x3000, kFaultLog = 0x4000;
inline constexpr Bytes kHostShare = 2_MiB;
inline constexpr std::uint64_t kDescriptors = kUsable + abi::kReservedQueueOffset;
inline constexpr std::uint64_t kSaveAreas = kDescriptors + 2_MiB;

inline model::CoreConfig launch_config() {
  model::CoreConfig core{};
  core.clock_hz = 1'000'000'000;
  core.dispatch = 100_ns;
  core.init = 50_ns;
  core.software_init = 200_ns;
  core.report = 100_ns;
  return core;
}

inline model::ChipConfig command_chip_config() {
  model::ChipConfig config{};
  config.ai_cores = 8;
  config.aicpus = 2;
  config.streams = 4;
  config.events = 16;
  config.pci.device_id = 0xD110;
  config.pci.msix_vectors = 64;
  config.link.max_read_request = 512;
  config.hbm.usable = kUsable;
  config.hbm.installed = kInstalled;
  config.dma = {4, 16, 4, 20_ns, 15_ns, 40_ns, 25_ns, 8, 1_KiB, 64_KiB};
  config.mmu = {64, 4, 16, 2, 5_ns, 50_ns, 100_ns, model::PageFaultPolicy::kMessage, 8, 16};
  config.command.slots = 4;
  config.command.doorbell_pages = 16;
  config.command.fetch_depth = 8;
  config.command.window = 16;
  config.command.quantum = 10_us;
  config.command.doorbell_decode = 20_ns;
  config.command.decode = 15_ns;
  config.command.completion_processing = 25_ns;
  config.command.management = 100_ns;
  config.command.drain_timeout = 100_us;
  config.aicore = config.aicpu = launch_config();
  config.core = core_config(model::ProgramCoreKind::kCoupled);
  config.aicpu_core.counter_hz = 1'000'000'000;
  config.aicpu_core.ipc_percent = 100;
  config.aicpu_core.l1 = 4096;
  config.aicpu_core.l1_ways = 4;
  config.aicpu_core.store_buffer = 24;
  config.aicpu_core.fetch = 4096;
  return config;
}

// How a test's queue is made; everything else follows from process and number.
struct QueueSpec {
  unsigned process = 1;
  unsigned log2_ring = 6;
  bool host = true;  // rings, indices, signals
  std::uint8_t priority = 7;
  std::uint32_t quantum_us = 0;
  std::uint16_t flags = 0;
  bool save_area = true;
  std::uint64_t core_mask = ~std::uint64_t{0};
};

struct TestQueue {
  std::uint32_t id = 0;
  QueueSpec spec;
  abi::QueueDescriptor mqd;
  std::uint64_t written = 0;  // entries
  std::uint64_t read = 0;     // completion entries
};

class CommandBench : public sc_core::sc_module, public RegisterHost, private model::InterruptPort {
 public:
  explicit CommandBench(const model::ChipConfig& chip = command_chip_config(),
                        const sc_core::sc_module_name& name = "bench");

  // --- the driver
  void enable();  // the logs and rings of the card; done by all below
  abi::ManagementResponse manage(abi::ManagementCommand command, Picoseconds time = 20_us);
  void post(abi::ManagementCommand command);  // without waiting
  abi::ManagementResponse response() const { return host.load<abi::ManagementResponse>(kFence); }
  bool answered() const { return response().fence_value == fence_; }
  abi::ManagementResponse map_process(unsigned process);
  TestQueue describe(const QueueSpec& spec);
  void write_descriptor(const TestQueue& queue);
  abi::ManagementResponse add(const TestQueue& queue);
  // A process that is mapped, a queue that is added.
  TestQueue make(const QueueSpec& spec = {});
  abi::ManagementResponse on_queue(abi::ManagementOpcode opcode, const TestQueue& queue,
                                   abi::PreemptMode mode = abi::PreemptMode::kDrain,
                                   Picoseconds time = 20_us);
  abi::QueueDescriptor descriptor(const TestQueue& queue) const {
    return device.load<abi::QueueDescriptor>(kDescriptors + 256 * queue.id);
  }
  abi::QueueFaultRecord fault(unsigned number) const {  // from 1 on
    return host.load<abi::QueueFaultRecord>(kFaultLog + 64 * (number - 1));
  }
  std::uint64_t faults() const { return command.statistics().faults; }

  // --- a process
  void push(TestQueue& queue, const QueueEntry& entry);
  void ring(const TestQueue& queue) { doorbell(queue, queue.written); }
  void doorbell(const TestQueue& queue, std::uint64_t value, unsigned length = 8,
                unsigned offset = 0);
  void doorbell(unsigned page, unsigned number, std::uint64_t value, unsigned length = 8,
                unsigned offset = 0);
  void submit(TestQueue& queue, const QueueEntry& entry) {
    push(queue, entry);
    ring(queue);
  }
  // The next completion entry, if it is there.
  std::optional<abi::QueueCompletion> completion(TestQueue& queue);
  std::vector<std::uint32_t> tags(TestQueue& queue);
  std::uint64_t read_index(const TestQueue& queue) const;
  std::uint64_t signal(const TestQueue& queue, unsigned slot) const;
  void set_signal(const TestQueue& queue, unsigned slot, std::uint64_t value);
  // Physical place of `offset` in a process' share.
  static std::uint64_t partition(unsigned process, std::uint64_t offset = 0) {
    return process * kShare + offset;
  }
  static std::uint64_t host_share(unsigned process, std::uint64_t offset = 0) {
    return process * kHostShare + offset;
  }

  std::uint64_t blocks() const {  // done by the AI Cores
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < config.ai_cores; ++i) sum += aicores.statistics(i).blocks;
    return sum;
  }
  unsigned interrupts_of(unsigned vector) const {
    const auto it = interrupts.find(vector);
    return it == interrupts.end() ? 0 : it->second;
  }

  const model::ChipConfig config;
  model::CardRegisters registers;
  model::Dma dma;
  model::CommandProcessor command;
  model::Mmu mmu;
  model::MemoryWatch watch;
  model::AiCorePrograms aicores;
  model::AicpuPrograms aicpus;
  model::MmuContext context;
  model::QueueFrontEnd queues;
  PortMemory device, host;
  PageTables tables;
  tlm_utils::simple_initiator_socket<CommandBench> doorbells{"doorbells"};
  std::map<unsigned, unsigned> interrupts;  // by vector
  tlm::tlm_response_status doorbell_status = tlm::TLM_INCOMPLETE_RESPONSE;

 private:
  void raise(unsigned, unsigned vector, std::uint64_t) override { ++interrupts[vector]; }
  bool iommu_allows(const PortRequest& request) const;

  bool enabled_ = false;
  std::uint32_t managed_ = 0;
  std::uint64_t fence_ = 0;
  std::uint32_t next_queue_ = 0;
  std::map<unsigned, std::uint16_t> next_doorbell_;
};

// --- entries
QueueEntry entry_of(QueueOpcode opcode, std::uint32_t tag,
                    std::uint16_t flags = abi::kEntryCompletion);
template <class Payload>
QueueEntry entry_of(QueueOpcode opcode, std::uint32_t tag, const Payload& payload,
                    std::uint16_t flags = abi::kEntryCompletion) {
  auto entry = entry_of(opcode, tag, flags);
  entry.set(payload);
  return entry;
}
inline QueueEntry nop(std::uint32_t tag, std::uint16_t flags = abi::kEntryCompletion) {
  return entry_of(QueueOpcode::kNop, tag, flags);
}
inline QueueEntry fill(std::uint32_t tag, Bytes offset, Bytes size, std::uint32_t pattern,
                       std::uint16_t flags = abi::kEntryCompletion) {
  return entry_of(QueueOpcode::kFill, tag, abi::FillPayload{kVirtual + offset, size, pattern, 0},
                  flags);
}
// The program at `image`, with arguments at `offset`, of the share both.
inline QueueEntry launch(std::uint32_t tag, Bytes image, std::uint32_t blocks, Bytes offset,
                         std::uint16_t flags = abi::kEntryCompletion) {
  abi::LaunchPayload payload;
  payload.blocks = blocks;
  payload.arguments = kVirtual + offset;
  payload.argument_bytes = 64;
  payload.image = kVirtual + image;
  return entry_of(QueueOpcode::kLaunchAiCore, tag, payload, flags);
}
// Arguments of the elementwise program, `count` elements of 32 bits at device addresses.
inline std::array<std::uint64_t, 6> words_of(platform::VectorOp op, std::uint64_t to,
                                             std::uint64_t a, std::uint64_t b,
                                             std::uint64_t count) {
  const auto type = static_cast<std::uint64_t>(platform::DataType::kFp32);
  return {to, a, b, count, static_cast<std::uint64_t>(op) << 32 | type, 0};
}
inline auto copy_words(std::uint64_t to, std::uint64_t from, std::uint64_t count) {
  return words_of(platform::VectorOp::kCopy, to, from, 0, count);
}
// A kernel that spins `clocks` (1 GHz) in each block; its arguments are in the partition of
// `process`.
inline QueueEntry spin(CommandBench& bench, unsigned process, std::uint32_t tag,
                       std::uint64_t clocks, std::uint32_t blocks,
                       std::uint16_t flags = abi::kEntryCompletion) {
  const Bytes place = kArguments + 64 * (clocks % 1000);
  bench.device.store(bench.partition(process, place), clocks);
  return launch(tag, kSpin, blocks, place, flags);
}
constexpr std::uint32_t value(abi::ManagementStatus status) {
  return static_cast<std::uint32_t>(status);
}

}  // namespace npu::test
