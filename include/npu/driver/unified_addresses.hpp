// SPDX-License-Identifier: Apache-2.0
// The device virtual addresses of one program over all of its cards. Address spaces that were
// created with the same object have no address in common while they exist, nor has their managed
// memory, so that an address says which card it is on. Without one that holds for the spaces of
// each card.
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
  // Managed memory is not given the first so many bytes of its window, which it has given none of
  // yet: of a child of fork(), whose parent had some there. kOutOfResources: it has, or there are
  // not so many.
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
