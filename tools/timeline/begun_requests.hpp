// SPDX-License-Identifier: Apache-2.0
// Which requests' submissions a timeline holds: of one that a filter has kept out, an arrow would
// have no begin. A range per ring, for memory must not grow with the requests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

#include "tools/timeline/cause.hpp"

namespace npu::timeline {

class BegunRequests {
 public:
  void add(std::uint64_t cause) {
    const std::uint64_t index = cause_index(cause);
    auto& range = rings_.try_emplace(cause - index, Range{index, index}).first->second;
    range.first = std::min(range.first, index);
    range.last = std::max(range.last, index);
  }
  // The ring of that request begins anew.
  void forget(std::uint64_t cause) { rings_.erase(cause - cause_index(cause)); }
  bool holds(std::uint64_t cause) const {
    const std::uint64_t index = cause_index(cause);
    const auto ring = rings_.find(cause - index);
    return ring != rings_.end() && ring->second.first <= index && index <= ring->second.last;
  }

 private:
  struct Range {
    std::uint64_t first, last;
  };
  std::map<std::uint64_t, Range> rings_;  // by the cause without its index
};

}  // namespace npu::timeline
