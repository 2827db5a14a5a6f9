// SPDX-License-Identifier: Apache-2.0
// Where in device memory the lines lie that AICPU caches hold by virtual address: for those who
// write without knowing of virtual addresses. A line that a cache has let go of since may be named.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "model/core/space_id.hpp"
#include "npu/base/units.hpp"

namespace npu::model {

class HeldLines {
 public:
  static constexpr Bytes kLine = 64;
  struct Holder {
    unsigned core;
    SpaceId vmid;
    std::uint64_t address;
    bool operator==(const Holder& other) const {
      return core == other.core && vmid == other.vmid && address == other.address;
    }
  };

  void add(std::uint64_t local, const Holder& holder) {
    auto& all = lines_[local / kLine];
    if (std::find(all.begin(), all.end(), holder) != all.end()) return;
    all.push_back(holder);
    ++size_;
  }
  // Calls tell(holder) for each of [local, local + length), and forgets it.
  template <class F>
  void take(std::uint64_t local, Bytes length, F tell) {
    if (length == 0) return;
    const std::uint64_t last = (local + length - 1) / kLine;
    auto line = lines_.lower_bound(local / kLine);
    while (line != lines_.end() && line->first <= last) {
      const auto told = std::move(line->second);
      line = lines_.erase(line);
      size_ -= told.size();
      for (const auto& holder : told) tell(holder);
    }
  }
  // Forgets those of which holds(holder) is not true any more.
  template <class F>
  void keep(F holds) {
    size_ = 0;
    for (auto line = lines_.begin(); line != lines_.end();) {
      auto& all = line->second;
      all.erase(std::remove_if(all.begin(), all.end(),
                               [&](const Holder& holder) { return !holds(holder); }),
                all.end());
      size_ += all.size();
      line = all.empty() ? lines_.erase(line) : std::next(line);
    }
  }
  void clear() { lines_.clear(), size_ = 0; }
  std::size_t size() const { return size_; }

 private:
  std::map<std::uint64_t, std::vector<Holder>> lines_;  // by address / kLine
  std::size_t size_ = 0;                                // holders
};

}  // namespace npu::model
