// SPDX-License-Identifier: Apache-2.0
// Where a card reaches the memory of the others: over the HCCS link between them, or, where there
// is none, behind their BAR2.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "driver/link/card_link.hpp"
#include "driver/managed/local_address.hpp"
#include "driver/memory/peer_lease.hpp"
#include "npu/abi/layout.hpp"
#include "npu/abi/page_table.hpp"

namespace npu::driver {

class PeerWays {
 public:
  explicit PeerWays(CardLink& own) : own_(own) {}

  // What page copies of the card name memory of `other` by, into which `gate` lets it, device-local
  // there (abi/page_copy.hpp); nothing: there is no link that is up.
  std::optional<PeerTarget> over_link(const CardLink& other, const std::shared_ptr<PeerGate>& gate,
                                      LocalAddress memory) {
    const unsigned index = other.device_index();
    const auto linked = own_.has_link_to(index);
    if (!linked || !*linked) return std::nullopt;
    auto& lease = leases_[index];
    if (!lease && !let_in(gate, lease)) return std::nullopt;
    constexpr std::uint64_t kInPage = (std::uint64_t{1} << abi::PageTableEntry::Address::kLow) - 1;
    return PeerTarget{abi::PageTableEntry::peer_target(index, memory.value) |
                      (memory.value & kInPage)};
  }
  // The first byte of its memory on the bus; nothing: there is no way.
  std::optional<platform::BusAddress> over_bus(const CardLink& other) {
    const auto bdf = other.bdf();
    const auto known = ways_.find(bdf.packed());
    if (known != ways_.end()) return known->second;
    const auto way = own_.platform().peer_address(own_.bdf(), bdf, abi::kMemoryBar, 0);
    return ways_[bdf.packed()] = way ? std::optional(*way) : std::nullopt;
  }

 private:
  // As long as there is managed memory.
  bool let_in(const std::shared_ptr<PeerGate>& gate, PeerLease& lease) const {
    PeerLease made(std::make_shared<PeerLease::Count>(0));
    if (!made.let_in(gate, own_.device_index())) return false;
    lease = std::move(made);
    return true;
  }

  CardLink& own_;
  std::map<unsigned, PeerLease> leases_;                               // by device index
  std::map<std::uint32_t, std::optional<platform::BusAddress>> ways_;  // by packed BDF
};

}  // namespace npu::driver
