// SPDX-License-Identifier: Apache-2.0
// Managed memory: one address for host and card. A page of 2 MiB is where it was used last; who
// touches it elsewhere has it moved. The card's accesses to a page that it does not have wait in
// its MMU until the driver has brought it (abi/page_fault.hpp); the host's are made with read() and
// write(). A page that nobody has touched is nowhere; the first touch makes it where that is, and
// what it holds then is anything (virtualisation.md S2).
//
// All members may be called from several tasks at once.
#pragma once

#include <cstdint>
#include <memory>

#include "npu/base/byte_span.hpp"
#include "npu/base/units.hpp"
#include "npu/driver/address_space.hpp"
#include "npu/driver/device.hpp"
#include "npu/driver/export.hpp"

namespace npu::driver {

// Who serves the card's faults. All managed memory of a card has the same.
enum class FaultPolicy : std::uint8_t {
  kMessage,  // the card's pager takes a page of memory for each and asks the driver for it
  kBatch,    // the driver takes them from a ring, many at a time
};

struct ManagedOptions {
  FaultPolicy policy = FaultPolicy::kMessage;
  // kMessage: object of the program of the card's control processor. It is copied.
  ConstByteSpan pager;
  // Of the card's memory, whole pages; 0: what there is.
  Bytes card_limit = 0;
  // Under pressure, with fewer free pages than `low`, pages that have not been used lately are
  // taken back until `high` are free; 1 <= low <= high <= 64.
  unsigned low_pages = 2, high_pages = 4;
};

struct ManagedStatistics {
  std::uint64_t faults = 0;        // pages that were brought because the card has touched them
  std::uint64_t host_faults = 0;   // the same of the host
  std::uint64_t fault_errors = 0;  // accesses of the card that nobody could serve
  std::uint64_t records = 0;       // read from the card's fault ring
  std::uint64_t batches = 0;       // turns in which there were some
  std::uint64_t migrated_to_card_bytes = 0, migrated_to_host_bytes = 0;
  std::uint64_t created_on_card_bytes = 0;  // pages that were touched there first
  std::uint64_t dropped_bytes = 0;   // taken from the card without a copy: the host had the same
  std::uint64_t resident_bytes = 0;  // on the card now: in and created, less out and dropped
  std::uint64_t evictions = 0;       // pages that were taken from the card for want of memory
  std::uint64_t thrash = 0;  // faults on pages that had been evicted before
  Picoseconds copying_to_card{}, copying_to_host{};  // how long pages were on their way
};

class NPU_API ManagedMemory {
 public:
  // Of the space, one at a time; `device` is its card. From now on accesses of the space to what is
  // not mapped are looked at by the driver before they fail. kAlreadyExists; kInvalidArgument:
  // options that make no sense, or are others than those of the card's managed memory that there
  // is; kOutOfMemory, kOutOfResources, kTimeout: the pager does not start.
  static Result<std::unique_ptr<ManagedMemory>> open(Device& device, AddressSpace& space,
                                                     const ManagedOptions& options);
  // close(), whatever it says.
  ~ManagedMemory();
  ManagedMemory(const ManagedMemory&) = delete;
  ManagedMemory& operator=(const ManagedMemory&) = delete;

  // Gives everything back. Accesses of the card that wait fail. Must come before the space's end.
  Status close();

  // Whole pages. kInvalidArgument: 0 bytes; kOutOfResources: no addresses left.
  Result<DeviceAddress> allocate(Bytes size);
  // What allocate() returned (kInvalidArgument).
  Status free(DeviceAddress address);

  // By the host, at any place and of any length in one allocation (kOutOfRange). A page that the
  // card has comes back first. kOutOfMemory and what copies report.
  Status read(DeviceAddress at, ByteSpan to);
  Status write(DeviceAddress at, ConstByteSpan from);

  ManagedStatistics statistics() const;

  struct Impl;  // the driver's own
  explicit ManagedMemory(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace npu::driver
