// SPDX-License-Identifier: Apache-2.0
// The card's address translation cache (PCIe ATS): which bus addresses are known to be mapped for
// device writes. Posted writes bring no answer, so a fault must be found before them.
#pragma once

#include <array>
#include <cstdint>

#include "model/core/ports.hpp"
#include "npu/base/units.hpp"

namespace npu::model {

class TranslationCache {
 public:
  // Bytes known to be mapped for `agent` from `bus` on; 0: ask.
  Bytes lookup(const HostAgent& agent, std::uint64_t bus) const {
    for (const auto& entry : entries_) {
      if (entry.agent == agent && bus - entry.begin < entry.length)
        return entry.length - (bus - entry.begin);
    }
    return 0;
  }
  void insert(const HostAgent& agent, std::uint64_t bus, Bytes length) {
    entries_[next_] = {bus, length, agent};
    next_ = (next_ + 1) % entries_.size();
  }
  void invalidate(unsigned function) {
    for (auto& entry : entries_) {
      if (entry.agent.function == function) entry = {};
    }
    ++generation_;
  }
  // Changes with each invalidation: an answer to an older question must not be kept.
  std::uint32_t generation() const { return generation_; }

 private:
  struct Entry {
    std::uint64_t begin = 0;
    Bytes length = 0;
    HostAgent agent;
  };
  std::array<Entry, 16> entries_{};
  std::size_t next_ = 0;
  std::uint32_t generation_ = 0;
};

}  // namespace npu::model
