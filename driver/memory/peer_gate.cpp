// SPDX-License-Identifier: Apache-2.0
#include "driver/memory/peer_gate.hpp"

namespace npu::driver {

Status PeerGate::admit(unsigned card) {
  lock_.lock(clock_);
  const SpinLockHolder holder(lock_);
  if (link_ == nullptr) return fail(ErrorCode::kInvalidArgument, "the device is shut down");
  const Bytes word = abi::HccsWord::offset_of(card);
  const std::uint64_t bit = abi::HccsWord::bit_of(card);
  auto& open = open_[card / abi::HccsWord::kCards];
  if ((open & bit) == 0) {
    link_->write(abi::HccsAccess::from_raw(open | bit), word);
    // The write is posted, and what the peer sends takes another way: it must not come first.
    const auto read_back = link_->read<abi::HccsAccess>(link_->registers(), word);
    if (!read_back) return forward_error(read_back);
    open |= bit;
  }
  ++leases_[card];
  return {};
}

void PeerGate::dismiss(unsigned card) {
  lock_.lock(clock_);
  const SpinLockHolder holder(lock_);
  if (--leases_[card] > 0) return;
  auto& open = open_[card / abi::HccsWord::kCards];
  open &= ~abi::HccsWord::bit_of(card);
  if (link_ == nullptr || link_->lost()) return;
  link_->write(abi::HccsAccess::from_raw(open), abi::HccsWord::offset_of(card));
}

void PeerGate::close() {
  lock_.lock(clock_);
  const SpinLockHolder holder(lock_);
  if (link_ == nullptr) return;
  for (unsigned i = 0; i < open_.size() && !link_->lost(); ++i) {
    if (open_[i] == 0) continue;
    link_->write(abi::HccsAccess{}, abi::HccsWord::offset_of(i * abi::HccsWord::kCards));
  }
  link_ = nullptr;
}

}  // namespace npu::driver
