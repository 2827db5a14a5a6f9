// SPDX-License-Identifier: Apache-2.0
// Memory that programs have, apart from what the driver needs for itself.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "machine/races/work.hpp"

namespace npu::races {

class MemoryRanges {
 public:
  // In an address space of a card.
  void add(std::uint32_t device, std::uint32_t space, std::uint64_t begin, Bytes size) {
    if (size != 0) spaces_[{device, space}][begin] = begin + size;
  }
  // What begins there; nothing may.
  void remove(std::uint32_t device, std::uint32_t space, std::uint64_t begin) {
    spaces_[{device, space}].erase(begin);
  }
  // All memory of cards is the programs'.
  void add_cards() { all_of_cards_ = true; }
  // Pinned memory of the host, whose bytes are [place, place + size) of a space for all of it.
  std::uint64_t add_host(Bytes size) {
    const auto place = next_;
    next_ += (size + kGap) / kGap * kGap;
    return place;
  }
  // A card reaches it on the bus.
  void map_host(std::uint32_t device, std::uint64_t bus, Bytes size, std::uint64_t place) {
    buses_[device][bus] = {size, place};
  }
  void unmap_host(std::uint32_t device, std::uint64_t bus) { buses_[device].erase(bus); }

  // What of the pieces is programs' memory. Of the host: `address` counts from the memory's begin,
  // `local` is its place.
  std::vector<Piece> of_programs(std::uint32_t device, std::uint32_t space,
                                 const std::vector<Piece>& pieces) const;

 private:
  static constexpr Bytes kGap = 4096;
  struct Mapped {
    Bytes size = 0;
    std::uint64_t place = 0;
  };

  std::map<std::pair<std::uint32_t, std::uint32_t>, std::map<std::uint64_t, std::uint64_t>> spaces_;
  std::map<std::uint32_t, std::map<std::uint64_t, Mapped>> buses_;  // by device and address
  std::uint64_t next_ = 0;
  bool all_of_cards_ = false;
};

}  // namespace npu::races
