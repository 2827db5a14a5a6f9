// SPDX-License-Identifier: Apache-2.0
// Device virtual addresses that are unique on all cards of a program. Pass one object to all
// address spaces of the program (ProcessOptions::addresses). While these exist, they and their
// managed memory never overlap, so that an address identifies its card. Without the object this
// holds only for the spaces of one card.
#pragma once

#include <memory>

#include "npu/base/result.hpp"
#include "npu/base/units.hpp"
#include "npu/driver/export.hpp"

namespace npu::driver {

class NPU_API UnifiedAddresses {
 public:
  static std::shared_ptr<UnifiedAddresses> make();
  ~UnifiedAddresses();
  // Excludes the first `size` bytes of the managed memory's window from later allocations. A child
  // of fork() needs this for its parent's allocations.
  // kOutOfResources: some of them are in use, or the window is smaller.
  Status keep_managed(Bytes size);
  UnifiedAddresses(const UnifiedAddresses&) = delete;
  UnifiedAddresses& operator=(const UnifiedAddresses&) = delete;

  struct Impl;  // the driver's own

 private:
  friend struct ImplAccess;  // the driver's own
  explicit UnifiedAddresses(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace npu::driver
