// SPDX-License-Identifier: Apache-2.0
// What of a card its functions have, as the physical function's driver sees and changes it, in the
// global page of BAR0 (registers.hpp). A virtual function has shares of cores, memory, AICPUs and
// media units that it owns, or it is a member of a group whose members take turns on the group's
// cores. On a virtual function only SHARE_CAPABILITY says something; commands are refused.
//
// A command is written to SHARE_COMMAND behind the registers that it reads, and done when
// SHARE_STATUS.Busy is 0; one that is written meanwhile is ignored. A command that fails changes
// nothing.
// Source: virtualisation.md V1..V3; the registers are npusim's own.
#pragma once

#include <cstdint>
#include <string_view>

#include "npu/abi/register.hpp"

namespace npu::abi {

inline constexpr unsigned kShareGroups = 4;           // virtualisation.md V1
inline constexpr std::uint32_t kNoShareGroup = 0xFF;  // the function owns its cores
inline constexpr unsigned kShareNameBytes = 16;       // of a template, without a final zero byte

enum class ShareOperation : std::uint32_t {
  kCreate = 1,        // virtual function Index gets what the registers say
  kDestroy = 2,       // what it has goes back to the physical function, its memory is scrubbed
  kReadShare = 3,     // the registers say what it has; SHARE_CORES.Count 0: nothing
  kReadTemplate = 4,  // the registers say what template Index is
  kReadTotals = 5,    // ... what there is on the card in all; SHARE_MEMORY_BASE is 0
};

enum class ShareStatus : std::uint32_t {
  kSuccess = 0,
  kOperation = 1,     // there is no such operation, or this function may not
  kIndex = 2,         // no such virtual function or template
  kPresent = 3,       // the function has a share
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

constexpr std::string_view to_string(ShareStatus status) {
  switch (status) {
    case ShareStatus::kSuccess:
      return "success";
    case ShareStatus::kOperation:
      return "no such operation";
    case ShareStatus::kIndex:
      return "no such index";
    case ShareStatus::kPresent:
      return "the function has a share";
    case ShareStatus::kAbsent:
      return "the function has no share";
    case ShareStatus::kFunctionBusy:
      return "the function is in use";
    case ShareStatus::kCores:
      return "AI Cores that are not free";
    case ShareStatus::kCoresBusy:
      return "AI Cores that are running";
    case ShareStatus::kAicpus:
      return "AICPUs that are not free";
    case ShareStatus::kAicpusBusy:
      return "AICPUs that are running";
    case ShareStatus::kMemory:
      return "memory that is not free";
    case ShareStatus::kMedia:
      return "media units that are not free";
    case ShareStatus::kGroup:
      return "no such group";
    case ShareStatus::kToken:
      return "no such token";
    case ShareStatus::kWeight:
      return "no such weight";
  }
  return "?";
}

struct ShareCapability : Register<ShareCapability, std::uint32_t, 0x0410, Access::kReadOnly> {
  static constexpr std::string_view kName = "SHARE_CAPABILITY";
  NPU_FIELD(Functions, 7, 0, "virtual functions that can have shares; 0 on one of them");
  NPU_FIELD(Templates, 15, 8, "that kReadTemplate knows");
  NPU_FIELD(Function, 31, 24, "this one: 0 physical, n virtual function n - 1");
};
struct ShareStatusRegister
    : Register<ShareStatusRegister, std::uint32_t, 0x0414, Access::kReadOnly> {
  static constexpr std::string_view kName = "SHARE_STATUS";
  NPU_FIELD(Busy, 0, 0, "a command is being executed");
  NPU_FIELD(Code, 15, 8, "ShareStatus of the last command");
};
struct ShareCommand : Register<ShareCommand, std::uint32_t, 0x0418, Access::kReadWrite> {
  static constexpr std::string_view kName = "SHARE_COMMAND";
  NPU_FIELD(Operation, 7, 0, "ShareOperation");
  NPU_FIELD(Index, 15, 8, "of the virtual function or the template, from 0");
};
struct ShareCores : Register<ShareCores, std::uint32_t, 0x041C, Access::kReadWrite> {
  static constexpr std::string_view kName = "SHARE_CORES";
  NPU_FIELD(First, 15, 0, "first AI Core, in clusters, as AI_CORE_COUNT counts");
  NPU_FIELD(Count, 31, 16, "how many, in clusters");
};
struct ShareAicpus : Register<ShareAicpus, std::uint32_t, 0x0420, Access::kReadWrite> {
  static constexpr std::string_view kName = "SHARE_AICPUS";
  NPU_FIELD(First, 15, 0, "first AICPU");
  NPU_FIELD(Count, 31, 16, "how many");
};
struct ShareMemoryBase : Register<ShareMemoryBase, std::uint64_t, 0x0428, Access::kReadWrite> {
  static constexpr std::string_view kName = "SHARE_MEMORY_BASE";
  NPU_VALUE("bytes", "start of the share in the physical function's memory; whole pages of 2 MiB");
};
struct ShareMemorySize : Register<ShareMemorySize, std::uint64_t, 0x0430, Access::kReadWrite> {
  static constexpr std::string_view kName = "SHARE_MEMORY_SIZE";
  NPU_VALUE("bytes", "what is reserved for the card (layout.hpp) included; whole pages of 2 MiB");
};
struct ShareMedia : Register<ShareMedia, std::uint64_t, 0x0438, Access::kReadWrite> {
  static constexpr std::string_view kName = "SHARE_MEDIA";
  NPU_FIELD(Vpc, 7, 0, "VPC units");
  NPU_FIELD(Jpegd, 15, 8, "JPEGD units");
  NPU_FIELD(Jpege, 23, 16, "JPEGE units");
  NPU_FIELD(Venc, 31, 24, "VENC units");
  NPU_FIELD(Vdec, 39, 32, "VDEC units");
};
struct ShareGroup : Register<ShareGroup, std::uint32_t, 0x0440, Access::kReadWrite> {
  static constexpr std::string_view kName = "SHARE_GROUP";
  NPU_FIELD(Group, 7, 0, "0 .. kShareGroups - 1, or kNoShareGroup");
  NPU_FIELD(Vip, 8, 8, "its turn comes before those of members that are not");
};
// How much of what is shared by all functions it gets where that binds: in proportion; 1..255.
struct ShareWeights : Register<ShareWeights, std::uint32_t, 0x0444, Access::kReadWrite> {
  static constexpr std::string_view kName = "SHARE_WEIGHTS";
  NPU_FIELD(Dma, 7, 0, "share of the DMA engines, 1 .. 255, in proportion");
  NPU_FIELD(Hbm, 15, 8, "share of the HBM, 1 .. 255, in proportion");
  NPU_FIELD(Link, 23, 16, "share of the PCIe link, 1 .. 255, in proportion");
};
// Of a group's member: its part of a round is Token / the sum of the members' tokens, or, while
// others have nothing to run, up to Maximum / the same sum.
struct ShareTokens : Register<ShareTokens, std::uint64_t, 0x0448, Access::kReadWrite> {
  static constexpr std::string_view kName = "SHARE_TOKENS";
  NPU_FIELD(Token, 31, 0, "its own part of a round");
  NPU_FIELD(Maximum, 63, 32, "its part while others have nothing to run");
};
struct ShareTaskTimeout : Register<ShareTaskTimeout, std::uint32_t, 0x0450, Access::kReadWrite> {
  static constexpr std::string_view kName = "SHARE_TASK_TIMEOUT";
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
