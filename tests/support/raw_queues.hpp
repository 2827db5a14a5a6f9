// SPDX-License-Identifier: Apache-2.0
// Compute queues driven through the platform and the ABI alone: one process (PASID 77, doorbell
// page 1), everything of its queues in host memory.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <optional>

#include "npu/abi/pci.hpp"
#include "npu/abi/queue.hpp"
#include "npu/abi/registers.hpp"
#include "npu/platform/platform.hpp"
#include "tests/support/matchers.hpp"

namespace npu::test {

class RawQueues {
 public:
  static constexpr std::uint32_t kPasid = 77, kPage = 1;
  static constexpr std::uint8_t kVmid = 9;
  static constexpr Bytes kShare = 64_KiB;  // ring, at 32 KiB completions, at 48 KiB indices

  RawQueues(platform::Platform& host, platform::Bdf bdf) : host_(host), bdf_(bdf) {
    auto& config = host.pci();
    config.write16(
        bdf, abi::pci::kCommand,
        static_cast<std::uint16_t>(config.read16(bdf, abi::pci::kCommand) |
                                   abi::pci::kCommandMemory | abi::pci::kCommandBusMaster));
    const auto uncached = platform::Caching::kUncached;
    registers = must(host.map_bar(bdf_, abi::kRegisterBar, 0, 4096, uncached));
    const auto doorbells = platform::read_register<abi::DoorbellBase>(*registers).raw;
    page = must(host.map_bar(bdf_, abi::kMemoryBar, doorbells + 4096 * kPage, 4096, uncached));
    descriptors_at_ = doorbells - abi::kReservedDoorbellOffset + abi::kReservedQueueOffset;
    descriptors = must(host.map_bar(bdf_, abi::kMemoryBar, descriptors_at_, 64_KiB, uncached));
    management_ = must(host.allocate_dma(bdf_, 64_KiB, 4096, kBoth));
    log = must(host.allocate_dma(bdf_, 4096, 4096, kBoth));
    using Control = abi::ManagementControl;
    write(abi::QueueFaultBase::from_raw(log->bus().value));
    write(abi::QueueFaultControl{}.set<abi::QueueFaultControl::Log2Records>(6));
    write(abi::ManagementBase::from_raw(management_->bus().value));
    write(
        Control{}.set<Control::Enable>(1).set<Control::HostMemory>(1).set<Control::Log2Entries>(6));
    abi::ManagementCommand map;
    map.opcode = static_cast<std::uint8_t>(abi::ManagementOpcode::kMapProcess);
    map.pasid = kPasid, map.vmid = kVmid, map.page = kPage;
    EXPECT_EQ(manage(map), abi::ManagementStatus::kSuccess);
  }

  // Memory that only requests without a PASID reach.
  std::unique_ptr<platform::DmaMemory> foreign_memory(Bytes size) {
    return must(host_.allocate_dma(bdf_, size, 4096, kBoth));
  }
  // Memory of the process. Null: this platform does not tell processes apart.
  std::unique_ptr<platform::DmaMemory> process_memory(Bytes size) {
    auto memory = foreign_memory(size);
    const auto bound = host_.bind_pasid(*memory, kPasid);
    if (bound) return memory;
    EXPECT_EQ(bound.error().code, ErrorCode::kUnsupported);
    return nullptr;
  }

  abi::ManagementStatus manage(abi::ManagementCommand command) {
    constexpr Bytes kFence = 32_KiB;
    command.fence_address = management_->bus().value + kFence;
    command.fence_value = managed_ + 1;
    std::memcpy(management_->cpu().data + 64 * (managed_++ % 64), &command, sizeof command);
    host_.write_barrier();
    write(abi::ManagementDoorbell::from_raw(managed_));
    const auto deadline = host_.clock().now() + 1_s;
    while (management_->load<std::uint64_t>(kFence) != managed_) {
      if (host_.clock().now() > deadline) {
        ADD_FAILURE() << "no response";
        break;
      }
      host_.clock().relax(management_->cpu().subspan(kFence, 16), deadline);
    }
    return static_cast<abi::ManagementStatus>(management_->load<std::uint32_t>(kFence + 8));
  }

  // A queue in `memory` (kShare bytes).
  void add(std::uint32_t id, const platform::DmaMemory& memory, unsigned log2 = 8) {
    abi::QueueDescriptor mqd;
    mqd.queue_id = id;
    mqd.doorbell = static_cast<std::uint16_t>(id);
    mqd.pasid = kPasid;
    mqd.vmid = kVmid;
    mqd.flags = abi::kQueueRingHost | abi::kQueueCompletionHost | abi::kQueueIndexHost;
    mqd.log2_ring = mqd.log2_completions = static_cast<std::uint8_t>(log2);
    mqd.ring_base = memory.bus().value;
    mqd.completion_base = memory.bus().value + 32_KiB;
    std::array<std::uint64_t, sizeof mqd / 8> words{};
    std::memcpy(words.data(), &mqd, sizeof mqd);
    for (std::size_t i = 0; i < words.size(); ++i) {
      descriptors->write64(256 * id + 8 * i, words[i]);
    }
    abi::ManagementCommand command;
    command.opcode = static_cast<std::uint8_t>(abi::ManagementOpcode::kAddQueue);
    command.queue = id;
    command.address = descriptors_at_ + 256 * id;
    EXPECT_EQ(manage(command), abi::ManagementStatus::kSuccess);
  }

  static abi::QueueEntry nop(std::uint32_t tag) {
    abi::QueueEntry entry;
    entry.opcode = static_cast<std::uint8_t>(abi::QueueOpcode::kNop);
    entry.flags = abi::kEntryCompletion;
    entry.tag = tag;
    return entry;
  }
  void push(const platform::DmaMemory& memory, std::uint64_t index, const abi::QueueEntry& entry,
            unsigned log2 = 8) {
    const auto place = index & ((std::uint64_t{1} << log2) - 1);
    std::memcpy(memory.cpu().data + 64 * place, &entry, sizeof entry);
  }
  void ring(std::uint32_t id, std::uint64_t index) {
    host_.write_barrier();
    page->write64(8 * id, index);
  }
  // Polls for completion `number`; its status, or nothing at the deadline.
  std::optional<std::uint16_t> wait(const platform::DmaMemory& memory, std::uint64_t number,
                                    unsigned log2 = 8) {
    const auto place = 32_KiB + 16 * (number & ((std::uint64_t{1} << log2) - 1));
    const auto deadline = host_.clock().now() + 1_s;
    while (memory.load<std::uint16_t>(place + 14) != abi::completion_phase(number, log2)) {
      if (host_.clock().now() > deadline) return std::nullopt;
      host_.clock().relax(memory.cpu().subspan(place, 16), deadline);
    }
    return memory.load<std::uint16_t>(place + 12);
  }

  template <class R>
  void write(R value) {
    platform::write_register(*registers, value);
  }

 private:
  static constexpr auto kBoth = platform::DmaDirection::kBidirectional;
  platform::Platform& host_;

 public:
  std::unique_ptr<platform::MmioRegion> registers, page, descriptors;
  std::unique_ptr<platform::DmaMemory> log;

 private:
  platform::Bdf bdf_;
  std::uint64_t descriptors_at_ = 0;
  std::unique_ptr<platform::DmaMemory> management_;
  std::uint32_t managed_ = 0;
};

}  // namespace npu::test
