// SPDX-License-Identifier: Apache-2.0
// The page tables of processes whose addresses functions share, as the IOMMU walks them.
#pragma once

#include <map>
#include <utility>

#include "model/host/iommu.hpp"

namespace npu::model {

class ProcessTables {
 public:
  // Of the process as the function sees it, empty at first.
  Iommu& open(std::uint32_t requester, std::uint32_t pasid) { return tables_[{requester, pasid}]; }
  // Null: the function shares no such process.
  Iommu* find(std::uint32_t requester, std::uint32_t pasid) {
    const auto found = tables_.find({requester, pasid});
    return found == tables_.end() ? nullptr : &found->second;
  }
  // All processes of the function.
  void close(std::uint32_t requester) {
    const auto first = tables_.lower_bound({requester, 0});
    auto last = first;
    while (last != tables_.end() && last->first.first == requester) ++last;
    tables_.erase(first, last);
  }

 private:
  std::map<std::pair<std::uint32_t, std::uint32_t>, Iommu> tables_;
};

}  // namespace npu::model
