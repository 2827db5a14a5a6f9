// SPDX-License-Identifier: Apache-2.0
// A stream's register window: kStreamWindowSize bytes in BAR2 at
// STREAM_WINDOW_BASE + stream * kStreamWindowSize (requirements.md M4).
#pragma once

#include "npu/abi/layout.hpp"
#include "npu/abi/register.hpp"

namespace npu::abi {

// Commands of a stream whose Enable is 0 complete with kInvalidStream.
struct StreamControl : Register<StreamControl, std::uint32_t, 0x0000, Access::kReadWrite> {
  static constexpr std::string_view kName = "STREAM_CONTROL";
  NPU_FIELD(Enable, 0, 0, "commands of the stream are executed");
};
struct StreamVector : Register<StreamVector, std::uint32_t, 0x0004, Access::kReadWrite> {
  static constexpr std::string_view kName = "STREAM_VECTOR";
  NPU_FIELD(Vector, 15, 0, "MSI-X of the stream's completions");
};
struct StreamStatus : Register<StreamStatus, std::uint32_t, 0x0008, Access::kReadOnly> {
  static constexpr std::string_view kName = "STREAM_STATUS";
  NPU_FIELD(Busy, 0, 0, "a fetched command of this stream is not yet complete");
};
struct StreamFault : Register<StreamFault, std::uint32_t, 0x000C, Access::kReadOnly> {
  static constexpr std::string_view kName = "STREAM_FAULT";
  NPU_VALUE("FaultCode", "of the stream's first failed command; cleared by writing Enable = 1");
};
struct StreamCompleted : Register<StreamCompleted, std::uint64_t, 0x0010, Access::kReadOnly> {
  static constexpr std::string_view kName = "STREAM_COMPLETED";
  NPU_VALUE("commands", "completed since reset, failed ones included");
};
// Address space of the stream's commands (page_table.hpp): their device addresses are virtual ones
// of this VMID. Latched when Enable is written as 1.
struct StreamVmid : Register<StreamVmid, std::uint32_t, 0x0018, Access::kReadWrite> {
  static constexpr std::string_view kName = "STREAM_VMID";
  NPU_FIELD(Vmid, 7, 0, "address space of the stream's commands");
};

using StreamRegisters = RegisterList<StreamControl, StreamVector, StreamStatus, StreamFault,
                                     StreamCompleted, StreamVmid>;

inline constexpr auto kStreamTable = make_table(StreamRegisters{});
static_assert(is_sorted_without_overlap(kStreamTable));

}  // namespace npu::abi
