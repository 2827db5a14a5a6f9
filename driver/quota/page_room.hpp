// SPDX-License-Identifier: Apache-2.0
// A managed page's place in its client's quota, until the page has come; given back if it does not.
#pragma once

#include <utility>

#include "npu/driver/memory.hpp"
#include "npu/driver/quota.hpp"

namespace npu::driver {

class PageRoom {
 public:
  PageRoom() = default;  // there is no quota
  explicit PageRoom(MemoryQuota& taken_from) : quota_(&taken_from) {}
  ~PageRoom() {
    if (quota_ != nullptr) quota_->uncharge(kPageSize, MemoryQuota::Kind::kManaged);
  }
  PageRoom(PageRoom&& other) noexcept : quota_(std::exchange(other.quota_, nullptr)) {}
  PageRoom& operator=(PageRoom&&) = delete;

  // The page has come. Whether it counts.
  bool commit() {
    if (quota_ == nullptr) return false;
    std::exchange(quota_, nullptr)->note_use();
    return true;
  }

 private:
  MemoryQuota* quota_ = nullptr;
};

}  // namespace npu::driver
