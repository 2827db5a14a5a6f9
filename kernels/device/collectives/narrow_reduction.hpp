// SPDX-License-Identifier: Apache-2.0
// A block's part of a reduction of integers of 8 and 16 bits, which vector instructions do not
// add: the stores into memory reduce, as do the DMA engines' for other algorithms.
#pragma once

#include "kernels/device/collectives/meeting.hpp"
#include "kernels/device/collectives/slices.hpp"

namespace npu::kernels::collectives {

constexpr bool is_narrow(abi::ElementType type) {
  return type == abi::ElementType::kInt8 || type == abi::ElementType::kInt16;
}

class NarrowReduction {
 public:
  NarrowReduction(AicorePort& port, const abi::VectorCollective& work, const Windows& windows)
      : port_(port), work_(work), windows_(windows) {}

  // As RankReduction::run().
  [[gnu::noinline]] void run(std::uint64_t from, std::uint64_t size, std::uint64_t to,
                             std::uint64_t copy) {
    {
      Passage passage(port_);
      passage.copy(windows_.data(rank_in_step(port_, work_, 0)) + from, to, size);
    }
    port_.set_store_reduction({work_.reduction, work_.type});
    {
      Passage passage(port_);
      for (unsigned step = 1; step < work_.ranks; ++step) {
        passage.copy(windows_.data(rank_in_step(port_, work_, step)) + from, to, size);
      }
    }
    port_.set_store_reduction({});
    if (copy == 0) return;
    Passage passage(port_);
    passage.copy(to, copy, size);
  }

 private:
  AicorePort& port_;
  const abi::VectorCollective& work_;
  const Windows& windows_;
};

}  // namespace npu::kernels::collectives
