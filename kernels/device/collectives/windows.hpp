// SPDX-License-Identifier: Apache-2.0
// The ranks' windows as this rank's card has them, and what a kernel waits for there.
#pragma once

#include <algorithm>

#include "npu/abi/handshake.hpp"
#include "npu/abi/vector_collective.hpp"
#include "npu/aicore/kernel.hpp"

namespace npu::kernels::collectives {

using aicore::AicorePort;

class Windows {
 public:
  // The addresses of the windows are the arguments from `first` on. `number`: of the launch;
  // `half`: bytes of a half.
  Windows(const aicore::Arguments& arguments, unsigned first, std::uint64_t number,
          std::uint64_t half)
      : arguments_(arguments), first_(first), odd_(number % 2), half_(half) {}

  std::uint64_t flags(unsigned rank) const { return arguments_.word(first_ + rank); }
  // Of this launch: what peers tell by lines, and the half.
  std::uint64_t line(unsigned rank, std::uint64_t index) const {
    return flags(rank) + abi::VectorCollective::kFlags + odd_ * abi::VectorCollective::kLines +
           index * abi::kCacheLine;
  }
  std::uint64_t data(unsigned rank) const {
    return flags(rank) + abi::VectorCollective::kHead + odd_ * half_;
  }

 private:
  const aicore::Arguments& arguments_;
  const unsigned first_;
  const std::uint64_t odd_, half_;
};

// What the scalar unit has stored in a line goes to memory.
inline void publish(AicorePort& port, std::uint64_t line) {
  port.clean_invalidate(line);
  port.memory_barrier();
}

// All blocks of the card have come here.
inline void gather_blocks(AicorePort& port) {
  constexpr unsigned kFlag = 0;  // between the card's cores
  if (port.call().blocks == 1) return;
  port.set_cross_flag(platform::Pipe::kScalar, platform::CrossScope::kSameType, kFlag);
  port.wait_cross_flag(platform::Pipe::kScalar, platform::CrossScope::kSameType, kFlag);
}

// For flags that peers raise in one phase of a launch, together no longer than `timeout` ns.
class Patience {
 public:
  Patience(AicorePort& port, std::uint64_t number, std::uint64_t timeout)
      : port_(port),
        number_(number),
        begin_(port.system_counter()),
        deadline_(begin_ + timeout * (port.counter_hz() / 1'000) / 1'000'000) {}

  // Until the number there is that of the launch, or a later one. Ends with an exception if the
  // peer does not come.
  void await(std::uint64_t flag) const {
    for (;;) {
      port_.clean_invalidate(flag);
      if (port_.load(flag, 8) >= number_) return;
      const std::uint64_t now = port_.system_counter();
      if (now >= deadline_) port_.trap(abi::kVectorCollectiveTimeout);
      const std::uint64_t pause = std::min((now - begin_) / kShare, kLongestPause);
      if (pause != 0) port_.scalar(static_cast<unsigned>(pause) * kClocks);
    }
  }

 private:
  // Who has waited long looks less often: by no more than a share of that.
  static constexpr std::uint64_t kShare = 64;
  static constexpr std::uint64_t kLongestPause = 5'000'000;  // ticks
  static constexpr unsigned kClocks = 20;  // of a core in a tick, at least: 1 GHz, 50 MHz

  AicorePort& port_;
  const std::uint64_t number_, begin_, deadline_;
};

}  // namespace npu::kernels::collectives
