// SPDX-License-Identifier: Apache-2.0
// Translation lookaside buffer: set-associative, least recently used out first, pages of both
// sizes side by side, tagged with the address space. Permissions are held, not judged.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/core/transaction.hpp"
#include "model/mmu/tagged_address.hpp"
#include "npu/base/units.hpp"

namespace npu::model {

struct Translation {
  static constexpr std::uint64_t kInvalid = UINT64_MAX;  // no tagged address shifted gives it

  std::uint64_t tag = kInvalid;  // tagged address >> shift
  std::uint64_t base = 0;        // device-local address of the page, on its card
  std::uint64_t used = 0;        // Tlb's
  std::uint8_t shift = abi::kPageShift;
  bool read = false, write = false;
  bool clean = false;               // the table does not yet say that the page is written
  bool partial = false;             // see Tlb::residency()
  std::uint16_t peer = 0;           // Transaction::peer of accesses to the page
  HostPage host = HostPage::kNone;  // the base is its address there

  bool covers(TaggedAddress address) const { return address >> shift == tag; }
  std::uint64_t translate(std::uint64_t address) const {
    return base + (address & ((std::uint64_t{1} << shift) - 1));
  }
};

// Which parts of 4 KiB of a page are there (abi/page_table.hpp).
struct Residency {
  std::array<std::uint64_t, abi::kPageParts / 64> bits{};

  bool has(unsigned part) const { return (bits[part / 64] >> part % 64 & 1) != 0; }
  // Of `size` bytes at `offset` of the page the first part that is not there; kPageParts: all are.
  unsigned first_missing(std::uint64_t offset, Bytes size) const;
};

class Tlb {
 public:
  // Both powers of two; more ways than entries means fully associative.
  Tlb(unsigned entries, unsigned ways);

  // The entry that covers `address`, touched, or null. Places never move: a pointer stays usable
  // as long as its covers() is asked again.
  Translation* lookup(TaggedAddress address);
  // The same without being touched.
  const Translation* find(TaggedAddress address) const;
  void touch(Translation& entry) { entry.used = ++clock_; }
  Translation& insert(const Translation& page);
  void drop(const TaggedRange& range);
  // Which parts of the entry's page are there.
  Residency& residency(const Translation& entry);
  // Of a page with parts, whether all are there of [address, address + size); if not, the first
  // address of it that is missing.
  bool has_parts(const Translation& entry, std::uint64_t address, Bytes size,
                 std::uint64_t& missing);
  // A place that covers nothing.
  Translation* nothing() { return &nothing_; }

 private:
  std::size_t set_of(std::uint64_t tag, unsigned shift) const;
  void drop_of(const TaggedRange& range, std::size_t first, std::size_t count);

  std::vector<Translation> entries_;  // set by set
  std::size_t ways_;
  std::uint64_t set_mask_;
  std::uint64_t clock_ = 0;
  std::vector<Residency> residency_;  // by entry; empty as long as there is no partial one
  Translation nothing_;
};

}  // namespace npu::model
