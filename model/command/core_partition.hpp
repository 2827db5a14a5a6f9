// SPDX-License-Identifier: Apache-2.0
// Which of a card's cores of one kind are a function's. Its driver numbers them from 0.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "npu/abi/queue.hpp"

namespace npu::model {

class CorePartition {
 public:
  using Mask = std::array<std::uint64_t, abi::kCoreMaskWords>;

  // `cores`: their numbers on the card, in the driver's order; those beyond a mask are not used.
  explicit CorePartition(const std::vector<unsigned>& cores) : cores_(cores) {
    cores_.resize(std::min<std::size_t>(cores_.size(), 64 * abi::kCoreMaskWords));
    for (unsigned i = 0; i < cores_.size(); ++i) {
      add(all_, cores_[i]);
      same_ = same_ && cores_[i] == i;
    }
  }

  const Mask& all() const { return all_; }
  // The card's numbers of those that the driver means.
  Mask of_card(const Mask& mask) const {
    Mask found{};
    for (std::size_t i = 0; same_ && i < found.size(); ++i) found[i] = all_[i] & mask[i];
    for (unsigned i = 0; !same_ && i < cores_.size(); ++i) {
      if ((mask[i / 64] >> i % 64 & 1) != 0) add(found, cores_[i]);
    }
    return found;
  }
  // The driver's number of a core that is the function's.
  unsigned of_driver(unsigned core) const {
    const auto found = std::find(cores_.begin(), cores_.end(), core);
    return static_cast<unsigned>(found - cores_.begin());
  }

 private:
  static void add(Mask& mask, unsigned core) { mask[core / 64] |= std::uint64_t{1} << core % 64; }

  std::vector<unsigned> cores_;
  Mask all_{};
  bool same_ = true;  // card and driver use the same numbers
};

}  // namespace npu::model
