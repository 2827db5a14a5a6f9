// SPDX-License-Identifier: Apache-2.0
// The interface of the host machine: everything that the driver may use of it. Four implementations
// pass one contract suite (tests/contract): the simulator (model/host), Linux VFIO (driver/vfio)
// with a card bound to vfio-pci, a vfio-user client of `npusim serve`, and the fake of the tests.
#pragma once

#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "npu/base/result.hpp"
#include "npu/platform/memory.hpp"
#include "npu/platform/pci.hpp"
#include "npu/platform/process_addresses.hpp"
#include "npu/platform/time.hpp"
#include "npu/platform/trace.hpp"

namespace npu::platform {

class Platform {
 public:
  virtual ~Platform() = default;

  virtual PciAccess& pci() = 0;
  virtual Clock& clock() = 0;
  virtual Tasks& tasks() = 0;
  virtual Tracer& tracer() = 0;

  // Maps `size` bytes of a memory BAR from `offset` on. The BAR's address and decoding are set up.
  // kMisaligned: `offset` or `size` is no multiple of 4 KiB, or `size` is 0.
  // kNotFound: no such function or BAR.
  // kOutOfRange: not inside the BAR.
  virtual Result<std::unique_ptr<MmioRegion>> map_bar(Bdf bdf, unsigned bar, Bytes offset,
                                                      Bytes size, Caching caching) = 0;
  // Allocates zeroed host memory that the function can access by DMA.
  // kInvalidArgument: 0 bytes.
  // kMisaligned: `alignment` is no power of two of at least 4 KiB.
  // kOutOfMemory: no memory.
  // kNotFound: no such function.
  virtual Result<std::unique_ptr<DmaMemory>> allocate_dma(Bdf bdf, Bytes size, Bytes alignment,
                                                          DmaDirection direction) = 0;
  // Pins memory of the caller and maps it for a function. The memory must outlive the object. It
  // keeps its content, and writes of the device are visible in it at once. Its bus address is a
  // multiple of kImportAlignment.
  // kInvalidArgument: 0 bytes.
  // kNotFound: no such function.
  // kMisaligned: address or size is no multiple of 4 KiB.
  // kOutOfMemory: it cannot be pinned; fresh pages: no memory.
  // kOutOfResources: no mapping left.
  // kUnsupported: not on this platform.
  virtual Result<std::unique_ptr<DmaMemory>> import_dma(Bdf bdf, ByteSpan memory,
                                                        DmaDirection direction, HostPages pages) {
    static_cast<void>(memory), static_cast<void>(direction), static_cast<void>(pages);
    return fail(ErrorCode::kUnsupported,
                "this platform maps no memory of others for " + to_string(bdf));
  }
  // Copies between ordinary memory and DMA memory, of the same size. The simulator also charges the
  // time of the copy.
  virtual void copy(ByteSpan to, ConstByteSpan from) = 0;
  // Restricts DMA memory to one process: requests with another PASID than `pasid`, 1 .. 2^20 - 1,
  // can no longer access it. Requests without a PASID still can.
  // kInvalidArgument: `pasid` out of range.
  // kUnsupported: the IOMMU does not distinguish processes.
  virtual Status bind_pasid(DmaMemory& memory, std::uint32_t pasid) {
    static_cast<void>(memory);
    static_cast<void>(pasid);
    return fail(ErrorCode::kUnsupported, "this platform's IOMMU does not know PASIDs");
  }
  // Lets another function access the memory, too, at the returned address.
  // kNotFound: no such function.
  // kOutOfMemory, kOutOfResources: no mapping left.
  // kUnsupported: not on this platform.
  virtual Result<BusAddress> share_dma(DmaMemory& memory, Bdf bdf) {
    static_cast<void>(memory);
    return fail(ErrorCode::kUnsupported, "memory of " + to_string(bdf) + " alone");
  }
  // The address at which a function can access a memory BAR of `owner` by DMA, from `offset` on
  // (PCIe peer to peer).
  // kNotFound: no such function or BAR, or `offset` is beyond it.
  // kUnsupported: no known path between the two.
  virtual Result<BusAddress> peer_address(Bdf bdf, Bdf owner, unsigned bar, Bytes offset) {
    static_cast<void>(bar), static_cast<void>(offset);
    return fail(ErrorCode::kUnsupported,
                "no way from " + to_string(bdf) + " to the memory of " + to_string(owner));
  }
  // Lets a function use addresses of processes (process_addresses.hpp).
  // kNotFound: no such function.
  // kAlreadyExists: the function has such an object.
  // kUnsupported: the function or the platform has no ATS, PRI and PASIDs.
  virtual Result<std::unique_ptr<ProcessAddresses>> open_process_addresses(Bdf bdf) {
    return fail(ErrorCode::kUnsupported,
                "this platform shares no addresses of processes with " + to_string(bdf));
  }
  // Programs and unmasks an MSI-X table entry.
  // kNotFound: no such function.
  // kUnsupported: it has no MSI-X.
  // kOutOfRange: beyond the table.
  // kAlreadyExists: the vector is open.
  // kOutOfResources: the machine has no vector left.
  virtual Result<std::unique_ptr<InterruptVector>> open_vector(Bdf bdf, unsigned vector) = 0;
  // Function level reset. Returns when configuration reads answer again. Waits for a reset that
  // another one has begun. BARs have their addresses of boot again.
  // kNotFound: no such function, or it does not answer.
  // kUnsupported: the function cannot be reset.
  // kTimeout: it does not answer after the reset: 100 ms; VFIO: 1 s.
  virtual Status reset_function(Bdf bdf) = 0;

  // The present virtual functions of a physical function, in order.
  // kUnsupported: it cannot have any.
  virtual Result<std::vector<Bdf>> virtual_functions(Bdf bdf) {
    return fail(ErrorCode::kUnsupported, to_string(bdf) + " has no virtual functions");
  }
  // Sets their number, as Linux' sriov_numvfs. Returns when the new ones answer. The present number
  // changes nothing. A failed step is undone.
  // kBusy: from one number above 0 to another.
  // kOutOfRange: more than the function can have.
  // kPermissionDenied: the operating system refuses.
  // kDeviceLost: a new one does not answer.
  virtual Status set_virtual_functions(Bdf bdf, unsigned count) {
    static_cast<void>(count);
    return fail(ErrorCode::kUnsupported, to_string(bdf) + " has no virtual functions");
  }

  // For tests: a driver that closes reports objects that its user did not free: `count` of a kind
  // ("event", "pin") with `size` bytes in total, or 0.
  virtual void note_never_freed(std::string_view kind, std::uint64_t count, Bytes size) {
    static_cast<void>(kind), static_cast<void>(count), static_cast<void>(size);
  }

  // For reports: a program that will be uploaded, as its file has it. It takes no time.
  virtual void note_program(ConstByteSpan file) { static_cast<void>(file); }

  // The device sees earlier stores before later ones. Drains write combining.
  virtual void write_barrier() = 0;
  // Later loads are not satisfied before earlier ones.
  virtual void read_barrier() = 0;
};

inline void Platform::copy(ByteSpan to, ConstByteSpan from) {
  if (to.size != 0) std::memcpy(to.data, from.data, to.size);
}

}  // namespace npu::platform
