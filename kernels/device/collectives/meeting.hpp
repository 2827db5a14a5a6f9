// SPDX-License-Identifier: Apache-2.0
// All ranks meet: each says by a flag in its own window that it has come, and its cores read the
// peers' flags until all have.
#pragma once

#include <algorithm>

#include "npu/abi/handshake.hpp"
#include "npu/abi/vector_collective.hpp"
#include "npu/aicore/kernel.hpp"

namespace npu::kernels::collectives {

using platform::AicorePort;

// Where the ranks' windows are, as this rank's card has them.
class Windows {
 public:
  Windows(const aicore::Arguments& arguments, const abi::VectorCollective& work)
      : arguments_(arguments), half_(work.number % 2 * work.half) {}

  std::uint64_t flags(unsigned rank) const {
    return arguments_.word(abi::VectorCollective::kWords + rank);
  }
  // The half of this launch.
  std::uint64_t data(unsigned rank) const {
    return flags(rank) + abi::VectorCollective::kFlags + half_;
  }

 private:
  const aicore::Arguments& arguments_;
  const std::uint64_t half_;
};

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
    gather_blocks();
    if (port_.call().block == 0) {
      const std::uint64_t own = windows_.flags(work_.rank) + offset;
      port_.store(own, 8, work_.number);
      port_.clean_invalidate(own);
      port_.memory_barrier();
    }
    const std::uint64_t ticks = work_.timeout * (port_.counter_hz() / 1'000) / 1'000'000;
    const std::uint64_t begin = port_.system_counter();
    for (unsigned i = port_.call().block + 1; i < work_.ranks; i += port_.call().blocks) {
      await(windows_.flags((work_.rank + i) % work_.ranks) + offset, begin, begin + ticks);
    }
    gather_blocks();
  }

 private:
  static constexpr unsigned kFlag = 0;  // between the card's cores
  // Who has waited long looks less often: by no more than a share of that.
  static constexpr std::uint64_t kShare = 64;

  void gather_blocks() {
    if (port_.call().blocks == 1) return;
    port_.set_cross_flag(platform::Pipe::kScalar, platform::CrossScope::kSameType, kFlag);
    port_.wait_cross_flag(platform::Pipe::kScalar, platform::CrossScope::kSameType, kFlag);
  }

  void await(std::uint64_t flag, std::uint64_t begin, std::uint64_t deadline) {
    for (;;) {
      port_.clean_invalidate(flag);
      if (port_.load(flag, 8) >= work_.number) return;
      const std::uint64_t now = port_.system_counter();
      if (now >= deadline) port_.trap(abi::kVectorCollectiveTimeout);
      const std::uint64_t pause = std::min((now - begin) / kShare, kLongestPause);
      if (pause != 0) port_.scalar(static_cast<unsigned>(pause) * kClocks);
    }
  }

  static constexpr std::uint64_t kLongestPause = 5'000'000;  // ticks
  static constexpr unsigned kClocks = 20;  // of a core in a tick, at least: 1 GHz, 50 MHz

  AicorePort& port_;
  const abi::VectorCollective& work_;
  const Windows& windows_;
  unsigned met_ = 0;
};

}  // namespace npu::kernels::collectives
