// SPDX-License-Identifier: Apache-2.0
// Managed memory: one address for host and cards. A page of 2 MiB is where it was used last; who
// touches it elsewhere has it moved. The card's accesses to a page that it does not have wait in
// its MMU until the driver has brought it (abi/page_fault.hpp); the host's are made through
// pointers, as touch() lets them, or with read() and write(). A page that nobody has touched is
// nowhere; the first touch makes it where that is, and what it holds then is anything
// (virtualisation.md S2).
//
// All members may be called from several tasks at once.
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

// Who serves the card's faults. All managed memory of a card has the same.
enum class FaultPolicy : std::uint8_t {
  kCard,     // as the card says (PAGE_FAULT_MODE)
  kMessage,  // the card's pager takes a page of memory for each and asks the driver for it
  kBatch,    // the driver takes them from a ring, many at a time
  // Nobody: pages stay on the host, and the card uses them there (PCIe ATS and PRI). The driver
  // makes those that the card asks for. Cards that can say so (PAGE_FAULT_MODE); what is said below
  // of pages that come to the card does not happen.
  kAts,
};

// There are many accesses of the card that nobody could serve.
struct FaultErrorWarning {
  std::uint64_t fault_errors = 0;  // so far
  unsigned vmid = 0;               // of the address space
  std::uint32_t device = 0;        // DEVICE_INDEX of the card, the first of several
};

struct ManagedOptions {
  FaultPolicy policy = FaultPolicy::kCard;
  // Served by message: object of the program of the card's control processor. It is copied.
  ConstByteSpan pager;
  // Of the card's memory, whole pages; 0: what there is.
  Bytes card_limit = 0;
  // Under pressure, with fewer free pages than `low`, pages that have not been used lately are
  // taken back until `high` are free; 1 <= low <= high <= 64.
  unsigned low_pages = 2, high_pages = 4;
  // kBatch: of a page that the host has, the card gets the parts of 64 KiB that it touches, and the
  // largest part of the page, by powers of two, of which more than so many percent are there or
  // asked for (virtualisation.md S6); 0: only the 4 KiB that are touched. At most 100.
  unsigned density_percent = 51;
  // kBatch: the card's faults for a page that it has given up less than a lapse ago, three in a
  // row, wait for one; after ten of those the page stays for 300 lapses (virtualisation.md S6); 0:
  // never.
  Picoseconds thrash_lapse = 500_us;
  // Called by a task of the driver's, once, when there have been so many fault errors more than
  // when the first were seen, and that is so long ago; it is looked at every 10 ms
  // (virtualisation.md S5).
  std::uint64_t error_threshold = 100;
  Picoseconds error_window = 2'000_ms;
  std::function<void(const FaultErrorWarning&)> on_fault_errors;
  // Of the process that uses the memory through pointers; it outlives the memory. Null: the host
  // uses read() and write() alone.
  ManagedView* view = nullptr;
};

// Where a page may be.
struct MemoryLocation {
  enum class Type : std::uint8_t { kNone, kDevice, kHost };
  Type type = Type::kNone;
  std::uint32_t device = 0;  // DEVICE_INDEX, of kDevice; at most 63

  static constexpr MemoryLocation host() { return {Type::kHost, 0}; }
  static constexpr MemoryLocation card(std::uint32_t index) { return {Type::kDevice, index}; }
  friend constexpr bool operator==(const MemoryLocation& a, const MemoryLocation& b) {
    return a.type == b.type && (a.type != Type::kDevice || a.device == b.device);
  }
  friend constexpr bool operator!=(const MemoryLocation& a, const MemoryLocation& b) {
    return !(a == b);
  }
};

// What the driver is told of pages (virtualisation.md S4).
enum class MemoryAdvice : std::uint8_t {
  // The host has a copy, and who reads has one, too; a write makes the others go, and the advice.
  kReadMostly,
  // Where the page should be. One that is elsewhere stays there.
  kPreferredLocation,
  // Who will use it. Where that is the preferred location, a page that nobody has touched is made
  // there at once.
  kAccessedBy,
};

// What all pages of a range have in common; else kNone, false or empty.
struct ManagedAttributes {
  bool read_mostly = false;
  MemoryLocation preferred;
  std::uint64_t accessed_by = 0;  // bit i: the device of DEVICE_INDEX i
  bool accessed_by_host = false;
  MemoryLocation last_prefetch;
  MemoryLocation location;  // of pages; of one that the host and a card have: the card
  bool touched = false;     // all of them
};

// What the process may do with a page through its pointers.
struct PageRights {
  DeviceAddress at;
  Access rights = Access::kNone;
};

// A prefetch that goes on; see ManagedMemory::wait().
struct PrefetchTicket {
  std::uint64_t number = 0;
};

struct ManagedStatistics {
  std::uint64_t faults = 0;        // pages that were brought because the card has touched them
  std::uint64_t host_faults = 0;   // the same of the host
  std::uint64_t fault_errors = 0;  // accesses of the card that nobody could serve
  std::uint64_t fault_error_warnings = 0;
  std::uint64_t records = 0;        // faults that the card told of
  std::uint64_t duplicates = 0;     // of those, ones that another one of the batch asked for
  std::uint64_t batches = 0;        // turns in which there were some
  std::uint64_t largest_batch = 0;  // records
  // From the records of the largest batch to its last reply; of equal ones the latest.
  Instant largest_batch_begin{}, largest_batch_end{};
  std::uint64_t migrated_to_card_bytes = 0, migrated_to_host_bytes = 0;
  std::uint64_t migrated_between_cards_bytes = 0;  // not by way of the host
  std::uint64_t migrated_over_links_bytes = 0;     // of those, over HCCS
  std::uint64_t created_on_card_bytes = 0;         // pages that were touched there first
  std::uint64_t dropped_bytes = 0;   // taken from the card without a copy: the host had the same
  std::uint64_t resident_bytes = 0;  // on the card now: in and created, less out and dropped
  std::uint64_t evictions = 0;       // pages that were taken from the card for want of memory
  std::uint64_t upgrades = 0;        // writes of the card to pages that it could only read
  std::uint64_t prefetched = 0;      // pages that a prefetch has moved, either way
  std::uint64_t thrash = 0;          // faults on pages that had been evicted before
  std::uint64_t throttled = 0, pinned = 0;  // faults that had to wait for a lapse; pages that stay
  // How long pages were on their way.
  Picoseconds copying_to_card{}, copying_to_host{}, copying_between_cards{};
};

// A card that managed memory may be on, and the process' address space there.
struct ManagedCard {
  Device* device = nullptr;
  AddressSpace* space = nullptr;
};

class NPU_API ManagedMemory {
 public:
  static constexpr std::size_t kMostCards = 64;  // and the numbers of their DEVICE_INDEX

  // Who would serve the card's faults with these options: not kCard. kDeviceLost, kTimeout.
  static Result<FaultPolicy> policy_of(Device& device, const ManagedOptions& options);
  // Of the space, one at a time; `device` is its card; both outlive it. Its addresses are in a
  // window of 3 TiB from 0x90000000000 on (virtualisation.md S1). From now on accesses of the
  // space to what is not mapped are looked at by the driver before they fail. kAlreadyExists;
  // kInvalidArgument: options that make no sense, or are others than those of the card's managed
  // memory that there is; kOutOfMemory, kOutOfResources, kTimeout, kDeviceFault: the pager does not
  // start; kUnsupported: switched off (DeviceFeatures), as for what else can be.
  static Result<std::unique_ptr<ManagedMemory>> open(Device& device, AddressSpace& space,
                                                     const ManagedOptions& options);
  // The same of several cards of a machine: an address means the same page on all of them and on
  // the host. Options hold for each of them. kInvalidArgument: no card, or one twice.
  static Result<std::unique_ptr<ManagedMemory>> open(const std::vector<ManagedCard>& cards,
                                                     const ManagedOptions& options);
  // One more card, for what is allocated already as well; `pager` as ManagedOptions have it. A card
  // that has left may come again. kAlreadyExists: it is one of the cards, or its space has managed
  // memory; else what open() reports.
  Status join(const ManagedCard& card, ConstByteSpan pager);
  // The card has no part in it any more, and its address space may end; its Device still outlives
  // this. Pages that it has come to the host; prefetches to it end. kInvalidArgument: it is not one
  // of the cards, or the last one; and what moving pages reports: then a page that could not be
  // moved is lost.
  Status leave(Device& device);
  // close(), whatever it says.
  ~ManagedMemory();
  ManagedMemory(const ManagedMemory&) = delete;
  ManagedMemory& operator=(const ManagedMemory&) = delete;

  // Gives everything back. Accesses of the card that wait fail. Must come before the space's end.
  Status close();

  // Whole pages. kInvalidArgument: 0 bytes; kOutOfResources: no addresses left.
  Result<DeviceAddress> allocate(Bytes size);
  // What allocate() returned (kInvalidArgument). kTimeout: a card still has translations; the
  // addresses are not used again.
  Status free(DeviceAddress address);

  // What a child of fork() has: the allocation is `child`'s as well, at the same address and with
  // the same bytes and advice, each page copied when one of both writes it. What cards have of it
  // comes home. kInvalidArgument: allocate() has not returned it, or the child is of other cards or
  // in another order; kAlreadyExists: the child has something there; and what moving pages reports.
  Status fork(DeviceAddress address, ManagedMemory& child);

  // By the host, at any place and of any length in one allocation (kOutOfRange). A page that the
  // card has comes back first. kOutOfMemory and what copies report.
  Status read(DeviceAddress at, ByteSpan to);
  Status write(DeviceAddress at, ConstByteSpan from);
  // The host has touched the page of this address through its pointer, and had no right to. The
  // page comes back first. The rights that the view gives from now on, which are enough for what
  // the host does, and kReadWrite if nobody else has the page. kOutOfRange: no managed memory;
  // kInvalidArgument: there is no view; kOutOfMemory and what copies report.
  Result<Access> touch(DeviceAddress at, bool write);
  // The same, by reading, of all pages that somebody has touched, in the order of their addresses.
  // All are on the host at one time: cards that want one meanwhile get it afterwards. As touch().
  Result<std::vector<PageRights>> touch_all();

  // Begins to bring the pages of the range there, up to 16 at a time, in the order of their
  // addresses and of such calls. Pages that nobody has touched stay so, and for a card those that
  // another card has (virtualisation.md S4). kOutOfRange;
  // kInvalidArgument: another card than the memory's, or no location; pages of read mostly to the
  // host.
  Result<PrefetchTicket> prefetch(DeviceAddress at, Bytes size, MemoryLocation to);
  // Until the prefetch has ended; what it ended with. kTimeout.
  Status wait(PrefetchTicket ticket, Instant deadline);
  // All pages that the range touches; `set` false: the advice no longer holds. `location` is not
  // looked at for kReadMostly; no longer kAccessedBy nowhere: by nobody. kOutOfRange,
  // kInvalidArgument, and what moving pages reports.
  Status advise(DeviceAddress at, Bytes size, MemoryAdvice advice, bool set,
                MemoryLocation location = {});
  // kOutOfRange.
  Result<ManagedAttributes> attributes(DeviceAddress at, Bytes size) const;
  FaultPolicy policy() const;  // who serves it; not kCard
  // Whether the address is in managed memory of this.
  bool contains(DeviceAddress at) const;

  ManagedStatistics statistics() const;
  // The same at once, between two steps of whoever serves faults: for who looks from outside of the
  // machine, at no time of its own.
  ManagedStatistics snapshot() const;

  struct Impl;  // the driver's own
  explicit ManagedMemory(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace npu::driver
