// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "driver/device/card_features.hpp"
#include "driver/device/device_service.hpp"
#include "driver/memory/memory_manager.hpp"
#include "npu/driver/address_space.hpp"

namespace npu::driver {

// All but `process` under the memory manager's mutex.
struct AddressSpace::Impl {
  CardLink& link;  // which card it is of
  MemoryManager& memory;
  const CardFeatures& features;
  Space* space;  // nullptr: closed
  const ProcessId process;
  std::shared_ptr<SpaceObserver> shares;     // the ShareBook; null: it shares nothing
  std::vector<MemoryHandle> opened;          // others' shares; some may have been released
  const std::shared_ptr<MemoryQuota> quota;  // null: none
};

Result<std::unique_ptr<AddressSpace>> make_address_space(
    CardLink& link, MemoryManager& memory, const CardFeatures& features, ProcessId process = {},
    std::shared_ptr<MemoryQuota> quota = {}, std::shared_ptr<UnifiedAddresses> addresses = {});
// AddressSpace::import_memory().
Result<MemoryHandle> import_into(const AddressSpace::Impl& space, const AddressSpace::Impl& owner,
                                 MemoryHandle memory);

}  // namespace npu::driver
