// SPDX-License-Identifier: Apache-2.0
// Registers of the command processor, in the global page of BAR0 (registers.hpp). Process' own
// doorbells are in BAR2 (queue_descriptor.hpp); nothing here is for user space.
#pragma once

#include "npu/abi/layout.hpp"
#include "npu/abi/register.hpp"

namespace npu::abi {

struct QueueCapability : Register<QueueCapability, std::uint32_t, 0x0300, Access::kReadOnly> {
  static constexpr std::string_view kName = "QUEUE_CAPABILITY";
  using Slots = Field<15, 0>;           // hardware queue slots; 0: no command processor
  using DoorbellPages = Field<31, 16>;  // processes that may have one
};
struct QueueCores : Register<QueueCores, std::uint32_t, 0x0304, Access::kReadOnly> {
  static constexpr std::string_view kName = "QUEUE_CORES";
  using AiCores = Field<15, 0>;  // bits of a core mask that mean something
  using Aicpus = Field<31, 16>;
};
// Offset in BAR2 of doorbell page 0.
struct DoorbellBase : Register<DoorbellBase, std::uint64_t, 0x0308, Access::kReadOnly> {
  static constexpr std::string_view kName = "DOORBELL_BASE";
};
// Address of management command 0, 4 KiB aligned. Device-local, or a bus address (HostMemory).
struct ManagementBase : Register<ManagementBase, std::uint64_t, 0x0310, Access::kReadWrite> {
  static constexpr std::string_view kName = "MANAGEMENT_BASE";
};
// Writing Enable = 1 latches base, memory and size, zeroes both indices and clears Halted.
// Processes and queues stay as they are; a function reset is what removes them all.
struct ManagementControl : Register<ManagementControl, std::uint32_t, 0x0318, Access::kReadWrite> {
  static constexpr std::string_view kName = "MANAGEMENT_CONTROL";
  using Enable = Field<0, 0>;
  using HostMemory = Field<1, 1>;
  using Log2Entries = Field<11, 8>;  // of the ring, 2 .. 12
};
struct ManagementStatusRegister
    : Register<ManagementStatusRegister, std::uint32_t, 0x031C, Access::kReadOnly> {
  static constexpr std::string_view kName = "MANAGEMENT_STATUS";
  using Enabled = Field<0, 0>;
  using Idle = Field<1, 1>;    // no command is fetched or executed
  using Halted = Field<2, 2>;  // an unreadable ring, or a doorbell beyond it
};
// Commands ever written since Enable, modulo 2^32. Writing it is the doorbell.
struct ManagementDoorbell
    : Register<ManagementDoorbell, std::uint32_t, 0x0320, Access::kReadWrite> {
  static constexpr std::string_view kName = "MANAGEMENT_DOORBELL";
};
// Commands done since Enable, modulo 2^32.
struct ManagementConsumer : Register<ManagementConsumer, std::uint32_t, 0x0324, Access::kReadOnly> {
  static constexpr std::string_view kName = "MANAGEMENT_CONSUMER";
};
// Bus address of the log of queue faults, 4 KiB aligned; 0: none is kept.
struct QueueFaultBase : Register<QueueFaultBase, std::uint64_t, 0x0328, Access::kReadWrite> {
  static constexpr std::string_view kName = "QUEUE_FAULT_BASE";
};
struct QueueFaultControl : Register<QueueFaultControl, std::uint32_t, 0x0330, Access::kReadWrite> {
  static constexpr std::string_view kName = "QUEUE_FAULT_CONTROL";
  using Log2Records = Field<3, 0>;  // records of the log
  using Vector = Field<31, 16>;     // MSI-X of faults that are no process'
};
// Queue faults since reset.
struct QueueFaultCount : Register<QueueFaultCount, std::uint32_t, 0x0334, Access::kReadOnly> {
  static constexpr std::string_view kName = "QUEUE_FAULT_COUNT";
};
// How the AI Cores of a core mask belong together: bit i is the cube core of cluster i, bits
// Clusters + VectorCores i and behind are its vector cores.
struct CoreTopology : Register<CoreTopology, std::uint32_t, 0x0338, Access::kReadOnly> {
  static constexpr std::string_view kName = "CORE_TOPOLOGY";
  using Clusters = Field<15, 0>;
  using VectorCores = Field<23, 16>;  // per cluster; 0: coupled cores
};

}  // namespace npu::abi
