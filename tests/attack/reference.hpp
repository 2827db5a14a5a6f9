// SPDX-License-Identifier: Apache-2.0
// What one attacker's address spaces must look like, page by page, written independently of the
// driver's books.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "npu/driver/device.hpp"
#include "tests/attack/shadow.hpp"
#include "tests/attack/world.hpp"

namespace npu::attack {

using driver::Access;
using driver::DeviceAddress;
using driver::kPageSize;
using driver::MemoryHandle;

// Physical memory. Exists as long as a handle or a mapping keeps it.
struct Block {
  Block(Occupancy& of_card, unsigned card_index, Bytes page_count, bool is_pinned)
      : occupancy(of_card), card(card_index), pages(page_count), pinned(is_pinned) {
    occupancy.used += pages * kPageSize;
    occupancy.unmovable += pinned ? 1 : 0;
  }
  ~Block() {
    occupancy.used -= pages * kPageSize;
    occupancy.unmovable -= (pinned ? 1 : 0) + (lent ? 1 : 0);
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  // To another card; never taken back here, which only makes expectations weaker.
  void lend() {
    occupancy.unmovable += lent ? 0 : 1;
    lent = true;
  }

  Occupancy& occupancy;
  const unsigned card;
  const Bytes pages;
  const bool pinned;
  bool lent = false;
  Shadow shadow;
};
using BlockPointer = std::shared_ptr<Block>;

struct Page {
  BlockPointer block;
  Bytes index = 0;  // in the block
  Access access = Access::kNone;
  bool first = false;  // of its mapping, as range_of() shows it
};

struct Held {
  MemoryHandle handle;
  BlockPointer block;
};

struct Reservation {
  Bytes pages = 0;
  bool plain = false;  // of allocate()
};

// A piece of a block.
struct Piece {
  Block* block = nullptr;
  Bytes offset = 0;
  Bytes size = 0;
};

class SpaceModel {
 public:
  SpaceModel(unsigned card_index, driver::AddressSpace& default_space)
      : card(card_index), space(&default_space) {}
  SpaceModel(unsigned card_index, std::unique_ptr<driver::AddressSpace> created)
      : card(card_index), owned(std::move(created)), space(owned.get()) {}

  const unsigned card;
  std::unique_ptr<driver::AddressSpace> owned;
  driver::AddressSpace* const space;
  std::map<std::uint64_t, Reservation> reserved;
  std::map<std::uint64_t, Page> pages;
  std::vector<Held> held;
  unsigned streams = 0;

  void map(std::uint64_t at, Bytes count, const BlockPointer& block, Bytes first, Access access) {
    for (Bytes i = 0; i < count; ++i) {
      pages[at + i * kPageSize] = {block, first + i, access, i == 0};
    }
  }
  void unmap(std::uint64_t at, Bytes count) {
    cut(at + count * kPageSize);
    pages.erase(pages.lower_bound(at), pages.lower_bound(at + count * kPageSize));
  }
  void set_access(std::uint64_t at, Bytes count, Access access) {
    cut(at);
    cut(at + count * kPageSize);
    const auto end = pages.lower_bound(at + count * kPageSize);
    for (auto page = pages.lower_bound(at); page != end; ++page) page->second.access = access;
  }
  bool holds(const Block* block) const;
  // The bytes from `at` on that may be accessed, at most `limit`.
  Bytes accessible(std::uint64_t at, Bytes limit, bool write) const;
  // The range must be mapped.
  std::vector<Piece> pieces(std::uint64_t at, Bytes size) const;
  // What range_of() must say.
  std::optional<driver::AddressRange> range_of(std::uint64_t address) const;

 private:
  void cut(std::uint64_t at) {
    const auto page = pages.find(at);
    if (page != pages.end()) page->second.first = true;
  }
  MemoryHandle handle_of(const Block* block) const;
};

}  // namespace npu::attack
