// SPDX-License-Identifier: Apache-2.0
// The card's address map as the host sees it: which BAR holds what, and where.
// Sources: requirements.md M1 (BAR sizes), M3 (0x1000.., 0x2000 + 8 id), M4 (stream windows in
// BAR2). The offsets inside the global page and of the MSI-X structures are npusim's own.
#pragma once

#include <cstdint>

namespace npu::abi {

inline constexpr unsigned kRegisterBar = 0;  // 64-bit memory BAR at config offset 0x10
inline constexpr unsigned kMemoryBar = 2;    // 64-bit prefetchable memory BAR at 0x18

inline constexpr std::uint64_t kBar0Size = 32 * 1024;

// Blocks of BAR0, byte offsets.
inline constexpr std::uint32_t kGlobalBlock = 0x0000;  // 4 KiB of card-wide registers
inline constexpr std::uint32_t kDmaBlock = 0x1000;     // the DMA submission queue
inline constexpr std::uint32_t kEventBlock = 0x2000;   // one 64-bit register per event
inline constexpr std::uint32_t kEventStride = 8;
inline constexpr std::uint32_t kMaxEvents = 2048;          // 0x2000 .. 0x5FFF
inline constexpr std::uint32_t kMsixTableOffset = 0x6000;  // 16 B per vector, at most 256
inline constexpr std::uint32_t kMsixPbaOffset = 0x7000;    // one bit per vector
inline constexpr std::uint32_t kMaxVectors = 256;

// BAR2 is device memory: offset x is device-local address x. [0, HBM_SIZE) belongs to the
// allocator; above it, up to the end of the BAR, lies memory reserved for the card itself.
inline constexpr std::uint64_t kReservedRingOffset = 0;              // from HBM_SIZE: the DMA ring
inline constexpr std::uint64_t kReservedStreamOffset = 16ULL << 20;  // from HBM_SIZE: windows
inline constexpr std::uint64_t kReservedDoorbellOffset = 48ULL << 20;  // doorbell pages
inline constexpr std::uint64_t kReservedQueueOffset = 52ULL << 20;     // descriptors and save areas
inline constexpr std::uint64_t kReservedQueueSize = 12ULL << 20;
inline constexpr std::uint64_t kReservedContextOffset = 64ULL << 20;  // context table, 4 KiB
inline constexpr std::uint64_t kReservedTableOffset = 65ULL << 20;    // page tables
inline constexpr std::uint64_t kReservedTableSize = 31ULL << 20;

// One register window per stream (stream.hpp). It has the size of the whole BAR0, which is why
// the windows cannot live there (requirements.md M4).
inline constexpr std::uint64_t kStreamWindowSize = 32 * 1024;
inline constexpr std::uint32_t kMaxStreams = 1024;

// Doorbell pages of processes (queue_descriptor.hpp), 4 KiB each, 4 MiB at most.
inline constexpr std::uint32_t kMaxDoorbellPages = 1024;

}  // namespace npu::abi
