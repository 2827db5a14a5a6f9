// SPDX-License-Identifier: Apache-2.0
// The IOMMU: which bus addresses a function reaches, and what lies there. Every function has an
// address space of its own. A mapping is made in one piece and goes by pages: what is left of it
// are the pieces in front of and behind the pages that went.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "model/core/ports.hpp"
#include "npu/base/byte_span.hpp"
#include "npu/platform/memory.hpp"

namespace npu::model {

class Iommu {
 public:
  // Bus addresses [bus, bus + memory.size) of `requester`.
  struct Mapping {
    std::uint32_t requester = 0;  // packed BDF
    std::uint64_t bus = 0;
    ByteSpan memory;
    platform::DmaDirection direction = platform::DmaDirection::kBidirectional;
    int node = 0;             // NUMA node of the memory
    std::uint32_t pasid = 0;  // the only one to reach it, beside requests without PASID
    bool retired = false;     // only writes with a translation from before reach it
  };
  struct Translation {
    Completion status = Completion::kUnsupportedRequest;  // or kPermission: wrong direction
    const Mapping* mapping = nullptr;                     // null unless kSuccess
  };

  // Bus addresses that no function has been given before, not next to each other: running off the
  // end of a mapping is a fault. `alignment` is a power of two.
  std::uint64_t allocate(Bytes size, Bytes alignment);
  // False: it meets a mapping of the function.
  bool map(const Mapping& mapping);
  // The pages of [bus, bus + size) that are mapped; both are multiples of 4 KiB unless the range
  // begins or ends with a mapping.
  void unmap(std::uint32_t requester, std::uint64_t bus, Bytes size) {
    take_out(requester, bus, size, false);
  }
  // The same, but writes of the function that it has a translation for go on to reach them, until
  // unmap().
  void retire(std::uint32_t requester, std::uint64_t bus, Bytes size) {
    take_out(requester, bus, size, true);
  }
  // The mapping that begins at `bus`.
  void bind(std::uint32_t requester, std::uint64_t bus, std::uint32_t pasid);
  // [bus, bus + length) must lie in one mapping.
  Translation translate(DmaRequester requester, std::uint64_t bus, Bytes length,
                        bool device_writes);

 private:
  using Place = std::pair<std::uint32_t, std::uint64_t>;  // function, bus address
  using Mappings = std::map<Place, Mapping>;
  Mappings::iterator first_behind(std::uint32_t requester, std::uint64_t bus);
  void take_out(std::uint32_t requester, std::uint64_t bus, Bytes size, bool retire);
  const Mapping* find(DmaRequester requester, std::uint64_t bus);

  Mappings mappings_;
  const Mapping* last_ = nullptr;  // most accesses hit the mapping of the one before
  std::uint64_t next_bus_ = 0x1'0000'0000;
};

}  // namespace npu::model
