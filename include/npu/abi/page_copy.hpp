// SPDX-License-Identifier: Apache-2.0
// Page copies: a channel of the DMA engines that is the driver's own. What it brings may be what
// commands of the DMA ring and of compute queues wait for, so it has a way round them: registers in
// place of a ring, and an engine that nothing else is executed on. Device addresses are the
// function's own (VMID 0). Layout and numbers are npusim's own.
//
// A command is SOURCE, DESTINATION and SIZE, each written anew, and then START with its number: 1,
// 2, ... since Enable. One with another number than the next one's, or of which a part was not
// written, is ignored: the host's writes before have been lost, while the function decoded no
// memory. PAGE_COPY_PROGRESS tells how many were accepted.
//
// With the opcode P2P an address may be another card's memory: PageTableEntry::peer_target(), with
// all bits of the address there. The engine goes over the HCCS link to that card, which lets the
// function in or not (HCCS_ACCESS).
#pragma once

#include <cstdint>

#include "npu/abi/register.hpp"

namespace npu::abi {

// Writing Enable = 1 latches PAGE_COPY_BASE and begins to count anew; of commands in flight nobody
// is told any more.
struct PageCopyControl : Register<PageCopyControl, std::uint32_t, 0x1028, Access::kReadWrite> {
  static constexpr std::string_view kName = "PAGE_COPY_CONTROL";
  NPU_FIELD(Enable, 0, 0, "commands are taken");
  NPU_FIELD(Vector, 31, 16, "MSI-X, raised behind each result");
};
struct PageCopyBase : Register<PageCopyBase, std::uint64_t, 0x1030, Access::kReadWrite> {
  static constexpr std::string_view kName = "PAGE_COPY_BASE";
  NPU_VALUE("bus address", "of result 0, 4 KiB aligned");
};
struct PageCopySource : Register<PageCopySource, std::uint64_t, 0x1038, Access::kReadWrite> {
  static constexpr std::string_view kName = "PAGE_COPY_SOURCE";
  NPU_VALUE("address", "of the first byte to read");
};
struct PageCopyDestination
    : Register<PageCopyDestination, std::uint64_t, 0x1040, Access::kReadWrite> {
  static constexpr std::string_view kName = "PAGE_COPY_DESTINATION";
  NPU_VALUE("address", "of the first byte to write");
};
struct PageCopySize : Register<PageCopySize, std::uint64_t, 0x1048, Access::kReadWrite> {
  static constexpr std::string_view kName = "PAGE_COPY_SIZE";
  NPU_VALUE("bytes", "to copy");
};
// Reads as 0.
struct PageCopyStart : Register<PageCopyStart, std::uint32_t, 0x1050, Access::kReadWrite> {
  static constexpr std::string_view kName = "PAGE_COPY_START";
  NPU_FIELD(Number, 15, 0, "of the command, its low bits");
  NPU_FIELD(Opcode, 23, 16, "DmaOpcode, of those that the ring takes");
};
// Commands since Enable, modulo 2^32. They end in the order of their numbers.
struct PageCopyProgress : Register<PageCopyProgress, std::uint64_t, 0x1058, Access::kReadOnly> {
  static constexpr std::string_view kName = "PAGE_COPY_PROGRESS";
  NPU_FIELD(Accepted, 31, 0, "commands taken since Enable, modulo 2^32");
  NPU_FIELD(Ended, 63, 32, "commands ended since Enable, modulo 2^32");
};

// So many commands may be in flight; further ones are ignored.
inline constexpr std::uint32_t kPageCopySlots = 64;

// Of command n, at PAGE_COPY_BASE + 8 ((n - 1) mod kPageCopySlots), written when it has ended;
// little endian. Later if the function must not write to the host then.
struct PageCopyResult {
  std::uint32_t number = 0;
  std::uint32_t fault = 0;  // FaultCode
};
static_assert(sizeof(PageCopyResult) == 8);

}  // namespace npu::abi
