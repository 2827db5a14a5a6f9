// SPDX-License-Identifier: Apache-2.0
// All ranks meet: each says by a flag in its own window that it has come, and its cores read the
// peers' flags until all have.
#pragma once

#include "kernels/device/collectives/windows.hpp"

namespace npu::kernels::collectives {

// The rank whose data a block reads in its step `step`, 0 .. ranks - 1; one of them is its own
// rank. The blocks of a card begin with different ranks, so that all links carry.
inline unsigned rank_in_step(AicorePort& port, const abi::VectorCollective& work, unsigned step) {
  return (work.rank + 1 + port.call().block + step) % work.ranks;
}

class Meetings {
 public:
  Meetings(AicorePort& port, const abi::VectorCollective& work, const Windows& windows)
      : port_(port), work_(work), windows_(windows) {}

  // What the block's pipes have done is in memory. Ends with an exception if a peer does not come.
  void meet() {
    const std::uint64_t offset = met_++ * abi::kCacheLine;
    gather_blocks(port_);
    if (port_.call().block == 0) {
      const std::uint64_t own = windows_.flags(work_.rank) + offset;
      port_.store(own, 8, work_.number);
      publish(port_, own);
    }
    const Patience patience(port_, work_.number, work_.timeout);
    for (unsigned i = port_.call().block + 1; i < work_.ranks; i += port_.call().blocks) {
      patience.await(windows_.flags((work_.rank + i) % work_.ranks) + offset);
    }
    gather_blocks(port_);
  }

 private:
  AicorePort& port_;
  const abi::VectorCollective& work_;
  const Windows& windows_;
  unsigned met_ = 0;
};

}  // namespace npu::kernels::collectives
