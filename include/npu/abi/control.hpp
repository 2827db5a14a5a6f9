// SPDX-License-Identifier: Apache-2.0
// The control processor of a function: a core of the card that runs one program of the driver's
// (abi::ImageKind::kAicpu), with the function's page faults and messages to and from the driver in
// its window (control_window.hpp). It works on device-local addresses. Registers and messages are
// npusim's own; that the card's own software takes page faults and sends the driver one message per
// page is virtualisation.md S2.
#pragma once

#include <array>
#include <cstdint>

#include "npu/abi/register.hpp"

namespace npu::abi {

struct ControlImage : Register<ControlImage, std::uint64_t, 0x03C0, Access::kReadWrite> {
  static constexpr std::string_view kName = "CONTROL_IMAGE";
  NPU_VALUE("device-local address", "image of the program");
};
struct ControlArguments : Register<ControlArguments, std::uint64_t, 0x03C8, Access::kReadWrite> {
  static constexpr std::string_view kName = "CONTROL_ARGUMENTS";
  NPU_VALUE("device-local address", "what AicpuPort::arguments() gives");
};
// Writing Start = 1 starts the program, unless one runs. The card sets the others.
struct ControlState : Register<ControlState, std::uint32_t, 0x03D0, Access::kReadWrite> {
  static constexpr std::string_view kName = "CONTROL_STATE";
  NPU_FIELD(Start, 0, 0, "start the program, unless one runs; reads as 0");
  NPU_READ_ONLY_FIELD(Running, 1, 1, "the program runs");
  NPU_READ_ONLY_FIELD(Ended, 2, 2, "since the last start");
  NPU_READ_ONLY_FIELD(Fault, 31, 16, "FaultCode of what ended it; 0: it returned 0");
};
// Writing Enable = 1 latches MESSAGE_BASE, the size and the vector, and zeroes all indices.
struct MessageControl : Register<MessageControl, std::uint32_t, 0x03D4, Access::kReadWrite> {
  static constexpr std::string_view kName = "MESSAGE_CONTROL";
  NPU_FIELD(Enable, 0, 0, "messages are exchanged");
  NPU_FIELD(Log2Messages, 7, 4, "log2 of the messages of the ring, 7 (4 KiB) .. 12");
  NPU_FIELD(Vector, 31, 16, "MSI-X of the messages");
};
struct MessageBase : Register<MessageBase, std::uint64_t, 0x03D8, Access::kReadWrite> {
  static constexpr std::string_view kName = "MESSAGE_BASE";
  NPU_VALUE("bus address", "ring of messages to the host, 4 KiB aligned");
};
struct MessageProducer : Register<MessageProducer, std::uint32_t, 0x03E0, Access::kReadOnly> {
  static constexpr std::string_view kName = "MESSAGE_PRODUCER";
  NPU_VALUE("messages", "written to the ring since Enable, modulo 2^32");
};
// Messages that the host has taken out since Enable, modulo 2^32. An interrupt follows a message
// that comes when all before it have been taken out, and a write of this register that leaves some.
struct MessageConsumer : Register<MessageConsumer, std::uint32_t, 0x03E4, Access::kReadWrite> {
  static constexpr std::string_view kName = "MESSAGE_CONSUMER";
  NPU_VALUE("messages", "that the host has taken out since Enable, modulo 2^32");
};
// Messages of the host that the program has taken since Enable, modulo 2^32. It must not send more
// than kMessageSlots beyond that: such a message is lost.
struct MessageTaken : Register<MessageTaken, std::uint32_t, 0x03E8, Access::kReadOnly> {
  static constexpr std::string_view kName = "MESSAGE_TAKEN";
  NPU_VALUE("messages", "of the host that the program has taken since Enable, modulo 2^32");
};
inline constexpr std::uint32_t kMessageSlots = 64;
struct MessageReceived : Register<MessageReceived, std::uint32_t, 0x03EC, Access::kReadOnly> {
  static constexpr std::string_view kName = "MESSAGE_RECEIVED";
  NPU_VALUE("messages", "of the host that were accepted since Enable, modulo 2^32");
};
// Words 1 to 3 of a message to the program; writing word 0 (MESSAGE_SEND) sends it.
struct MessageWord1 : Register<MessageWord1, std::uint64_t, 0x03F0, Access::kReadWrite> {
  static constexpr std::string_view kName = "MESSAGE_WORD1";
  NPU_VALUE("bits", "word 1 of a message to the program");
};
struct MessageWord2 : Register<MessageWord2, std::uint64_t, 0x03F8, Access::kReadWrite> {
  static constexpr std::string_view kName = "MESSAGE_WORD2";
  NPU_VALUE("bits", "word 2 of a message to the program");
};
struct MessageWord3 : Register<MessageWord3, std::uint64_t, 0x0400, Access::kReadWrite> {
  static constexpr std::string_view kName = "MESSAGE_WORD3";
  NPU_VALUE("bits", "word 3 of a message to the program");
};
// Word 0 of a message to the program; the card does not let it see these fields. A message with
// another number than the next one's, or of which a word was not written anew, is ignored: the
// host's writes before have been lost, while the function decoded no memory.
struct MessageSend : Register<MessageSend, std::uint64_t, 0x0408, Access::kReadWrite> {
  static constexpr std::string_view kName = "MESSAGE_SEND";
  NPU_FIELD(Words, 23, 22, "that were written, less word 0");
  NPU_FIELD(Number, 31, 24, "1, 2, ... since Enable; the low bits of it");
};

// To the host, word 0 of a message without a meaning, of kind 0: writes of the host have been lost.
// Messages that the function must not write to the host are written when it may.

// 32 bytes, little endian; what is in them is between driver and program (pager.hpp). In the ring
// to the host, bits 63..32 of the first word are the message's number, 1, 2, ... since Enable.
struct Message {
  std::array<std::uint64_t, 4> words{};
};
static_assert(sizeof(Message) == 32);

}  // namespace npu::abi
