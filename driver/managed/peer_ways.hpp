// SPDX-License-Identifier: Apache-2.0
// Where a card reaches the memory of the others: their BAR2, as bus addresses.
#pragma once

#include <map>
#include <optional>

#include "npu/abi/layout.hpp"
#include "npu/platform/platform.hpp"

namespace npu::driver {

class PeerWays {
 public:
  PeerWays(platform::Platform& platform, platform::Bdf own) : platform_(platform), own_(own) {}

  // The first byte of its memory; nothing: there is no way.
  std::optional<platform::BusAddress> to(platform::Bdf other) {
    const auto known = ways_.find(other.packed());
    if (known != ways_.end()) return known->second;
    const auto way = platform_.peer_address(own_, other, abi::kMemoryBar, 0);
    return ways_[other.packed()] = way ? std::optional(*way) : std::nullopt;
  }

 private:
  platform::Platform& platform_;
  const platform::Bdf own_;
  std::map<std::uint16_t, std::optional<platform::BusAddress>> ways_;  // by packed BDF
};

}  // namespace npu::driver
