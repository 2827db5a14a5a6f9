// SPDX-License-Identifier: Apache-2.0
// Which cards may reach this one's memory (HCCS_ACCESS): those that have leases of it.
#pragma once

#include <array>

#include "driver/link/card_link.hpp"
#include "driver/support/spin_lock.hpp"
#include "npu/abi/registers.hpp"

namespace npu::driver {

// Shared by the card and the leases, which may outlive it.
class PeerGate {
 public:
  explicit PeerGate(CardLink& link) : clock_(link.clock()), link_(&link) {}

  // One more lease of `card`, below kMaxHccsCards. The card knows it when this returns.
  Status admit(unsigned card);
  // One less; nothing of that card is in flight to what was leased.
  void dismiss(unsigned card);
  // For all and for good.
  void close();

 private:
  platform::Clock& clock_;
  SpinLock lock_;
  CardLink* link_;                                           // null: closed
  std::array<std::uint64_t, abi::HccsWord::kWords> open_{};  // as in the registers
  std::array<unsigned, abi::kMaxHccsCards> leases_{};
};

}  // namespace npu::driver
