// SPDX-License-Identifier: Apache-2.0
// The pages in which the IOMMU maps memory: the largest that fits at each place, as an operating
// system maps what is contiguous.
#pragma once

#include <cstdint>

#include "model/core/bus_page.hpp"
#include "npu/base/checked.hpp"
#include "npu/base/units.hpp"

namespace npu::model {

// Pages of 4 KiB, 2 MiB and 1 GiB; `largest` is one of them. Memory lies at addresses that allow
// the pages that its bus addresses allow.
class DmaPages {
 public:
  explicit DmaPages(Bytes largest) : largest_(largest) {}

  // The size of the page that `bus` lies in when [begin, begin + size) is mapped around it.
  Bytes size_at(std::uint64_t bus, std::uint64_t begin, Bytes size) const {
    for (Bytes page = largest_; page > kBusPage; page /= kTablePages) {
      const std::uint64_t start = align_down(bus, page);
      if (start >= begin && range_fits(start - begin, page, size)) return page;
    }
    return kBusPage;
  }
  // How many pages map [begin, begin + size).
  std::uint64_t count(std::uint64_t begin, Bytes size) const {
    std::uint64_t pages = 0;
    for (Bytes done = 0; done < size; ++pages) done += size_at(begin + done, begin, size);
    return pages;
  }
  // Of a buffer that shall lie in the largest pages that it fills.
  Bytes alignment(Bytes size) const {
    Bytes page = largest_;
    while (page > kBusPage && page > size) page /= kTablePages;
    return page;
  }
  // Tables that lead to a page of `size`.
  static unsigned levels(Bytes size) {
    unsigned levels = kLevels;
    for (; size > kBusPage; size /= kTablePages) --levels;
    return levels;
  }

 private:
  static constexpr Bytes kTablePages = 512;  // entries of a table
  static constexpr unsigned kLevels = 4;     // of addresses of 48 bits
  Bytes largest_;
};

}  // namespace npu::model
