// SPDX-License-Identifier: Apache-2.0
// Small numbers, the lowest free one first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "driver/support/spin_lock.hpp"

namespace npu::driver {

class IdPool {
 public:
  IdPool(std::uint32_t first, std::uint32_t count) : first_(first), used_(count) {}

  std::optional<std::uint32_t> allocate() {
    while (lowest_ < used_.size() && used_[lowest_]) ++lowest_;
    if (lowest_ == used_.size()) return std::nullopt;
    used_[lowest_] = true;
    ++in_use_;
    return first_ + lowest_++;
  }
  // `id` is in use.
  void free(std::uint32_t id) {
    used_[id - first_] = false;
    --in_use_;
    lowest_ = std::min(lowest_, id - first_);
  }
  bool contains(std::uint32_t id) const {
    return id >= first_ && id - first_ < used_.size() && used_[id - first_];
  }
  std::uint32_t in_use() const { return in_use_; }
  std::uint32_t capacity() const { return static_cast<std::uint32_t>(used_.size()); }

 private:
  const std::uint32_t first_;
  std::vector<bool> used_;
  std::uint32_t lowest_ = 0;  // none below it is free
  std::uint32_t in_use_ = 0;
};

// The same for several tasks.
class SharedIdPool {
 public:
  SharedIdPool(platform::Clock& clock, std::uint32_t first, std::uint32_t count)
      : clock_(clock), pool_(first, count) {}

  std::optional<std::uint32_t> allocate() {
    lock_.lock(clock_);
    const SpinLockHolder holder(lock_);
    return pool_.allocate();
  }
  void free(std::uint32_t id) {
    lock_.lock(clock_);
    const SpinLockHolder holder(lock_);
    pool_.free(id);
  }
  std::uint32_t in_use() const {
    lock_.lock(clock_);
    const SpinLockHolder holder(lock_);
    return pool_.in_use();
  }
  std::uint32_t capacity() const { return pool_.capacity(); }

 private:
  platform::Clock& clock_;
  mutable SpinLock lock_;
  IdPool pool_;
};

// An id that goes back to its pool by itself.
class PooledId {
 public:
  PooledId() = default;
  PooledId(SharedIdPool& pool, std::uint32_t value) : pool_(&pool), value_(value) {}
  PooledId(PooledId&& other) noexcept
      : pool_(std::exchange(other.pool_, nullptr)), value_(other.value_) {}
  PooledId& operator=(PooledId&& other) noexcept {
    if (pool_ != nullptr) pool_->free(value_);
    pool_ = std::exchange(other.pool_, nullptr);
    value_ = other.value_;
    return *this;
  }
  ~PooledId() {
    if (pool_ != nullptr) pool_->free(value_);
  }

  std::uint32_t value() const { return value_; }
  // Nobody gets it any more: the card may still use it.
  void lose() { pool_ = nullptr; }

 private:
  SharedIdPool* pool_ = nullptr;
  std::uint32_t value_ = 0;
};

}  // namespace npu::driver
