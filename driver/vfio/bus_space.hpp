// SPDX-License-Identifier: Apache-2.0
// Which bus addresses of an IOMMU address space are taken.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "npu/base/units.hpp"

namespace npu::driver::vfio {

struct BusRange {
  std::uint64_t first = 0, last = 0;  // inclusive
};

class BusSpace {
 public:
  // Addresses come from `ranges` (sorted, apart), the lowest free one from `preferred` on, or else
  // the lowest of all. Never from the first page: address 0 means "none" to the card.
  BusSpace(std::vector<BusRange> ranges, std::uint64_t preferred)
      : ranges_(std::move(ranges)), preferred_(preferred) {}

  // `size` is not 0, `alignment` a power of two. Nothing: no such gap.
  std::optional<std::uint64_t> take(Bytes size, Bytes alignment);
  void give_back(std::uint64_t address);

 private:
  std::optional<std::uint64_t> find(std::uint64_t from, Bytes size, Bytes alignment) const;
  std::optional<std::uint64_t> find_in(BusRange range, Bytes size, Bytes alignment) const;

  std::vector<BusRange> ranges_;
  std::uint64_t preferred_;
  std::map<std::uint64_t, Bytes> taken_;  // address -> size
};

}  // namespace npu::driver::vfio
