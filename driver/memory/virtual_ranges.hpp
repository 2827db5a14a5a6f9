// SPDX-License-Identifier: Apache-2.0
// Which device virtual addresses of a space are reserved. Every space has a window of 8 TiB of its
// own, so that an address of another space, or a device-local one, is mapped in no space but its
// own and faults. A buddy system over them: a reservation takes a power of two of addresses,
// aligned to that, so that ranges of 1 GiB and more may use giant pages and what is freed merges
// again. The addresses a reservation does not use stay unmapped behind it: running over its end
// faults.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>

#include "npu/base/result.hpp"
#include "npu/base/units.hpp"

namespace npu::driver {

struct Reservation {
  Bytes size = 0;      // as asked for
  unsigned order = 0;  // log2 of the addresses taken
  bool plain = false;  // made by allocate(), given back by free()
};

class VirtualRanges {
 public:
  static constexpr unsigned kWindows = 30;
  // Those of a window, 0 .. kWindows - 1.
  explicit VirtualRanges(unsigned window);
  // Those of managed memory, the same in every space: 3 TiB of the first 16, which no space has.
  static VirtualRanges managed();
  static constexpr std::uint64_t kManagedBegin = 0x900'0000'0000;  // virtualisation.md S1
  static constexpr Bytes kManagedSize = Bytes{3} << 40;

  // Whole pages; `alignment` is a power of two. kOutOfResources.
  Result<std::uint64_t> reserve(Bytes size, Bytes alignment, bool plain);
  // At this address, a multiple of a page. kAlreadyExists: some of the addresses that a reservation
  // there takes are reserved, or no reservation of that size begins there.
  Status reserve_at(std::uint64_t begin, Bytes size, bool plain);
  void release(std::uint64_t begin);
  // The reservation that begins at `at`; nullptr: none.
  const Reservation* find(std::uint64_t at) const;
  // The reservation that contains `at`; end() if none.
  using Reservations = std::map<std::uint64_t, Reservation>;
  Reservations::const_iterator containing(std::uint64_t at) const;
  Reservations::const_iterator end() const { return reserved_.end(); }

 private:
  static constexpr unsigned kFirstOrder = 21;  // a page
  static constexpr unsigned kLastOrder = 43;   // 8 TiB
  static constexpr unsigned kWholeOrder = 42;  // above the managed window's longest block
  // Lowest addresses first, by order.
  using Blocks = std::array<std::set<std::uint64_t>, kLastOrder + 1>;

  VirtualRanges() = default;
  static Blocks managed_blocks();
  bool take_whole(std::uint64_t begin, Bytes size, unsigned order, bool plain);

  static unsigned order_of(Bytes size, Bytes alignment);

  Reservations reserved_;
  Blocks free_, whole_;  // whole_: of the managed window when nothing is reserved
};

}  // namespace npu::driver
