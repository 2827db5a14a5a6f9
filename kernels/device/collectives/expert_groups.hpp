// SPDX-License-Identifier: Apache-2.0
// The rows that have come to a rank, group after group.
#pragma once

#include <algorithm>

#include "npu/abi/expert_exchange.hpp"
#include "npu/aicore/kernel.hpp"

namespace npu::kernels::collectives {

struct ExpertGroups {
  abi::ExpertGroup of[abi::ExpertExchange::kMostExperts] = {};

  // Calls visit(group, n, row) for the block's part of all rows, the n-th of the group's: each
  // block has as many as the others.
  template <class Visit>
  void for_rows(const platform::KernelCall& call, std::uint32_t groups, Visit visit) const {
    std::uint64_t rows = 0;
    for (std::uint32_t i = 0; i < groups; ++i) rows += of[i].count;
    const std::uint64_t begin = rows * call.block / call.blocks;
    const std::uint64_t end = rows * (call.block + 1) / call.blocks;
    std::uint64_t first = 0;  // of the group's rows
    for (std::uint32_t group = 0; first < end; first += of[group++].count) {
      const std::uint64_t last = std::min(first + of[group].count, end);
      for (std::uint64_t row = std::max(first, begin); row < last; ++row) {
        visit(group, row - first, row);
      }
    }
  }
};

}  // namespace npu::kernels::collectives
