// SPDX-License-Identifier: Apache-2.0
// What of a card its functions have, as the physical function's driver sees and changes it, in the
// global page of BAR0 (registers.hpp). A virtual function has a partition of cores, memory, AICPUs
// and media units that it owns, or it is a member of a group whose members take turns on the
// group's cores. On a virtual function only PARTITION_CAPABILITY says something; commands are
// refused.
//
// A command is written to PARTITION_COMMAND behind the registers that it reads, and done when
// PARTITION_STATUS.Busy is 0; one that is written meanwhile is ignored. A command that fails
// changes nothing. Source: virtualisation.md V1..V3; the registers are npusim's own.
#pragma once

#include <cstdint>
#include <string_view>

#include "npu/abi/register.hpp"

namespace npu::abi {

inline constexpr unsigned kPartitionGroups = 4;           // virtualisation.md V1
inline constexpr std::uint32_t kNoPartitionGroup = 0xFF;  // the function owns its cores
inline constexpr unsigned kPartitionNameBytes = 16;  // of a template, without a final zero byte

enum class PartitionOperation : std::uint32_t {
  kCreate = 1,         // virtual function Index gets what the registers say
  kDestroy = 2,        // what it has goes back to the physical function, its memory is scrubbed
  kReadPartition = 3,  // the registers say what it has; PARTITION_CORES.Count 0: nothing
  kReadTemplate = 4,   // the registers say what template Index is
  kReadTotals = 5,     // ... what there is on the card in all; PARTITION_MEMORY_BASE is 0
};

enum class PartitionStatus : std::uint32_t {
  kSuccess = 0,
  kOperation = 1,     // there is no such operation, or this function may not
  kIndex = 2,         // no such virtual function or template
  kPresent = 3,       // the function has a partition
  kAbsent = 4,        // the function has none
  kFunctionBusy = 5,  // its driver has it open: processes, or a DMA queue that is enabled
  kCores = 6,         // not on the card, not free, or none
  kCoresBusy = 7,     // something runs on one of them
  kAicpus = 8,        // as kCores
  kAicpusBusy = 9,
  kMemory = 10,  // not in whole pages, too little for a driver, not on the card, or not free
  kMedia = 11,   // more than are left
  kGroup = 12,   // no such group, or its other members have other cores
  kToken = 13,   // token above its maximum, or 0 of a group
  kWeight = 14,  // 0
};

constexpr std::string_view to_string(PartitionStatus status) {
  switch (status) {
    case PartitionStatus::kSuccess:
      return "success";
    case PartitionStatus::kOperation:
      return "no such operation";
    case PartitionStatus::kIndex:
      return "no such index";
    case PartitionStatus::kPresent:
      return "the function has a partition";
    case PartitionStatus::kAbsent:
      return "the function has no partition";
    case PartitionStatus::kFunctionBusy:
      return "the function is in use";
    case PartitionStatus::kCores:
      return "AI Cores that are not free";
    case PartitionStatus::kCoresBusy:
      return "AI Cores that are running";
    case PartitionStatus::kAicpus:
      return "AICPUs that are not free";
    case PartitionStatus::kAicpusBusy:
      return "AICPUs that are running";
    case PartitionStatus::kMemory:
      return "memory that is not free";
    case PartitionStatus::kMedia:
      return "media units that are not free";
    case PartitionStatus::kGroup:
      return "no such group";
    case PartitionStatus::kToken:
      return "no such token";
    case PartitionStatus::kWeight:
      return "no such weight";
  }
  return "?";
}

struct PartitionCapability
    : Register<PartitionCapability, std::uint32_t, 0x0410, Access::kReadOnly> {
  static constexpr std::string_view kName = "PARTITION_CAPABILITY";
  NPU_FIELD(Functions, 7, 0, "virtual functions that can have partitions; 0 on one of them");
  NPU_FIELD(Templates, 15, 8, "that kReadTemplate knows");
  NPU_FIELD(Function, 31, 24, "this one: 0 physical, n virtual function n - 1");
};
struct PartitionStatusRegister
    : Register<PartitionStatusRegister, std::uint32_t, 0x0414, Access::kReadOnly> {
  static constexpr std::string_view kName = "PARTITION_STATUS";
  NPU_FIELD(Busy, 0, 0, "a command is being executed");
  NPU_FIELD(Code, 15, 8, "PartitionStatus of the last command");
};
struct PartitionCommand : Register<PartitionCommand, std::uint32_t, 0x0418, Access::kReadWrite> {
  static constexpr std::string_view kName = "PARTITION_COMMAND";
  NPU_FIELD(Operation, 7, 0, "PartitionOperation");
  NPU_FIELD(Index, 15, 8, "of the virtual function or the template, from 0");
};
struct PartitionCores : Register<PartitionCores, std::uint32_t, 0x041C, Access::kReadWrite> {
  static constexpr std::string_view kName = "PARTITION_CORES";
  NPU_FIELD(First, 15, 0, "first AI Core, in clusters, as AI_CORE_COUNT counts");
  NPU_FIELD(Count, 31, 16, "how many, in clusters");
};
struct PartitionAicpus : Register<PartitionAicpus, std::uint32_t, 0x0420, Access::kReadWrite> {
  static constexpr std::string_view kName = "PARTITION_AICPUS";
  NPU_FIELD(First, 15, 0, "first AICPU");
  NPU_FIELD(Count, 31, 16, "how many");
};
struct PartitionMemoryBase
    : Register<PartitionMemoryBase, std::uint64_t, 0x0428, Access::kReadWrite> {
  static constexpr std::string_view kName = "PARTITION_MEMORY_BASE";
  NPU_VALUE("bytes",
            "start of the partition in the physical function's memory; whole pages of 2 MiB");
};
struct PartitionMemorySize
    : Register<PartitionMemorySize, std::uint64_t, 0x0430, Access::kReadWrite> {
  static constexpr std::string_view kName = "PARTITION_MEMORY_SIZE";
  NPU_VALUE("bytes", "what is reserved for the card (layout.hpp) included; whole pages of 2 MiB");
};
struct PartitionMedia : Register<PartitionMedia, std::uint64_t, 0x0438, Access::kReadWrite> {
  static constexpr std::string_view kName = "PARTITION_MEDIA";
  NPU_FIELD(Vpc, 7, 0, "VPC units");
  NPU_FIELD(Jpegd, 15, 8, "JPEGD units");
  NPU_FIELD(Jpege, 23, 16, "JPEGE units");
  NPU_FIELD(Venc, 31, 24, "VENC units");
  NPU_FIELD(Vdec, 39, 32, "VDEC units");
};
struct PartitionGroup : Register<PartitionGroup, std::uint32_t, 0x0440, Access::kReadWrite> {
  static constexpr std::string_view kName = "PARTITION_GROUP";
  NPU_FIELD(Group, 7, 0, "0 .. kPartitionGroups - 1, or kNoPartitionGroup");
  NPU_FIELD(Vip, 8, 8, "its turn comes before those of members that are not");
};
// How much of what is shared by all functions it gets where that binds: in proportion; 1..255.
struct PartitionWeights : Register<PartitionWeights, std::uint32_t, 0x0444, Access::kReadWrite> {
  static constexpr std::string_view kName = "PARTITION_WEIGHTS";
  NPU_FIELD(Dma, 7, 0, "partition of the DMA engines, 1 .. 255, in proportion");
  NPU_FIELD(Hbm, 15, 8, "partition of the HBM, 1 .. 255, in proportion");
  NPU_FIELD(Link, 23, 16, "partition of the PCIe link, 1 .. 255, in proportion");
};
// Of a group's member: its part of a round is Token / the sum of the members' tokens, or, while
// others have nothing to run, up to Maximum / the same sum.
struct PartitionTokens : Register<PartitionTokens, std::uint64_t, 0x0448, Access::kReadWrite> {
  static constexpr std::string_view kName = "PARTITION_TOKENS";
  NPU_FIELD(Token, 31, 0, "its own part of a round");
  NPU_FIELD(Maximum, 63, 32, "its part while others have nothing to run");
};
struct PartitionTaskTimeout
    : Register<PartitionTaskTimeout, std::uint32_t, 0x0450, Access::kReadWrite> {
  static constexpr std::string_view kName = "PARTITION_TASK_TIMEOUT";
  NPU_VALUE("us", "that a block of a group's member may run; 0: as long as it likes");
};
struct ShareName0 : Register<ShareName0, std::uint64_t, 0x0458, Access::kReadWrite> {
  static constexpr std::string_view kName = "SHARE_NAME0";
  NPU_VALUE("characters", "of the template's name, the first 8, filled up with zero bytes");
};
struct ShareName1 : Register<ShareName1, std::uint64_t, 0x0460, Access::kReadWrite> {
  static constexpr std::string_view kName = "SHARE_NAME1";
  NPU_VALUE("characters", "of the template's name, the last 8, filled up with zero bytes");
};

}  // namespace npu::abi
