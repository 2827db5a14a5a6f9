// SPDX-License-Identifier: Apache-2.0
// The IOMMU's translation lookaside buffer: pages of functions, fully associative, least recently
// used out first.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <tuple>

#include "model/core/simulation.hpp"
#include "npu/base/units.hpp"

namespace npu::model {

// A page of bus addresses of a function, or of a process' addresses that it shares.
struct IommuPage {
  std::uint32_t requester;  // packed BDF
  std::uint64_t bus;        // its begin
  Bytes size;
  std::uint32_t pasid = 0;  // of the process; 0: the function's own

  friend bool operator<(const IommuPage& a, const IommuPage& b) {
    return std::tie(a.requester, a.bus, a.size, a.pasid) <
           std::tie(b.requester, b.bus, b.size, b.pasid);
  }
};

class Iotlb {
 public:
  explicit Iotlb(unsigned entries) : entries_(entries) {}

  // When the page's walk ends or has ended; null: it is not there.
  const SimTime* find(const IommuPage& page);
  void insert(const IommuPage& page, SimTime walked);
  // Pages of the function that [bus, bus + size) meets.
  void drop(const IommuPage& page);
  void drop(std::uint32_t requester, std::uint64_t bus, Bytes size);

 private:
  struct Entry {
    IommuPage page;
    SimTime walked;
  };
  unsigned entries_;
  std::list<Entry> used_;  // the one used last in front
  std::map<IommuPage, std::list<Entry>::iterator> by_page_;
};

}  // namespace npu::model
