// SPDX-License-Identifier: Apache-2.0
// The DMA ring entry (requirements.md M3). The source documents pack the size into dword 0 on top
// of the stream id, which loses bits of both; here the size has dwords 6-7 to itself.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace npu::abi {

inline constexpr std::uint32_t kRingEntries = 4096;  // at most kRingEntries - 1 are in the ring
inline constexpr std::uint32_t kRingEntrySize = 32;

enum class DmaOpcode : std::uint8_t {
  kHostToDevice = 0x01,
  kDeviceToHost = 0x02,
  kDeviceToDevice = 0x03,
  kPeerToPeer = 0x04,
  kFill = 0x05,
  kPrefetch = 0x06,
};

// Where the bytes of an operation are. A pattern is 32 bits, in place of the source's address. The
// cache is the L2, to which lines of the source come: nothing is written.
enum class DmaSide : std::uint8_t { kHost, kDevice, kPattern, kCache };

// What an opcode means to everybody who has to do with it: all there is to say about one is its
// row here. Compute queues take every operation (QueueOpcode), the DMA ring those of `ring`.
struct DmaOperation {
  DmaOpcode opcode;
  std::string_view name;    // in reports and traces
  std::string_view option;  // in options of programs
  DmaSide source;
  DmaSide target;
  bool ring;
  bool peer;  // one side is mapped to another card's memory (HCCS)
};
inline constexpr std::array<DmaOperation, 6> kDmaOperations = {{
    {DmaOpcode::kHostToDevice, "H2D", "h2d", DmaSide::kHost, DmaSide::kDevice, true, false},
    {DmaOpcode::kDeviceToHost, "D2H", "d2h", DmaSide::kDevice, DmaSide::kHost, true, false},
    {DmaOpcode::kDeviceToDevice, "D2D", "d2d", DmaSide::kDevice, DmaSide::kDevice, true, false},
    {DmaOpcode::kPeerToPeer, "P2P", "p2p", DmaSide::kDevice, DmaSide::kDevice, true, true},
    {DmaOpcode::kFill, "fill", "fill", DmaSide::kPattern, DmaSide::kDevice, false, false},
    {DmaOpcode::kPrefetch, "prefetch", "prefetch", DmaSide::kDevice, DmaSide::kCache, false, false},
}};

// Null: no operation has that opcode.
constexpr const DmaOperation* find_dma_operation(std::uint8_t opcode) {
  for (const auto& operation : kDmaOperations) {
    if (static_cast<std::uint8_t>(operation.opcode) == opcode) return &operation;
  }
  return nullptr;
}
// Those that the DMA ring takes.
constexpr const DmaOperation* find_ring_operation(std::uint8_t opcode) {
  const auto* const found = find_dma_operation(opcode);
  return found != nullptr && found->ring ? found : nullptr;
}
constexpr const DmaOperation* find_dma_operation(std::string_view option) {
  for (const auto& operation : kDmaOperations) {
    if (operation.option == option) return &operation;
  }
  return nullptr;
}

constexpr std::string_view to_string(DmaOpcode opcode) {
  const auto* const found = find_dma_operation(static_cast<std::uint8_t>(opcode));
  return found != nullptr ? found->name : "?";
}

inline constexpr std::uint32_t kNoEvent = 0xFFFFFFFF;

// dword 0 flags
inline constexpr std::uint8_t kDmaFlagInterrupt = 0x01;  // MSI-X to the stream's vector at the end

// Host addresses are bus addresses; device addresses are virtual ones of the stream's address space
// (STREAM_VMID), or device-local if that is 0. Commands of one stream
// execute in ring order and one after another; streams are not ordered among each other.
struct DmaEntry {
  std::uint8_t opcode = 0;         // dword 0 [7:0]   DmaOpcode
  std::uint8_t flags = 0;          // dword 0 [15:8]
  std::uint16_t stream = 0;        // dword 0 [31:16]
  std::uint32_t source_low = 0;    // dword 1
  std::uint32_t source_high = 0;   // dword 2
  std::uint32_t dest_low = 0;      // dword 3
  std::uint32_t dest_high = 0;     // dword 4
  std::uint32_t event = kNoEvent;  // dword 5: event to count up at the end, or kNoEvent
  std::uint32_t size_low = 0;      // dword 6
  std::uint32_t size_high = 0;     // dword 7

  constexpr std::uint64_t source() const { return join(source_low, source_high); }
  constexpr std::uint64_t destination() const { return join(dest_low, dest_high); }
  constexpr std::uint64_t size() const { return join(size_low, size_high); }
  constexpr void set_source(std::uint64_t v) { split(v, source_low, source_high); }
  constexpr void set_destination(std::uint64_t v) { split(v, dest_low, dest_high); }
  constexpr void set_size(std::uint64_t v) { split(v, size_low, size_high); }

 private:
  static constexpr std::uint64_t join(std::uint32_t low, std::uint32_t high) {
    return std::uint64_t{high} << 32 | low;
  }
  static constexpr void split(std::uint64_t v, std::uint32_t& low, std::uint32_t& high) {
    low = static_cast<std::uint32_t>(v);
    high = static_cast<std::uint32_t>(v >> 32);
  }
};
static_assert(sizeof(DmaEntry) == kRingEntrySize);
static_assert(offsetof(DmaEntry, opcode) == 0 && offsetof(DmaEntry, flags) == 1 &&
              offsetof(DmaEntry, stream) == 2 && offsetof(DmaEntry, source_low) == 4 &&
              offsetof(DmaEntry, dest_low) == 12 && offsetof(DmaEntry, event) == 20 &&
              offsetof(DmaEntry, size_low) == 24 && offsetof(DmaEntry, size_high) == 28);

// Number of valid entries between the consumer and the producer index.
constexpr std::uint32_t ring_used(std::uint32_t producer, std::uint32_t consumer) {
  return (producer - consumer) % kRingEntries;
}

}  // namespace npu::abi
