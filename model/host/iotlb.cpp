// SPDX-License-Identifier: Apache-2.0
#include "model/host/iotlb.hpp"

#include <iterator>

namespace npu::model {

const SimTime* Iotlb::find(const IommuPage& page) {
  const auto found = by_page_.find(page);
  if (found == by_page_.end()) return nullptr;
  used_.splice(used_.begin(), used_, found->second);
  return &found->second->walked;
}

void Iotlb::insert(const IommuPage& page, SimTime walked) {
  if (by_page_.size() == entries_) {
    by_page_.erase(used_.back().page);
    used_.pop_back();
  }
  used_.push_front({page, walked});
  by_page_.emplace(page, used_.begin());
}

void Iotlb::drop(const IommuPage& page) {
  const auto found = by_page_.find(page);
  if (found == by_page_.end()) return;
  used_.erase(found->second);
  by_page_.erase(found);
}

// Pages of all sizes: what begins in front of the range may reach into it.
void Iotlb::drop(std::uint32_t requester, std::uint64_t bus, Bytes size) {
  for (auto it = by_page_.lower_bound({requester, 0, 0});
       it != by_page_.end() && it->first.requester == requester;) {
    const auto& page = it->first;
    const bool meets = page.bus < bus ? bus - page.bus < page.size : page.bus - bus < size;
    if (meets) used_.erase(it->second);
    it = meets ? by_page_.erase(it) : std::next(it);
  }
}

}  // namespace npu::model
