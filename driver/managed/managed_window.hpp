// SPDX-License-Identifier: Apache-2.0
// Addresses of a managed memory: of the window that all managed memories of a program share, or,
// without a program, of one of its own.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "driver/memory/address_windows.hpp"
#include "driver/support/impl_of.hpp"
#include "npu/driver/memory.hpp"

namespace npu::driver {

class ManagedWindow {
 public:
  explicit ManagedWindow(std::shared_ptr<UnifiedAddresses> program)
      : program_(program != nullptr ? std::move(program) : UnifiedAddresses::make()) {}
  ~ManagedWindow() {
    const std::lock_guard<std::mutex> held(impl_of(*program_).lock);
    for (const auto begin : begins_) impl_of(*program_).managed.release(begin);
  }
  ManagedWindow(const ManagedWindow&) = delete;
  ManagedWindow& operator=(const ManagedWindow&) = delete;

  // As VirtualRanges has them; whole pages.
  Result<std::uint64_t> reserve(Bytes size) {
    const std::lock_guard<std::mutex> held(impl_of(*program_).lock);
    auto begin = impl_of(*program_).managed.reserve(size, kPageSize, true);
    if (begin) begins_.insert(*begin);
    return begin;
  }
  Status reserve_at(std::uint64_t begin, Bytes size) {
    const std::lock_guard<std::mutex> held(impl_of(*program_).lock);
    auto there = impl_of(*program_).managed.reserve_at(begin, size, true);
    if (there) begins_.insert(begin);
    return there;
  }
  void release(std::uint64_t begin) {
    const std::lock_guard<std::mutex> held(impl_of(*program_).lock);
    begins_.erase(begin);
    impl_of(*program_).managed.release(begin);
  }

 private:
  const std::shared_ptr<UnifiedAddresses> program_;
  std::set<std::uint64_t> begins_;  // of what was reserved
};

}  // namespace npu::driver
