// SPDX-License-Identifier: Apache-2.0
// The address space of a process on a card: physical memory behind handles, reserved address
// ranges, and mappings between them (requirements.md M2). Users hold only device virtual addresses,
// so the driver can move the memory behind them.
//
// A space is a VMID with its own page tables. It owns the memory that it creates. Other spaces can
// map this after import_memory() or MemoryShares::open() (sharing.hpp).
//
// All members may be called from several tasks at once. unmap(), set_access(), free() and close()
// wait until the card can no longer use the old mapping. allocate() and create_memory() wait for it
// when they compact memory or evict managed pages. After close() or the device's shutdown() members
// fail with kInvalidArgument, and after the loss of the card with kDeviceLost.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "npu/base/result.hpp"
#include "npu/driver/export.hpp"
#include "npu/driver/memory.hpp"
#include "npu/driver/quota.hpp"
#include "npu/driver/types.hpp"
#include "npu/platform/memory.hpp"

namespace npu::driver {

// One contiguous block of physical memory. The driver detects stale handles.
struct MemoryHandle {
  std::uint32_t index = 0;
  std::uint32_t generation = 0;  // 0: no handle

  friend constexpr bool operator==(MemoryHandle a, MemoryHandle b) {
    return a.index == b.index && a.generation == b.generation;
  }
};

enum class Access : std::uint8_t {
  kNone,  // mapped, but every access faults
  kRead,
  kReadWrite,
};

struct MemoryOptions {
  bool pinned = false;  // compaction does not move it
  // Charged to the quota of the space. False: for memory of the driver, such as rings.
  bool counts = true;
};

// The reservation and the mapping at an address.
struct AddressRange {
  DeviceAddress reservation;  // its first address; also of managed memory
  Bytes reserved = 0;
  bool mapped = false;
  // If there is a mapping:
  DeviceAddress begin;
  Bytes size = 0;
  MemoryHandle memory;
  Bytes offset = 0;  // of `begin` in the memory
  Access access = Access::kNone;
};

class NPU_API AddressSpace {
 public:
  // Unmaps and releases everything, and frees the VMID. If streams use the space, the last one's
  // end does so. Must come before the end of the device.
  ~AddressSpace();
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;

  // The same, with a result.
  // kBusy: streams use the space; nothing has changed.
  // kTimeout: the card did not drop its translations. The space is closed, and a later space frees
  // the VMID.
  Status close();

  unsigned vmid() const;      // 1 .. abi::kVmids - 1; 0 after close()
  ProcessId process() const;  // the owner, for sharing.hpp

  // --- Plain memory: created, reserved and mapped in one call, for reading and writing.
  // kInvalidArgument: size 0; free(): not an address from allocate().
  // kOutOfMemory: no free piece is large enough, even after compaction, or over the quota.
  // kOutOfResources: no addresses or page tables left.
  // kTimeout: free(): the card may still use the mapping. Repeat the call.
  Result<DeviceMemory> allocate(Bytes size, const MemoryOptions& options = {});
  Status free(DeviceAddress address);

  // --- Physical memory.
  // kInvalidArgument: size 0 or no multiple of kPageSize.
  // kOutOfMemory: as allocate().
  Result<MemoryHandle> create_memory(Bytes size, const MemoryOptions& options = {});
  // Releases the handle. The block exists until its last mapping is gone.
  // kInvalidArgument: the space does not hold it.
  Status release_memory(MemoryHandle memory);
  // Lets this space map `memory`, which `owner` holds, and release it like its own. `owner` may be
  // this space or of another card, and then also only map it (plain memory, range_of()). Accesses
  // then go over the HCCS link between the cards (DmaCommand::device_to_peer()), and fault after
  // the other device's shutdown(). Such memory exists until it is unmapped and released here. Use
  // the returned handle. kAlreadyExists: the space holds it already. kInvalidArgument: `owner` does
  // not hold or map it, is of another machine, or imported it from another card. kUnsupported: no
  // link to the other card. kBusy: a failed compaction has left the other card's block in two
  // pieces.
  Result<MemoryHandle> import_memory(const AddressSpace& owner, MemoryHandle memory);
  // Lets this space map host memory, which kernels and copies then access over the PCIe link
  // (zero copy). `memory` is from ProcessContext::import_host() of this card, and must outlive the
  // mappings. The handle has whole pages: an access beyond the end of `memory` fails as one to an
  // address that the IOMMU does not map. The host cannot reduce: stores that add, and copies that
  // reduce, fault there.
  // kInvalidArgument: the bus address is no multiple of kPageSize: not from import_host().
  Result<MemoryHandle> import_host_memory(const platform::DmaMemory& memory);

  // --- Address ranges. A range occupies a power of two of addresses, at most 8 TiB. Ranges of 1
  // GiB and more are aligned to 1 GiB, for giant pages. The spaces of one card never overlap; those
  // of several cards do not if they have the same UnifiedAddresses.
  // kInvalidArgument: `size` is no multiple of kPageSize, or `alignment` no power of two of at
  // least that.
  // kOutOfResources: no such range left.
  // kUnsupported: switched off (DeviceFeatures).
  Result<DeviceAddress> reserve(Bytes size, Bytes alignment = kPageSize);
  // Releases a whole reservation.
  // kInvalidArgument: not an address from reserve().
  // kBusy: something is mapped in it.
  Status release(DeviceAddress reservation);

  // --- Mappings. `at`, `size` and `offset` are multiples of kPageSize, and the range is in one
  // reservation. set_access() waits for an invalidation on the card, map() does not.
  // kInvalidArgument: another range, unknown memory or a range beyond it; set_access() and unmap():
  // a page that is not mapped; unmap(): memory from allocate().
  // kBusy: map(): a page of the range is mapped, or belongs to allocate().
  // kOutOfResources: no page tables left; nothing has changed.
  // kTimeout: the card may still use the old mapping, which stays recorded. Repeat the call.
  Status map(DeviceAddress at, Bytes size, MemoryHandle memory, Bytes offset = 0,
             Access access = Access::kNone);
  // Changes the access to mapped pages.
  Status set_access(DeviceAddress at, Bytes size, Access access);
  // Unmaps pages, also a part of a mapping.
  Status unmap(DeviceAddress at, Bytes size);

  // The card's memory as the space's quota limits it (MemoryQuota::seen()), if it has one.
  MemoryStatistics memory_statistics() const;
  const std::shared_ptr<MemoryQuota>& quota() const;  // null: none

  // nullopt: the address is in no reservation.
  std::optional<AddressRange> range_of(DeviceAddress address) const;

  struct Impl;  // the driver's own
  explicit AddressSpace(std::unique_ptr<Impl> impl);

 private:
  friend struct ImplAccess;  // the driver's own
  std::unique_ptr<Impl> impl_;
};

}  // namespace npu::driver
