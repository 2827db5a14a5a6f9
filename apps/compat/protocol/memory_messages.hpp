// SPDX-License-Identifier: Apache-2.0
// Messages about memory (messages.hpp).
#pragma once

#include <cstdint>

namespace npu::compat::wire {

struct Address {
  std::uint64_t address = 0;
};
struct Size {
  std::uint64_t bytes = 0;
};
struct Range {
  std::uint64_t address = 0, bytes = 0;
};
struct Allocation {
  std::uint64_t bytes = 0;
  std::uint32_t policy = 0;     // aclrtMemMallocPolicy
  std::uint32_t padding = 0;    // so many of the bytes
  std::uint64_t shareable = 0;  // it may be shared under a name
  std::uint64_t module = 0;
};
struct MemoryInfo {
  std::uint64_t free = 0, total = 0;  // bytes
};
struct MemoryUse {
  std::uint64_t limit = 0, used = 0, most = 0;  // bytes
  std::uint64_t refused = 0;                    // calls
};
// aclrtMemLocationType.
inline constexpr std::uint64_t kLocationDevice = 1, kLocationUnregistered = 2, kLocationManaged = 3;
// Of managed memory where a page is; 0: nowhere yet.
inline constexpr std::uint64_t kPageOnDevice = 1, kPageOnHost = 2;
struct PointerAttributes {
  std::uint64_t location = 0, device = 0, page_bytes = 0;
  std::uint64_t heap = 0, page = 0;  // of managed memory: of the HAL's heap; where it is
};
struct Advice {
  std::uint64_t address = 0, bytes = 0;
  std::uint64_t advice = 0;  // 1: on the card now; 2: read-only; 3: readable and writable
};

// --- Copies and fills ---------------------------------------------------------------------------

struct Order {
  std::uint64_t in_stream = 0, stream = 0;
};
struct WindowCopy {
  std::uint64_t address = 0, bytes = 0;
  Order order;
};
struct DeviceCopy {
  std::uint64_t to = 0, from = 0, bytes = 0;
  Order order;
};
struct PinnedCopy {
  std::uint64_t to_device = 0, address = 0;
  std::uint64_t memory = 0, offset = 0, bytes = 0;
  Order order;
};
struct Fill {
  std::uint64_t address = 0, value = 0, bytes = 0;
  Order order;
};
struct WordFill {
  std::uint64_t address = 0, value = 0, bytes = 0;
  Order order;
};
struct PrefetchedRange {
  std::uint64_t address = 0, bytes = 0;
  Order order;
};
// From 8 bytes at `from` and `to` come addresses, which the offsets are added to. `described`:
// `from` is where CopyDescription is.
struct IndirectCopy {
  std::uint64_t to = 0, to_offset = 0, from = 0, from_offset = 0;
  std::uint64_t bytes = 0, described = 0, stream = 0;
};
struct CopyDescription {
  std::uint64_t from = 0, to = 0, bytes = 0, kind = 0;
};
// `operation` and `element` are those of abi/element.hpp.
struct ReducingCopy {
  std::uint64_t from = 0, to = 0, bytes = 0, operation = 0, element = 0;
  Order order;
};
// A load or store of the program's own in pinned memory (`exec --races`).
struct HostAccess {
  std::uint64_t memory = 0, offset = 0, bytes = 0, write = 0;
};
// An asynchronous copy or fill: whether the program has waited for it, or seen that it has ended.
struct PinnedInFlight {
  std::uint64_t memory = 0, offset = 0, bytes = 0, stream = 0;
};
struct PinnedFill {
  std::uint64_t memory = 0, offset = 0, value = 0, bytes = 0, stream = 0;
};

// --- Address ranges, shared memory --------------------------------------------------------------

struct PhysicalMemory {
  std::uint64_t bytes = 0;
  std::int64_t device = 0;
  std::uint64_t module = 0;
};
struct Mapping {
  std::uint64_t address = 0, bytes = 0, offset = 0, memory = 0;
};
struct MappingAccess {
  std::uint64_t address = 0, bytes = 0;
  std::int64_t device = 0;
  std::uint64_t access = 0;  // none 0, to read 1, to read and write 3
};
struct Import {
  std::uint64_t key = 0;
  std::int64_t device = 0;
};
// Memory under a name. `everyone`: nobody needs to be named.
struct SharedRange {
  std::uint64_t address = 0, bytes = 0;
  std::uint64_t everyone = 0;
};
// In the window: ids of processes, each of 4 bytes.
struct NumberAdmission {
  std::uint64_t key = 0, count = 0;
};
// In the window: the name, and behind it ids of processes, each of 4 bytes.
struct Admission {
  std::uint64_t name_bytes = 0, count = 0;
};

// --- Managed memory -----------------------------------------------------------------------------

struct ManagedAllocation {
  std::uint64_t bytes = 0;
  std::uint64_t heap = 0;       // of the HAL's
  std::uint64_t inherited = 0;  // pages that are its parent's
  std::uint64_t module = 0;
};
struct ManagedAddress {
  std::uint64_t address = 0;
  std::uint64_t with_view = 0;  // the view comes with it
};
struct ManagedTouch {
  std::uint64_t address = 0, write = 0;
};
// Unless an entry of the ring from `since` on says something else.
struct TouchedPage {
  std::uint64_t rights = 0;  // compat::Rights
  std::uint64_t since = 0;
};
// In the window: of each allocation its Pages, then of each run of pages that the program may use
// now, PagesInUse, which entries of the ring from `since` on may limit.
struct ManagedHome {
  std::uint64_t allocations = 0, runs = 0, since = 0;
};
struct Pages {
  std::uint64_t first = 0, count = 0;
};
struct PagesInUse {
  Pages pages;
  std::uint64_t rights = 0;  // compat::Rights
};
// aclrtMemManagedLocationType: device 1, host 2, NUMA node of the host 3.
struct Location {
  std::uint64_t type = 0, id = 0;
};
struct ManagedAdvice {
  std::uint64_t address = 0, bytes = 0, advice = 0;
  Location location;
};
struct ManagedAttribute {
  std::uint64_t address = 0, bytes = 0, attribute = 0;
};
struct Prefetch {
  std::uint64_t address = 0, bytes = 0;
  Location location;
  std::uint64_t stream = 0, by_itself = 0;  // else behind what the stream has
};

}  // namespace npu::compat::wire
