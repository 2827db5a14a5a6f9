// SPDX-License-Identifier: Apache-2.0
// Memory that other cards may reach. Its owner lends it: while a lease exists the block neither
// moves nor goes away. Leases end without the owner's mutex, so that two cards may lend to each
// other; the owner looks whether there are any left when it matters.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

namespace npu::driver {

class PeerLease {
 public:
  using Count = std::atomic<unsigned>;

  PeerLease() = default;
  explicit PeerLease(std::shared_ptr<Count> count) : count_(std::move(count)) {
    count_->fetch_add(1, std::memory_order_relaxed);
  }
  PeerLease(PeerLease&& other) noexcept : count_(std::move(other.count_)) {}
  PeerLease& operator=(PeerLease&& other) noexcept {
    end();
    count_ = std::move(other.count_);
    return *this;
  }
  ~PeerLease() { end(); }

  explicit operator bool() const { return count_ != nullptr; }

 private:
  // What the borrower did before, it did before the owner finds the lease ended.
  void end() {
    if (count_) count_->fetch_sub(1, std::memory_order_release);
    count_.reset();
  }

  std::shared_ptr<Count> count_;
};

}  // namespace npu::driver
