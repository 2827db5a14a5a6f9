// SPDX-License-Identifier: Apache-2.0
#include "driver/managed/driver_paging.hpp"

#include <set>

#include "driver/managed/managed_pages.hpp"
#include "npu/base/checked.hpp"

namespace npu::driver {

Result<std::unique_ptr<CardPaging>> DriverPaging::create(Device::Impl& device, unsigned vector,
                                                         std::uint32_t limit) {
  auto ring = FaultRing::create(*device.link, vector);
  if (!ring) return forward_error(ring);
  std::unique_ptr<DriverPaging> paging(new DriverPaging(device, limit));
  paging->ring_ = std::move(*ring);
  return std::unique_ptr<CardPaging>(std::move(paging));
}

bool DriverPaging::serve_some(const ServedSpaces& spaces) {
  const auto batch = ring_->take(kBatch);
  if (batch.empty()) return false;
  ring_->give_back();
  std::set<ManagedPages*> concerned;
  for (const auto& record : batch) {
    auto* const pages = spaces[record.vmid % abi::kVmids];
    if (pages == nullptr) continue;  // its space has been given up meanwhile
    ++pages->statistics().records;
    if (concerned.insert(pages).second) ++pages->statistics().batches;
    serve(record, *pages);
  }
  return true;
}

void DriverPaging::serve(const abi::PageFaultRecord& record, ManagedPages& pages) {
  const std::uint64_t page = align_down(record.address, kPageSize);
  const bool served = static_cast<bool>(bring(record, pages));
  pages.trace().begin(ServiceTrace::kReply);
  if (served) {
    ring_->retry(record.vmid, page);
  } else {
    ++pages.statistics().fault_errors;
    ring_->refuse(record.vmid, page);
  }
  pages.trace().end();
}

Status DriverPaging::bring(const abi::PageFaultRecord& record, ManagedPages& pages) {
  const auto* const page = pages.find(record.address);
  const bool wants_memory = page != nullptr && !page->on_card();
  std::uint32_t slot = abi::kNoSlot;
  if (wants_memory) {
    pages.trace().begin(ServiceTrace::kAllocate);
    const auto taken = take();
    if (!taken) return forward_error(taken);
    slot = *taken;
  }
  const auto brought = pages.bring(record.address, record.write != 0, slot);
  if (!brought) {
    if (wants_memory) give(slot);
    return forward_error(brought);
  }
  if (brought->was_there) return {};
  pages.trace().begin(ServiceTrace::kMap);
  return map(slot, brought->entry, brought->value);
}

Status DriverPaging::map(std::uint32_t slot, std::uint64_t entry, abi::PageTableEntry value) {
  slots_[slot].pages->space().write_entry(entry, value);
  return {};
}

// Whatever the card has written since the entry was read would be lost, so that every page counts
// as written.
Result<bool> DriverPaging::unmap(std::uint32_t slot, std::uint64_t entry) {
  auto& space = slots_[slot].pages->space();
  const MutexHolder holder(device_.memory->mutex());
  space.write_entry(entry, {});
  if (auto ok = space.invalidate_page(slots_[slot].at); !ok) return forward_error(ok);
  return true;
}

}  // namespace npu::driver
