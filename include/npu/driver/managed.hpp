// SPDX-License-Identifier: Apache-2.0
// Managed memory: one address on the host and on all cards. Programs open it to share pointers
// between host and cards.
//
// A page of 2 MiB is in one place. An access from another place migrates it there. A card's access
// to an absent page waits in the card's MMU until the driver has migrated the page
// (abi/page_fault.hpp). The host accesses pages with read() and write(), or through pointers
// (touch()). The first access to a page creates it at the place of that access, with undefined
// content (virtualisation.md S2).
//
// All members may be called from several tasks at once. After close(), or after the shutdown of a
// card, they fail with kInvalidArgument. A range must be in one allocation, else kOutOfRange.
// "Errors of moving" are kOutOfMemory, kTimeout, kDeviceFault, kIo and kDeviceLost.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "npu/base/byte_span.hpp"
#include "npu/base/units.hpp"
#include "npu/driver/address_space.hpp"
#include "npu/driver/device.hpp"
#include "npu/driver/export.hpp"
#include "npu/driver/managed_view.hpp"

namespace npu::driver {

// How page faults of a card are served. All managed memory of a card has the same policy.
enum class FaultPolicy : std::uint8_t {
  kCard,     // the policy that the card's register PAGE_FAULT_MODE names
  kMessage,  // a program on the card, the pager, sends the driver one message for each fault
  kBatch,    // the driver reads up to 256 faults at a time from a ring
  // Pages never migrate. The card accesses them on the host by PCIe ATS and PRI; the driver creates
  // the pages and grants rights. PAGE_FAULT_MODE says whether the card can do this.
  kAts,
};

// The argument of ManagedOptions::on_fault_errors.
struct FaultErrorWarning {
  std::uint64_t fault_errors = 0;  // ManagedStatistics::fault_errors
  unsigned vmid = 0;               // of the address space on the first card
  std::uint32_t device = 0;        // DEVICE_INDEX of the first card
};

struct ManagedOptions {
  FaultPolicy policy = FaultPolicy::kCard;
  // kMessage: the ELF object of the pager. open() copies it.
  ConstByteSpan pager;
  // Bytes of the card's memory for managed pages, a multiple of 2 MiB. 0: no limit. Unused by kAts.
  Bytes card_limit = 0;
  // kMessage, when the card's memory is used up: with fewer free pages than `low_pages` the pager
  // evicts pages that were not used lately, until `high_pages` are free.
  // 1 <= low_pages <= high_pages <= 64. kBatch evicts the oldest page, when it needs a page.
  unsigned low_pages = 2, high_pages = 4;
  // kBatch, 0 .. 100: a fault on a page of the host copies the 64 KiB around it. It also copies the
  // largest aligned power of two around them that has more than this percentage present or
  // requested (virtualisation.md S6). 0: only the 4 KiB that were accessed.
  unsigned density_percent = 51;
  // kBatch: a fault is early if its page left the card less than a lapse ago. The third early fault
  // in a row waits for a lapse. After ten such waits the page is pinned to the card for 300 lapses
  // (virtualisation.md S6). 0: no fault waits.
  Picoseconds thrash_lapse = 500_us;
  // A task of the driver calls on_fault_errors once, when `error_threshold` errors (at least 1)
  // have come and `error_window` has passed since it saw the first of them. It checks every 10 ms
  // (virtualisation.md S5).
  std::uint64_t error_threshold = 100;
  Picoseconds error_window = 2'000_ms;
  std::function<void(const FaultErrorWarning&)> on_fault_errors;
  // For a host process that accesses pages through pointers; outlives the memory. Null: none.
  ManagedView* view = nullptr;
};

// The place of a page.
struct MemoryLocation {
  enum class Type : std::uint8_t { kNone, kDevice, kHost };
  Type type = Type::kNone;
  std::uint32_t device = 0;  // of kDevice: DEVICE_INDEX, 0 .. 63

  static constexpr MemoryLocation host() { return {Type::kHost, 0}; }
  static constexpr MemoryLocation card(std::uint32_t index) { return {Type::kDevice, index}; }
  friend constexpr bool operator==(const MemoryLocation& a, const MemoryLocation& b) {
    return a.type == b.type && (a.type != Type::kDevice || a.device == b.device);
  }
  friend constexpr bool operator!=(const MemoryLocation& a, const MemoryLocation& b) {
    return !(a == b);
  }
};

// Hints for the driver (virtualisation.md S4).
enum class MemoryAdvice : std::uint8_t {
  // The host and every reader have a copy. A write removes the other copies and ends the advice.
  kReadMostly,
  // Where the page should be. Setting it moves nothing; see kAccessedBy.
  kPreferredLocation,
  // Where the page will be used. If this is a card and already the preferred location, an untouched
  // page is created there at once.
  kAccessedBy,
};

// The state that all pages of a range have in common. A location in which they differ is kNone.
struct ManagedAttributes {
  bool read_mostly = false;
  MemoryLocation preferred;
  std::uint64_t accessed_by = 0;  // bit i: the card with DEVICE_INDEX i
  bool accessed_by_host = false;
  MemoryLocation last_prefetch;
  MemoryLocation location;  // of copies on the host and one card: the card
  bool touched = false;     // the page exists
};

// The rights of the host process to a page.
struct PageRights {
  DeviceAddress at;
  Access rights = Access::kNone;
};

// A prefetch in flight; see ManagedMemory::wait().
struct PrefetchTicket {
  std::uint64_t number = 0;
};

// Counts since open(), over all cards.
struct ManagedStatistics {
  // Faults of cards that were served. kMessage: migrated pages; kBatch: pages of each batch; kAts:
  // requests.
  std::uint64_t faults = 0;
  std::uint64_t host_faults = 0;   // host accesses that trapped: created, copied or migrated a page
  std::uint64_t fault_errors = 0;  // faults of cards that could not be served
  std::uint64_t fault_error_warnings = 0;
  std::uint64_t records = 0;        // faults that cards reported
  std::uint64_t duplicates = 0;     // kBatch: records of 4 KiB that the batch had already
  std::uint64_t batches = 0;        // batches of records; kMessage: messages; kAts: 0
  std::uint64_t largest_batch = 0;  // kBatch: records
  // kBatch: from reading the latest of the largest batches to its last reply.
  Instant largest_batch_begin{}, largest_batch_end{};
  std::uint64_t migrated_to_card_bytes = 0, migrated_to_host_bytes = 0;
  std::uint64_t migrated_between_cards_bytes = 0;  // directly, without the host
  std::uint64_t migrated_over_links_bytes = 0;     // of those, over HCCS
  std::uint64_t created_on_card_bytes = 0;
  std::uint64_t dropped_bytes = 0;   // removed from a card without copying
  std::uint64_t resident_bytes = 0;  // on cards now
  std::uint64_t evictions = 0;       // pages removed from a card for lack of memory
  std::uint64_t upgrades = 0;        // writes of a card to read-only pages
  std::uint64_t prefetched = 0;      // pages that prefetches moved
  std::uint64_t thrash = 0;          // faults on pages that had been evicted before
  // Faults that waited for a lapse; how often a page was pinned (thrash_lapse).
  std::uint64_t throttled = 0, pinned = 0;
  // Time that the driver spent on copying pages.
  Picoseconds copying_to_card{}, copying_to_host{}, copying_between_cards{};
};

// A card and the process' address space there.
struct ManagedCard {
  Device* device = nullptr;
  AddressSpace* space = nullptr;
};

class NPU_API ManagedMemory {
 public:
  static constexpr std::size_t kMostCards = 64;  // each with a DEVICE_INDEX below this

  // The policy that open() would use; never kCard.
  // kUnsupported: kAts on a card without it, or the card's kAts is switched off (DeviceFeatures).
  // kDeviceLost, kIo: the card does not answer.
  static Result<FaultPolicy> policy_of(Device& device, const ManagedOptions& options);
  // Opens managed memory of one card; `device` and `space` outlive it. Addresses are in a window of
  // 3 TiB from 0x90000000000 on (virtualisation.md S1). From now on the driver examines the space's
  // accesses to unmapped addresses before they fail.
  // kInvalidArgument: options out of range; other options than the card's present managed memory
  // has; a space that is closed or of another card.
  // kAlreadyExists: the space has managed memory.
  // kUnsupported: switched off (DeviceFeatures), or as policy_of().
  // kOutOfMemory, kOutOfResources, kTimeout, kDeviceFault: the pager does not start.
  static Result<std::unique_ptr<ManagedMemory>> open(Device& device, AddressSpace& space,
                                                     const ManagedOptions& options);
  // The same for several cards of a machine. The options hold for each card.
  // kInvalidArgument: also no card, a card twice, or kAts for only some of the cards.
  static Result<std::unique_ptr<ManagedMemory>> open(const std::vector<ManagedCard>& cards,
                                                     const ManagedOptions& options);
  // Adds a card, also to existing allocations and after a leave(). `pager`: as in ManagedOptions.
  // kAlreadyExists: the card is present, also by another Device, or its space has managed memory.
  // Also the errors of open().
  Status join(const ManagedCard& card, ConstByteSpan pager);
  // Removes a card. Its pages migrate to the host, prefetches to it end, and its space may end. The
  // Device must still outlive the memory.
  // kInvalidArgument: not one of the cards, or the last one.
  // Also errors of moving; a page that cannot be moved is lost.
  Status leave(Device& device);
  // Calls close() and ignores its result.
  ~ManagedMemory();
  ManagedMemory(const ManagedMemory&) = delete;
  ManagedMemory& operator=(const ManagedMemory&) = delete;

  // Frees everything, before the space ends. Waiting accesses of cards fail.
  // kTimeout: a card did not drop its translations.
  Status close();

  // Allocates `size` bytes, rounded up to whole pages. The other members accept only the first
  // `size` bytes.
  // kInvalidArgument: 0 bytes.
  // kOutOfResources: no addresses or page tables left.
  Result<DeviceAddress> allocate(Bytes size);
  // Frees an allocation.
  // kInvalidArgument: not an address from allocate().
  // kTimeout: a card did not drop its translations; the addresses are not used again.
  Status free(DeviceAddress address);

  // Gives the allocation to the memory of a child of fork(): same address, bytes and advice. Pages
  // on cards migrate to the host first. If either side has a view, all pages are copied now, else
  // each page at its first write. After an error the child may have a part of the pages.
  // kInvalidArgument: not an address from allocate(), or the child has not the same list of cards.
  // kAlreadyExists: the child uses these addresses.
  // Also errors of moving.
  Status fork(DeviceAddress address, ManagedMemory& child);

  // Copies bytes out of or into an allocation. Pages on cards migrate to the host first; a read of
  // a kReadMostly page leaves the cards their copies.
  // Also errors of moving.
  Status read(DeviceAddress at, ByteSpan to);
  Status write(DeviceAddress at, ConstByteSpan from);
  // For the fault handler of the view: the host accessed this address without the right to. The
  // page migrates to the host. Returns the rights that the view may grant now: enough for the
  // access; kReadWrite if no card has a copy and the page is not kReadMostly.
  // kInvalidArgument: no view.
  // Also the errors of read().
  Result<Access> touch(DeviceAddress at, bool write);
  // touch() for reading, of all pages that exist, by ascending address. All are on the host at one
  // moment; faults of cards wait meanwhile. Errors as touch().
  Result<std::vector<PageRights>> touch_all();

  // Begins to move the pages of a range, by ascending address, up to 16 at a time, after earlier
  // prefetches. Untouched pages stay untouched. Pages of a card do not move to another card
  // (virtualisation.md S4).
  // kInvalidArgument: to kNone or an unknown card, or kReadMostly pages to the host.
  // kUnsupported: switched off (DeviceFeatures).
  // kOutOfResources: no task.
  Result<PrefetchTicket> prefetch(DeviceAddress at, Bytes size, MemoryLocation to);
  // Waits for a prefetch and returns its outcome: errors of moving. Once for each ticket.
  // kInvalidArgument: unknown ticket, waited for before, or forgotten after 4096 later prefetches.
  // kTimeout: not done at `deadline`.
  Status wait(PrefetchTicket ticket, Instant deadline);
  // Sets advice for all pages that overlap the range, or removes it (`set` false). `location` is
  // unused with kReadMostly and when removing kPreferredLocation. Removing kAccessedBy with kNone
  // removes it for all places.
  // kInvalidArgument: `location` is kNone or an unknown card.
  // kUnsupported: switched off (DeviceFeatures).
  // Also errors of moving.
  Status advise(DeviceAddress at, Bytes size, MemoryAdvice advice, bool set,
                MemoryLocation location = {});
  // kInvalidArgument: 0 bytes.
  Result<ManagedAttributes> attributes(DeviceAddress at, Bytes size) const;
  FaultPolicy policy() const;  // in use; never kCard
  // Whether the address is one of the bytes of an allocation.
  bool contains(DeviceAddress at) const;

  // Waits while the driver serves a fault. Counts that DeviceFeatures switches off are 0.
  ManagedStatistics statistics() const;
  // A statistics snapshot without a lock and at no simulated time, for an observer outside the
  // machine. No task may run meanwhile.
  ManagedStatistics snapshot() const;

  struct Impl;  // the driver's own
  explicit ManagedMemory(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace npu::driver
