// SPDX-License-Identifier: Apache-2.0
// Memory that other cards may reach. Its owner lends it: while a lease exists the block neither
// moves nor goes away. Leases end without the owner's mutex, so that two cards may lend to each
// other; the owner looks whether there are any left when it matters.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "driver/memory/peer_gate.hpp"

namespace npu::driver {

class PeerLease {
 public:
  using Count = std::atomic<unsigned>;

  PeerLease() = default;
  explicit PeerLease(std::shared_ptr<Count> count) : count_(std::move(count)) {
    count_->fetch_add(1, std::memory_order_relaxed);
  }
  PeerLease(PeerLease&& other) noexcept
      : count_(std::move(other.count_)), gate_(std::move(other.gate_)), card_(other.card_) {}
  PeerLease& operator=(PeerLease&& other) noexcept {
    end();
    count_ = std::move(other.count_);
    gate_ = std::move(other.gate_);
    card_ = other.card_;
    return *this;
  }
  ~PeerLease() { end(); }

  // Lets `card` in for as long as the lease lasts.
  Status let_in(const std::shared_ptr<PeerGate>& gate, unsigned card) {
    if (auto ok = gate->admit(card); !ok) return ok;
    gate_ = gate;
    card_ = card;
    return {};
  }
  explicit operator bool() const { return count_ != nullptr; }

 private:
  // What the borrower did before, it did before the owner finds the lease ended.
  void end() {
    if (gate_) gate_->dismiss(card_);
    gate_.reset();
    if (count_) count_->fetch_sub(1, std::memory_order_release);
    count_.reset();
  }

  std::shared_ptr<Count> count_;
  std::shared_ptr<PeerGate> gate_;
  unsigned card_ = 0;  // the borrower's
};

}  // namespace npu::driver
