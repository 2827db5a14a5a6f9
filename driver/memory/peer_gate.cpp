// SPDX-License-Identifier: Apache-2.0
#include "driver/memory/peer_gate.hpp"

namespace npu::driver {

Status PeerGate::admit(unsigned card) {
  lock_.lock(clock_);
  const SpinLockHolder holder(lock_);
  if (link_ == nullptr) return fail(ErrorCode::kInvalidArgument, "the device is shut down");
  const std::uint64_t bit = std::uint64_t{1} << card;
  if ((open_ & bit) == 0) {
    link_->write(abi::HccsAccess::from_raw(open_ | bit));
    // The write is posted, and what the peer sends takes another way: it must not come first.
    const auto read_back = link_->read<abi::HccsAccess>();
    if (!read_back) return forward_error(read_back);
    open_ |= bit;
  }
  ++leases_[card];
  return {};
}

void PeerGate::dismiss(unsigned card) {
  lock_.lock(clock_);
  const SpinLockHolder holder(lock_);
  if (--leases_[card] > 0) return;
  open_ &= ~(std::uint64_t{1} << card);
  if (link_ != nullptr && !link_->lost()) link_->write(abi::HccsAccess::from_raw(open_));
}

void PeerGate::close() {
  lock_.lock(clock_);
  const SpinLockHolder holder(lock_);
  if (link_ == nullptr) return;
  if (open_ != 0 && !link_->lost()) link_->write(abi::HccsAccess::from_raw(0));
  link_ = nullptr;
}

}  // namespace npu::driver
