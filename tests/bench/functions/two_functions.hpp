// SPDX-License-Identifier: Apache-2.0
// A machine with one card whose two functions have half of it each, and a driver of a function on
// the platform and the ABI alone. Both drivers use the same numbers for everything.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <optional>

#include "model/config/load.hpp"
#include "model/system.hpp"
#include "npu/abi/pci.hpp"
#include "npu/abi/queue.hpp"
#include "npu/abi/registers.hpp"
#include "npu/abi/stream.hpp"
#include "npu/base/checked.hpp"
#include "tests/support/folders.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/page_tables.hpp"

namespace npu::test {

inline model::SystemConfig divided_machine() {
  auto system = must(model::load_system(source_dir() + "/configs/910b2.yaml", {}, {}));
  auto& chip = system.cards[0];
  const Bytes half = align_down(chip.hbm.installed / 2, 1_GiB);
  const Bytes usable = half - (chip.hbm.installed - chip.hbm.usable);
  const unsigned clusters = chip.ai_cores / 2, aicpus = chip.aicpus / 2;
  const unsigned pages = chip.command.doorbell_pages / 2, engines = chip.dma.engines / 2;
  chip.partitions = {
      {0, half, usable, 0, clusters, 0, aicpus, pages, 0, engines},
      {half, half, usable, clusters, clusters, aicpus, aicpus, pages, engines, engines}};
  return system;
}

struct TwoFunctions {
  model::System system{divided_machine()};

  const model::ChipConfig& chip() const { return system.config().cards[0]; }
  platform::Bdf bdf(unsigned function) {
    return platform::Bdf::unpack(system.fabric().endpoint(0).requester(function));
  }
  template <class F>
  void run(F body) {
    bool ended = false;
    const Status status = system.run([&](platform::Platform& host) {
      body(host);
      ended = true;
    });
    EXPECT_TRUE(status) << status.error().message();
    EXPECT_TRUE(ended);
  }
};

class FunctionDriver {
 public:
  static constexpr unsigned kVector = 5, kQueueVector = 6, kStream = 3, kEvent = 2;
  static constexpr std::uint32_t kPasid = 77, kPage = 1, kQueue = 4;
  static constexpr std::uint8_t kVmid = 9;
  static constexpr std::uint64_t kVirtual = 0x4000'0000,
                                 kPhysical = 64_MiB;  // 2 MiB of the process
  static constexpr Bytes kCompletions = 32_KiB, kTable = 32_KiB;

  FunctionDriver(platform::Platform& host, platform::Bdf bdf) : host_(host), bdf_(bdf) {
    using namespace abi::pci;
    host.pci().write16(bdf, kCommand, kCommandMemory | kCommandBusMaster);
    vector = must(host.open_vector(bdf, kVector));
    queue_vector = must(host.open_vector(bdf, kQueueVector));
    registers = map(abi::kRegisterBar, 0, abi::kMsixTableOffset);
    memory = map(abi::kMemoryBar, 0, 1_MiB);
    usable = read<abi::HbmSize>().raw;
    doorbells_ = read<abi::DoorbellBase>().raw;
    window_ =
        map(abi::kMemoryBar, read<abi::StreamWindowBase>().raw + kStream * abi::kStreamWindowSize,
            abi::kStreamWindowSize);
    page_ = map(abi::kMemoryBar, doorbells_ + abi::kDoorbellPageSize * kPage, 4096);
    descriptors_ = map(abi::kMemoryBar, usable + abi::kReservedQueueOffset, 4096);
    tables_memory_ = map(abi::kMemoryBar, usable + abi::kReservedContextOffset, 2_MiB);
    ring_ = allocate(Bytes{abi::kRingEntries} * abi::kRingEntrySize);
    records_ = allocate(Bytes{abi::kMaxEvents} * 8);
    management_ = allocate(64_KiB);
    log = allocate(4096);
    data = allocate(64_KiB);
    queue_ = allocate(64_KiB);
    EXPECT_TRUE(host.bind_pasid(*queue_, kPasid));
    start_ring();
    start_queue();
  }

  // 64 bytes by the DMA ring, with an interrupt.
  void copy(abi::DmaOpcode opcode, std::uint64_t source, std::uint64_t destination,
            Bytes size = 64) {
    abi::DmaEntry entry;
    entry.opcode = static_cast<std::uint8_t>(opcode);
    entry.flags = abi::kDmaFlagInterrupt;
    entry.stream = kStream;
    entry.event = kEvent;
    entry.set_source(source);
    entry.set_destination(destination);
    entry.set_size(size);
    std::memcpy(ring_->cpu().data + submitted * abi::kRingEntrySize, &entry, sizeof entry);
    host_.write_barrier();
    platform::write_register(*registers, abi::DmaDoorbell::from_raw(++submitted));
  }
  // Everything that was submitted has ended. False: not before `time` is over.
  bool copied(Picoseconds time = 1_ms) {
    const auto deadline = host_.clock().now() + time;
    while (record().count() != submitted) {
      if (host_.clock().now() > deadline) return false;
      host_.clock().relax(records_->cpu().subspan(8 * kEvent, 8), deadline);
    }
    return true;
  }
  abi::EventRecord record() const {
    return abi::EventRecord{records_->load<std::uint64_t>(8 * kEvent)};
  }

  // Writes `pattern` to `address` of the process; the entry's status.
  std::optional<std::uint16_t> fill(std::uint64_t address, std::uint32_t pattern) {
    push_fill(address, 64, pattern);
    return completed();
  }
  void push_fill(std::uint64_t address, Bytes size, std::uint32_t pattern) {
    abi::QueueEntry entry;
    entry.opcode = static_cast<std::uint8_t>(abi::QueueOpcode::kFill);
    entry.flags = abi::kEntryCompletion | abi::kEntryInterrupt;
    entry.set(abi::FillPayload{address, size, pattern, 0});
    std::memcpy(queue_->cpu().data + 64 * entries_++, &entry, sizeof entry);
    host_.write_barrier();
    page_->write64(8 * kQueue, entries_);
  }
  std::optional<std::uint16_t> completed(Picoseconds time = 1_ms) {
    const auto place = kCompletions + 16 * (entries_ - 1);
    const auto deadline = host_.clock().now() + time;
    while (queue_->load<std::uint16_t>(place + 14) != abi::completion_phase(entries_ - 1, 8)) {
      if (host_.clock().now() > deadline) return std::nullopt;
      host_.clock().relax(queue_->cpu().subspan(place, 16), deadline);
    }
    return queue_->load<std::uint16_t>(place + 12);
  }
  abi::QueueFaultRecord fault() const {
    abi::QueueFaultRecord first;
    std::memcpy(&first, log->cpu().data, sizeof first);
    return first;
  }
  // A page of the process.
  void map_page(std::uint64_t virtual_address, std::uint64_t physical) {
    tables_->map(kVmid, virtual_address, physical);
    host_.write_barrier();
  }
  std::unique_ptr<platform::MmioRegion> map(unsigned bar, Bytes offset, Bytes size) {
    return must(host_.map_bar(bdf_, bar, offset, size, platform::Caching::kUncached));
  }
  template <class R>
  R read() {
    return platform::read_register<R>(*registers);
  }
  template <class R>
  void write(R value) {
    platform::write_register(*registers, value);
  }
  // Also once more, after a reset.
  void start_ring() {
    submitted = 0;
    records_->store<std::uint64_t>(8 * kEvent, 0);
    platform::write_register(*window_, abi::StreamVector::from_raw(kVector));
    platform::write_register(*window_, abi::StreamControl::from_raw(1));
    write(abi::EventRecordBase::from_raw(records_->bus().value));
    write(abi::DmaQueueBase::from_raw(ring_->bus().value));
    write(abi::DmaQueueControl::from_raw(3));  // Enable, HostMemory
  }

 private:
  std::unique_ptr<platform::DmaMemory> allocate(Bytes size) {
    return must(host_.allocate_dma(bdf_, size, 4096, platform::DmaDirection::kBidirectional));
  }
  void manage(abi::ManagementOpcode opcode, abi::ManagementCommand command) {
    command.opcode = static_cast<std::uint8_t>(opcode);
    command.fence_address = management_->bus().value + kTable;
    command.fence_value = ++managed_;
    std::memcpy(management_->cpu().data + 64 * (managed_ - 1), &command, sizeof command);
    host_.write_barrier();
    write(abi::ManagementDoorbell::from_raw(managed_));
    const auto deadline = host_.clock().now() + 1_ms;
    while (management_->load<std::uint64_t>(kTable) != managed_ && host_.clock().now() < deadline) {
      host_.clock().relax(management_->cpu().subspan(kTable, 16), deadline);
    }
    EXPECT_EQ(management_->load<std::uint32_t>(kTable + 8), 0U);
  }
  void start_queue() {
    const auto context = usable + abi::kReservedContextOffset;
    const auto store = [this, context](std::uint64_t address, std::uint64_t raw) {
      tables_memory_->write64(address - context, raw);
    };
    tables_.emplace(context, usable + abi::kReservedTableOffset, store);
    write(abi::MmuContextBase::from_raw(context));
    write(abi::QueueFaultBase::from_raw(log->bus().value));
    write(abi::QueueFaultControl{}.set<abi::QueueFaultControl::Log2Records>(6));
    write(abi::ManagementBase::from_raw(management_->bus().value));
    using Control = abi::ManagementControl;
    write(
        Control{}.set<Control::Enable>(1).set<Control::HostMemory>(1).set<Control::Log2Entries>(6));
    map_page(kVirtual, kPhysical);
    abi::ManagementCommand process;
    process.pasid = kPasid, process.vmid = kVmid, process.page = kPage;
    manage(abi::ManagementOpcode::kMapProcess, process);
    abi::QueueDescriptor mqd;
    mqd.queue_id = mqd.doorbell = kQueue;
    mqd.pasid = kPasid;
    mqd.vmid = kVmid;
    mqd.flags = abi::kQueueRingHost | abi::kQueueCompletionHost | abi::kQueueIndexHost;
    mqd.log2_ring = mqd.log2_completions = 8;
    mqd.vector = kQueueVector;
    mqd.ring_base = queue_->bus().value;
    mqd.completion_base = mqd.ring_base + kCompletions;
    std::array<std::uint64_t, sizeof mqd / 8> words{};
    std::memcpy(words.data(), &mqd, sizeof mqd);
    for (std::size_t i = 0; i < words.size(); ++i) descriptors_->write64(8 * i, words[i]);
    abi::ManagementCommand add;
    add.queue = kQueue;
    add.address = usable + abi::kReservedQueueOffset;
    manage(abi::ManagementOpcode::kAddQueue, add);
  }

  platform::Platform& host_;
  const platform::Bdf bdf_;
  std::uint64_t doorbells_ = 0, entries_ = 0;
  std::uint32_t managed_ = 0;

 public:
  std::unique_ptr<platform::InterruptVector> vector, queue_vector;
  std::unique_ptr<platform::MmioRegion> registers, memory;  // the first MiB
  std::unique_ptr<platform::DmaMemory> log, data;
  std::uint64_t usable = 0;
  std::uint32_t submitted = 0;

 private:
  std::unique_ptr<platform::MmioRegion> window_, page_, descriptors_, tables_memory_;
  std::unique_ptr<platform::DmaMemory> ring_, records_, management_, queue_;
  std::optional<PageTables> tables_;  // they and the context table lie together
};

}  // namespace npu::test
