// SPDX-License-Identifier: Apache-2.0
// Bytes that something has accessed, as pieces of memory that do not overlap.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace npu::sim {

// Bytes, in pieces.
class Extents {
 public:
  void add(std::uint64_t begin, std::uint64_t end) {
    if (!all_.empty() && all_.back().second >= begin && all_.back().first <= begin) {
      all_.back().second = std::max(all_.back().second, end);
      return;
    }
    all_.emplace_back(begin, end);
    if (all_.size() >= most_) {
      merge();
      most_ = std::max(kFew, 2 * all_.size());
    }
  }
  const std::vector<std::pair<std::uint64_t, std::uint64_t>>& merge() {
    std::sort(all_.begin(), all_.end());
    std::size_t last = 0;
    for (std::size_t i = 1; i < all_.size(); ++i) {
      if (all_[i].first <= all_[last].second) {
        all_[last].second = std::max(all_[last].second, all_[i].second);
      } else {
        all_[++last] = all_[i];
      }
    }
    if (!all_.empty()) all_.resize(last + 1);
    return all_;
  }

 private:
  static constexpr std::size_t kFew = 4096;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> all_;
  std::size_t most_ = kFew;
};

}  // namespace npu::sim
