// SPDX-License-Identifier: Apache-2.0
// Device memory as processes see it: physical memory behind handles, address ranges, and the
// mappings between them (requirements.md M2). Users hold device virtual addresses only, so that the
// driver may move what lies behind them.
//
// An AddressSpace is one process on the card: a VMID with page tables of its own. Memory belongs to
// the space that created it; another space maps it after import_memory(), or MemoryShares::open()
// (sharing.hpp). All members may be called
// from several tasks at once; none of them waits for the card except unmap(), set_access() and
// free(), which return when the card can no longer use the old mapping.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "npu/base/result.hpp"
#include "npu/driver/export.hpp"
#include "npu/driver/memory.hpp"
#include "npu/driver/quota.hpp"
#include "npu/driver/types.hpp"

namespace npu::driver {

// Physical memory: one contiguous block. Stale handles are recognised.
struct MemoryHandle {
  std::uint32_t index = 0;
  std::uint32_t generation = 0;  // 0: no handle

  friend constexpr bool operator==(MemoryHandle a, MemoryHandle b) {
    return a.index == b.index && a.generation == b.generation;
  }
};

enum class Access : std::uint8_t {
  kNone,  // mapped but not accessible: every access faults
  kRead,
  kReadWrite,
};

struct MemoryOptions {
  bool pinned = false;  // never moved by compaction
  // Against the quota of the space. False: what the driver keeps for the process, as rings.
  bool counts = true;
};

// What lies at an address of a space.
struct AddressRange {
  DeviceAddress reservation;  // the reservation it is in
  Bytes reserved = 0;
  bool mapped = false;
  // Of the mapping, if there is one:
  DeviceAddress begin;
  Bytes size = 0;
  MemoryHandle memory;
  Bytes offset = 0;  // of `begin` in the memory
  Access access = Access::kNone;
};

class NPU_API AddressSpace {
 public:
  // Unmaps everything, releases what the space created, and gives the VMID back; if streams still
  // use it, with the last of them. Must come before the device's end.
  ~AddressSpace();
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;

  // The same at once. kBusy: streams use it, nothing has changed. Afterwards every other member
  // fails with kInvalidArgument.
  Status close();

  unsigned vmid() const;      // 1 .. abi::kVmids - 1; 0 after close()
  ProcessId process() const;  // whose it is; see sharing.hpp

  // --- Plain memory: created, reserved, mapped for reading and writing. kInvalidArgument: size 0;
  // kOutOfMemory: context has requested, free and largest free block, after compaction if the
  // device compacts on demand. free(): kInvalidArgument for anything allocate() did not return.
  Result<DeviceMemory> allocate(Bytes size, const MemoryOptions& options = {});
  Status free(DeviceAddress address);

  // --- Physical memory. Sizes are multiples of kPageSize (kInvalidArgument).
  Result<MemoryHandle> create_memory(Bytes size, const MemoryOptions& options = {});
  // The block itself lives until its last mapping is gone. kInvalidArgument: unknown or foreign.
  Status release_memory(MemoryHandle memory);
  // Allows this space to map `memory` of `owner`, which holds it or, for another card, maps it
  // (plain memory, range_of()). Released like memory of its own. kAlreadyExists: it may already. If
  // `owner` is of another card, the handle is this card's: once mapped and given access, the memory
  // is reached over the HCCS link between the two (DmaCommand::peer_to_peer), stays where it is and
  // lives until it is unmapped and released here. kUnsupported: no link; kInvalidArgument: another
  // machine's, or itself borrowed; kBusy: a failed compaction has left it in two pieces. After the
  // owner's shutdown() such accesses fault.
  Result<MemoryHandle> import_memory(const AddressSpace& owner, MemoryHandle memory);

  // --- Address ranges. Sizes are multiples of kPageSize, alignments powers of two of at least that
  // (kInvalidArgument); ranges of 1 GiB and more are aligned to 1 GiB, so that giant pages can be
  // used. kOutOfResources: no such range left; a range takes a power of two, at most 8 TiB.
  // No two spaces that exist at a time have an address in common. kUnsupported: switched off.
  Result<DeviceAddress> reserve(Bytes size, Bytes alignment = kPageSize);
  // The whole reservation, with nothing mapped in it (kInvalidArgument, kBusy).
  Status release(DeviceAddress reservation);

  // --- Mappings. Everything is aligned to kPageSize and inside one reservation
  // (kInvalidArgument); the range must be free of mappings (kBusy). `access` costs the card
  // nothing, set_access() afterwards does.
  // kOutOfResources: no page tables left, nothing has changed. kTimeout: the card has not dropped
  // the old mapping, which stays on the books; the call may be repeated. What allocate() returned
  // cannot be unmapped or released in part.
  Status map(DeviceAddress at, Bytes size, MemoryHandle memory, Bytes offset = 0,
             Access access = Access::kNone);
  // Over whole mapped pages.
  Status set_access(DeviceAddress at, Bytes size, Access access);
  // Over whole mapped pages; mappings may be cut.
  Status unmap(DeviceAddress at, Bytes size);

  // What there is of the card's memory for whom the space is: within its quota (quota.hpp), if it
  // has one.
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
