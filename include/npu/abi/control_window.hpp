// SPDX-License-Identifier: Apache-2.0
// The register window of a control processor (control.hpp) as its program sees it
// (AicpuPort::load_register, window 0): the function's page faults, its translations, and messages.
#pragma once

#include "npu/abi/register.hpp"

namespace npu::abi {

// What there is to do.
struct ControlStatus : Register<ControlStatus, std::uint32_t, 0x0000, Access::kReadOnly> {
  static constexpr std::string_view kName = "CONTROL_STATUS";
  NPU_FIELD(Faults, 7, 0, "that have not been taken, at most 255");
  NPU_FIELD(Messages, 15, 8, "of the host");
  NPU_FIELD(Room, 23, 16, "messages that may be sent, at most 255");
  NPU_FIELD(Invalidating, 31, 31, "INVALIDATE has not ended");
};
struct FaultNext : Register<FaultNext, std::uint32_t, 0x0010, Access::kReadWrite> {
  static constexpr std::string_view kName = "FAULT_NEXT";
  NPU_VALUE("command", "1: the oldest fault that has not been taken goes into the registers below");
};
struct FaultLow : Register<FaultLow, std::uint32_t, 0x0014, Access::kReadOnly> {
  static constexpr std::string_view kName = "FAULT_LOW";
  NPU_VALUE("device virtual address", "first byte of the access at fault, low half");
};
struct FaultHigh : Register<FaultHigh, std::uint32_t, 0x0018, Access::kReadOnly> {
  static constexpr std::string_view kName = "FAULT_HIGH";
  NPU_VALUE("device virtual address", "first byte of the access at fault, high half");
};
struct FaultAccessInfo : Register<FaultAccessInfo, std::uint32_t, 0x001C, Access::kReadOnly> {
  static constexpr std::string_view kName = "FAULT_ACCESS_INFO";
  NPU_FIELD(Core, 15, 0, "AI Core or AICPU + 1; 0: another unit of the card");
  NPU_FIELD(Vmid, 20, 16, "address space");
  NPU_FIELD(Write, 21, 21, "it was a write");
  NPU_FIELD(Forbidden, 22, 22, "mapped, but not for this kind of access");
  NPU_FIELD(Unit, 26, 24, "PageFaultUnit");
  NPU_FIELD(Valid, 31, 31, "there was one");
};
// Replies to what waits for the page at the address: walk again, or with Abort fail.
struct ReplyLow : Register<ReplyLow, std::uint32_t, 0x0020, Access::kReadWrite> {
  static constexpr std::string_view kName = "REPLY_LOW";
  NPU_VALUE("device virtual address", "page to reply to, low half");
};
struct ReplyHigh : Register<ReplyHigh, std::uint32_t, 0x0024, Access::kReadWrite> {
  static constexpr std::string_view kName = "REPLY_HIGH";
  NPU_VALUE("device virtual address", "page to reply to, high half");
};
struct Reply : Register<Reply, std::uint32_t, 0x0028, Access::kReadWrite> {
  static constexpr std::string_view kName = "REPLY";
  NPU_FIELD(Vmid, 7, 0, "address space");
  NPU_FIELD(Abort, 9, 9, "fail; else walk again");
};
// Drops translations of the page at the address, or of the space, as MMU_INVALIDATE does. One at a
// time: a write while one is in flight is ignored.
struct InvalidateLow : Register<InvalidateLow, std::uint32_t, 0x0030, Access::kReadWrite> {
  static constexpr std::string_view kName = "INVALIDATE_LOW";
  NPU_VALUE("device virtual address", "page to invalidate, low half");
};
struct InvalidateHigh : Register<InvalidateHigh, std::uint32_t, 0x0034, Access::kReadWrite> {
  static constexpr std::string_view kName = "INVALIDATE_HIGH";
  NPU_VALUE("device virtual address", "page to invalidate, high half");
};
struct Invalidate : Register<Invalidate, std::uint32_t, 0x0038, Access::kReadWrite> {
  static constexpr std::string_view kName = "INVALIDATE";
  NPU_FIELD(Vmid, 7, 0, "address space");
  NPU_FIELD(WholeSpace, 8, 8, "all of it, not only the page");
};
struct InboxNext : Register<InboxNext, std::uint32_t, 0x0040, Access::kReadWrite> {
  static constexpr std::string_view kName = "INBOX_NEXT";
  NPU_VALUE("command", "1: the host's oldest message goes into INBOX");
};
struct OutboxSend : Register<OutboxSend, std::uint32_t, 0x0044, Access::kReadWrite> {
  static constexpr std::string_view kName = "OUTBOX_SEND";
  NPU_VALUE("command", "1: OUTBOX goes to the host; without room it is lost");
};
using ControlRegisters = RegisterList<ControlStatus, FaultNext, FaultLow, FaultHigh,
                                      FaultAccessInfo, ReplyLow, ReplyHigh, Reply, InvalidateLow,
                                      InvalidateHigh, Invalidate, InboxNext, OutboxSend>;
inline constexpr auto kControlTable = make_table(ControlRegisters{});
static_assert(is_sorted_without_overlap(kControlTable));

// Eight words each: word i of a Message, low half at + 8 i, high half at + 8 i + 4. OUTBOX keeps
// what was written when it is sent.
inline constexpr std::uint32_t kInbox = 0x0060;
inline constexpr std::uint32_t kOutbox = 0x0080;
inline constexpr std::uint32_t kControlWindowSize = 0x00A0;

}  // namespace npu::abi
