// SPDX-License-Identifier: Apache-2.0
// Registers of the command processor, in the global page of BAR0 (registers.hpp). Process' own
// doorbells are in BAR2 (queue_descriptor.hpp); nothing here is for user space.
#pragma once

#include "npu/abi/layout.hpp"
#include "npu/abi/register.hpp"

namespace npu::abi {

struct QueueCapability : Register<QueueCapability, std::uint32_t, 0x0300, Access::kReadOnly> {
  static constexpr std::string_view kName = "QUEUE_CAPABILITY";
  NPU_FIELD(Slots, 15, 0, "hardware queue slots; 0: no command processor");
  NPU_FIELD(DoorbellPages, 31, 16, "processes that may have one");
};
struct QueueCores : Register<QueueCores, std::uint32_t, 0x0304, Access::kReadOnly> {
  static constexpr std::string_view kName = "QUEUE_CORES";
  NPU_FIELD(AiCores, 15, 0, "bits of a core mask that mean something");
  NPU_FIELD(Aicpus, 31, 16, "AICPUs that there are");
};
struct DoorbellBase : Register<DoorbellBase, std::uint64_t, 0x0308, Access::kReadOnly> {
  static constexpr std::string_view kName = "DOORBELL_BASE";
  NPU_VALUE("offset in BAR2", "doorbell page 0");
};
struct ManagementBase : Register<ManagementBase, std::uint64_t, 0x0310, Access::kReadWrite> {
  static constexpr std::string_view kName = "MANAGEMENT_BASE";
  NPU_VALUE("address",
            "management command 0, 4 KiB aligned; device-local, or on the bus (HostMemory)");
};
// Writing Enable = 1 latches base, memory and size, zeroes both indices and clears Halted.
// Processes and queues stay as they are; a function reset is what removes them all.
struct ManagementControl : Register<ManagementControl, std::uint32_t, 0x0318, Access::kReadWrite> {
  static constexpr std::string_view kName = "MANAGEMENT_CONTROL";
  NPU_FIELD(Enable, 0, 0, "the ring is read");
  NPU_FIELD(HostMemory, 1, 1, "MANAGEMENT_BASE is a bus address");
  NPU_FIELD(Log2Entries, 11, 8, "log2 of the entries of the ring, 2 .. 12");
};
struct ManagementStatusRegister
    : Register<ManagementStatusRegister, std::uint32_t, 0x031C, Access::kReadOnly> {
  static constexpr std::string_view kName = "MANAGEMENT_STATUS";
  NPU_FIELD(Enabled, 0, 0, "the ring is read");
  NPU_FIELD(Idle, 1, 1, "no command is fetched or executed");
  NPU_FIELD(Halted, 2, 2, "an unreadable ring, or a doorbell beyond it");
};
struct ManagementDoorbell
    : Register<ManagementDoorbell, std::uint32_t, 0x0320, Access::kReadWrite> {
  static constexpr std::string_view kName = "MANAGEMENT_DOORBELL";
  NPU_VALUE("commands", "written since Enable, modulo 2^32; writing it is the doorbell");
};
struct ManagementConsumer : Register<ManagementConsumer, std::uint32_t, 0x0324, Access::kReadOnly> {
  static constexpr std::string_view kName = "MANAGEMENT_CONSUMER";
  NPU_VALUE("commands", "done since Enable, modulo 2^32");
};
struct QueueFaultBase : Register<QueueFaultBase, std::uint64_t, 0x0328, Access::kReadWrite> {
  static constexpr std::string_view kName = "QUEUE_FAULT_BASE";
  NPU_VALUE("bus address", "log of queue faults, 4 KiB aligned; 0: none is kept");
};
struct QueueFaultControl : Register<QueueFaultControl, std::uint32_t, 0x0330, Access::kReadWrite> {
  static constexpr std::string_view kName = "QUEUE_FAULT_CONTROL";
  NPU_FIELD(Log2Records, 3, 0, "log2 of the records of the log");
  NPU_FIELD(Vector, 31, 16, "MSI-X of faults that are no process'");
};
struct QueueFaultCount : Register<QueueFaultCount, std::uint32_t, 0x0334, Access::kReadOnly> {
  static constexpr std::string_view kName = "QUEUE_FAULT_COUNT";
  NPU_VALUE("faults", "queue faults since reset");
};
// How the AI Cores of a core mask belong together: bit i is the cube core of cluster i, bits
// Clusters + VectorCores i and behind are its vector cores.
struct CoreTopology : Register<CoreTopology, std::uint32_t, 0x0338, Access::kReadOnly> {
  static constexpr std::string_view kName = "CORE_TOPOLOGY";
  NPU_FIELD(Clusters, 15, 0, "each is one cube core with its vector cores, or a coupled core");
  NPU_FIELD(VectorCores, 23, 16, "per cluster; 0: coupled cores");
};

}  // namespace npu::abi
