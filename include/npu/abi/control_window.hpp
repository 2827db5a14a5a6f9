// SPDX-License-Identifier: Apache-2.0
// The register window of a control processor (control.hpp) as its program sees it
// (AicpuPort::load_register, window 0): the function's page faults, its translations, and messages.
#pragma once

#include "npu/abi/register.hpp"

namespace npu::abi {

// What there is to do.
struct ControlStatus : Register<ControlStatus, std::uint32_t, 0x0000, Access::kReadOnly> {
  static constexpr std::string_view kName = "CONTROL_STATUS";
  using Faults = Field<7, 0>;          // that have not been taken, at most 255
  using Messages = Field<15, 8>;       // of the host
  using Room = Field<23, 16>;          // messages that may be sent, at most 255
  using Invalidating = Field<31, 31>;  // CONTROL_INVALIDATE has not ended
};
// Writing 1 moves the oldest fault that has not been taken into the registers below.
struct FaultNext : Register<FaultNext, std::uint32_t, 0x0010, Access::kReadWrite> {
  static constexpr std::string_view kName = "FAULT_NEXT";
};
// First byte of the access, device virtual.
struct FaultLow : Register<FaultLow, std::uint32_t, 0x0014, Access::kReadOnly> {
  static constexpr std::string_view kName = "FAULT_LOW";
};
struct FaultHigh : Register<FaultHigh, std::uint32_t, 0x0018, Access::kReadOnly> {
  static constexpr std::string_view kName = "FAULT_HIGH";
};
struct FaultAccessInfo : Register<FaultAccessInfo, std::uint32_t, 0x001C, Access::kReadOnly> {
  static constexpr std::string_view kName = "FAULT_ACCESS_INFO";
  using Core = Field<15, 0>;  // as in PageFaultRecord
  using Vmid = Field<20, 16>;
  using Write = Field<21, 21>;
  using Forbidden = Field<22, 22>;
  using Unit = Field<26, 24>;
  using Valid = Field<31, 31>;  // there was one
};
// Replies to what waits for the page at the address: walk again, or with Abort fail.
struct ReplyLow : Register<ReplyLow, std::uint32_t, 0x0020, Access::kReadWrite> {
  static constexpr std::string_view kName = "REPLY_LOW";
};
struct ReplyHigh : Register<ReplyHigh, std::uint32_t, 0x0024, Access::kReadWrite> {
  static constexpr std::string_view kName = "REPLY_HIGH";
};
struct Reply : Register<Reply, std::uint32_t, 0x0028, Access::kReadWrite> {
  static constexpr std::string_view kName = "REPLY";
  using Vmid = Field<7, 0>;
  using Abort = Field<9, 9>;
};
// Drops translations of the page at the address, or of the space, as MMU_INVALIDATE does. One at a
// time: a write while one is in flight is ignored.
struct InvalidateLow : Register<InvalidateLow, std::uint32_t, 0x0030, Access::kReadWrite> {
  static constexpr std::string_view kName = "INVALIDATE_LOW";
};
struct InvalidateHigh : Register<InvalidateHigh, std::uint32_t, 0x0034, Access::kReadWrite> {
  static constexpr std::string_view kName = "INVALIDATE_HIGH";
};
struct Invalidate : Register<Invalidate, std::uint32_t, 0x0038, Access::kReadWrite> {
  static constexpr std::string_view kName = "INVALIDATE";
  using Vmid = Field<7, 0>;
  using WholeSpace = Field<8, 8>;
};
// Writing 1 moves the host's oldest message into INBOX.
struct InboxNext : Register<InboxNext, std::uint32_t, 0x0040, Access::kReadWrite> {
  static constexpr std::string_view kName = "INBOX_NEXT";
};
// Writing 1 sends OUTBOX to the host; without room it is lost.
struct OutboxSend : Register<OutboxSend, std::uint32_t, 0x0044, Access::kReadWrite> {
  static constexpr std::string_view kName = "OUTBOX_SEND";
};
// Eight words each: word i of a Message, low half at + 8 i, high half at + 8 i + 4. OUTBOX keeps
// what was written when it is sent.
inline constexpr std::uint32_t kInbox = 0x0060;
inline constexpr std::uint32_t kOutbox = 0x0080;
inline constexpr std::uint32_t kControlWindowSize = 0x00A0;

}  // namespace npu::abi
