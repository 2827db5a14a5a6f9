// SPDX-License-Identifier: Apache-2.0
// Device virtual addresses and the tables that map them (requirements.md M2: pages of 2 MiB, so
// that a block of device memory may be moved without its users noticing). The layout is npusim's
// own; it has the shape of the usual 64-bit table walkers.
//
// A device virtual address has 48 bits: three indices of 9 bits, one per level, and an offset of
// 21 bits. Tables are 4 KiB: 512 little-endian entries. An entry of level 2 points to a table, one
// of level 1 points to a table or maps a giant page of 1 GiB, one of level 0 maps a page of 2 MiB.
//
// MMU_CONTEXT_BASE points to one context entry per VMID. VMID 0 has no tables: its addresses are
// device-local ones (the driver's own work on the card).
//
// The walker reads entries from device memory when it needs them and may keep any valid one until
// it is invalidated (MMU_INVALIDATE); it never keeps an invalid one. So making an entry valid
// needs no invalidation, every other change does, after the entry was written.
//
// Of a page of 2 MiB parts of 4 KiB may be missing (Partial). Its residency map is a line of 64
// bytes, bit i of byte n: part 8 n + i is there. PAGE_RESIDENCY_BASE points to the lines, one for
// each 2 MiB of device memory in their order. The walker keeps a line with the translation and
// reads it again when a part seems to be missing: adding parts needs no invalidation.
//
// A page may be another card's memory (Peer): its address is device-local there, and accesses go
// over the HCCS link to that card, which decides whether to let them in (HCCS_ACCESS).
//
// A page may be the host's memory (Host): its address is a bus address of the function, and
// accesses are the function's DMA requests without a PASID.
#pragma once

#include <cstdint>

#include "npu/abi/register.hpp"

namespace npu::abi {

// So many that space numbers of 8 bits (model: core/space_id.hpp) suffice for a function and 12 of
// its virtual ones.
inline constexpr unsigned kVmids = 19;
inline constexpr unsigned kVmidPhysical = 0;

inline constexpr unsigned kTableLevels = 3;
inline constexpr unsigned kTableEntries = 512;
inline constexpr std::uint32_t kTableSize = 4096;
inline constexpr unsigned kPageShift = 21;
inline constexpr unsigned kGiantShift = 30;
inline constexpr unsigned kVirtualBits = 48;

// Bytes mapped by one entry of a level: 2 MiB, 1 GiB, 512 GiB.
constexpr std::uint64_t entry_span(unsigned level) {
  return std::uint64_t{1} << (kPageShift + 9 * level);
}
// Index of the entry for `address` in its table of `level`.
constexpr unsigned table_index(std::uint64_t address, unsigned level) {
  return static_cast<unsigned>(address >> (kPageShift + 9 * level)) & (kTableEntries - 1);
}

inline constexpr unsigned kPartShift = 12;
inline constexpr unsigned kPageParts = 512;
inline constexpr std::uint32_t kResidencyLine = 64;

struct PageTableEntry {
  std::uint64_t raw = 0;

  using Valid = Field<0, 0>;
  using Leaf = Field<1, 1>;       // maps a page; else points to the table of the next level
  using Read = Field<2, 2>;       // leaf: reads are allowed
  using Write = Field<3, 3>;      // leaf: writes are allowed
  using Address = Field<47, 12>;  // bits 47..12 of the page (aligned to its size) or of the table
  using Card = Field<56, 48>;     // leaf with Peer: DEVICE_INDEX of the card whose memory it is
  using Peer = Field<57, 57>;     // leaf: memory of another card
  // Leaf, where page faults of the space are served (PAGE_FAULT_SPACES): set by the walker when the
  // page is walked for, and when it is written for the first time since.
  using Young = Field<58, 58>;
  using Dirty = Field<59, 59>;
  // Leaf of level 0, where there are residency maps (PAGE_RESIDENCY_BASE): of the page only the
  // parts are there that its map says.
  using Partial = Field<60, 60>;
  using Host = Field<61, 61>;  // leaf without Peer: memory of the host
  // Bits 63..62, where they are not set 59 and 58, and without Peer 56..48, are ignored by the card
  // and free for software.

  // Which page it is: address, Host and, of another card's, Card and Peer.
  static constexpr std::uint64_t kTarget = Address::kMask | Card::kMask | Peer::kMask | Host::kMask;

  constexpr bool valid() const { return (raw & Valid::kMask) != 0; }
  constexpr bool leaf() const { return (raw & Leaf::kMask) != 0; }
  constexpr bool may_read() const { return (raw & Read::kMask) != 0; }
  constexpr bool may_write() const { return (raw & Write::kMask) != 0; }
  constexpr std::uint64_t address() const { return raw & Address::kMask; }
  constexpr bool young() const { return (raw & Young::kMask) != 0; }
  constexpr bool dirty() const { return (raw & Dirty::kMask) != 0; }
  constexpr bool partial() const { return (raw & Partial::kMask) != 0; }
  constexpr bool is_peer() const { return (raw & Peer::kMask) != 0; }
  constexpr unsigned card() const {
    return static_cast<unsigned>((raw & Card::kMask) >> Card::kLow);
  }
  constexpr bool is_host() const { return (raw & (Host::kMask | Peer::kMask)) == Host::kMask; }
  // Memory of this card.
  constexpr bool is_local() const { return (raw & (Host::kMask | Peer::kMask)) == 0; }
  constexpr std::uint64_t target() const {
    return raw & (is_peer() ? kTarget & ~Host::kMask : Host::kMask | Address::kMask);
  }

  // What target() of a page of card `card` is.
  static constexpr std::uint64_t peer_target(unsigned card, std::uint64_t address) {
    return Peer::kMask | (std::uint64_t{card} << Card::kLow & Card::kMask) |
           (address & Address::kMask);
  }
  // What target() of a page of the host is.
  static constexpr std::uint64_t host_target(std::uint64_t bus) {
    return Host::kMask | (bus & Address::kMask);
  }
  static constexpr PageTableEntry table(std::uint64_t address) {
    return {Valid::kMask | (address & Address::kMask)};
  }
  // `target`: a device-local address, peer_target() or host_target().
  static constexpr PageTableEntry page(std::uint64_t target, bool read, bool write) {
    return {Valid::kMask | Leaf::kMask | (read ? Read::kMask : 0) | (write ? Write::kMask : 0) |
            (target & kTarget)};
  }
};
static_assert(sizeof(PageTableEntry) == 8);

// Entry `vmid` of the context table.
struct ContextEntry {
  std::uint64_t raw = 0;

  using Valid = Field<0, 0>;
  using Address = Field<47, 12>;  // of the level 2 table

  constexpr bool valid() const { return (raw & Valid::kMask) != 0; }
  constexpr std::uint64_t address() const { return raw & Address::kMask; }
  static constexpr ContextEntry root(std::uint64_t address) {
    return {Valid::kMask | (address & Address::kMask)};
  }
};
static_assert(sizeof(ContextEntry) == 8);

}  // namespace npu::abi
