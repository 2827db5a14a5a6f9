// SPDX-License-Identifier: Apache-2.0
// Where a card reaches the memory of the others: over the HCCS link between them, or, where there
// is none, behind their BAR2.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "driver/device/device_impl.hpp"
#include "driver/memory/peer_lease.hpp"
#include "npu/abi/layout.hpp"
#include "npu/abi/page_table.hpp"

namespace npu::driver {

class PeerWays {
 public:
  explicit PeerWays(Device::Impl& own) : own_(own) {}

  // What page copies of the card name memory of `other` by, device-local there (abi/page_copy.hpp);
  // nothing: there is no link that is up.
  std::optional<std::uint64_t> over_link(const Device::Impl& other, std::uint64_t memory) {
    const unsigned index = other.card.device_index;
    const auto links = own_.link->read<abi::HccsLinks>();
    const bool linked = links && index < abi::kMaxHccsCards && (links->raw >> index & 1) != 0;
    if (!linked) return std::nullopt;
    auto& lease = leases_[index];
    if (!lease && !let_in(other, lease)) return std::nullopt;
    constexpr std::uint64_t kInPage = (std::uint64_t{1} << abi::PageTableEntry::Address::kLow) - 1;
    return abi::PageTableEntry::peer_target(index, memory) | (memory & kInPage);
  }
  // The first byte of its memory on the bus; nothing: there is no way.
  std::optional<platform::BusAddress> over_bus(const Device::Impl& other) {
    const auto bdf = other.card.bdf();
    const auto known = ways_.find(bdf.packed());
    if (known != ways_.end()) return known->second;
    const auto way = own_.platform.peer_address(own_.card.bdf(), bdf, abi::kMemoryBar, 0);
    return ways_[bdf.packed()] = way ? std::optional(*way) : std::nullopt;
  }

 private:
  // As long as there is managed memory.
  bool let_in(const Device::Impl& other, PeerLease& lease) const {
    PeerLease made(std::make_shared<PeerLease::Count>(0));
    if (!made.let_in(other.peers, own_.card.device_index)) return false;
    lease = std::move(made);
    return true;
  }

  Device::Impl& own_;
  std::map<unsigned, PeerLease> leases_;                               // by device index
  std::map<std::uint16_t, std::optional<platform::BusAddress>> ways_;  // by packed BDF
};

}  // namespace npu::driver
