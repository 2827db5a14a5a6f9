// SPDX-License-Identifier: Apache-2.0
// Memory that counts for a client, until the object goes.
#pragma once

#include <memory>
#include <utility>

#include "npu/driver/quota.hpp"

namespace npu::driver {

class MemoryCharge {
 public:
  MemoryCharge() = default;
  // Nothing: over the limit, which is a refusal if it `counts`.
  static MemoryCharge take(const std::shared_ptr<MemoryQuota>& quota, Bytes size, bool counts) {
    return quota->charge(size, MemoryQuota::Kind::kAllocated, counts) ? MemoryCharge(quota, size)
                                                                      : MemoryCharge();
  }
  ~MemoryCharge() { drop(); }
  MemoryCharge(MemoryCharge&& other) noexcept
      : quota_(std::move(other.quota_)), size_(std::exchange(other.size_, 0)) {}
  MemoryCharge& operator=(MemoryCharge&& other) noexcept {
    if (this == &other) return *this;
    drop();
    quota_ = std::move(other.quota_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  explicit operator bool() const { return quota_ != nullptr; }
  const std::shared_ptr<MemoryQuota>& quota() const { return quota_; }
  // It is somebody else's from now on; null: nobody's.
  void pass_to(const std::shared_ptr<MemoryQuota>& quota) {
    const Bytes size = size_;
    if (quota != nullptr) quota->force_charge(size, MemoryQuota::Kind::kAllocated);
    drop();
    quota_ = quota;
    size_ = quota == nullptr ? 0 : size;
  }

 private:
  MemoryCharge(std::shared_ptr<MemoryQuota> quota, Bytes size)
      : quota_(std::move(quota)), size_(size) {}
  void drop() {
    if (quota_ != nullptr) quota_->uncharge(size_, MemoryQuota::Kind::kAllocated);
    quota_.reset();
  }

  std::shared_ptr<MemoryQuota> quota_;
  Bytes size_ = 0;
};

}  // namespace npu::driver
