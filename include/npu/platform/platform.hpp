// SPDX-License-Identifier: Apache-2.0
// Everything the driver may use of the machine it runs on. Four implementations pass one
// contract suite (tests/contract): the simulator (model/host), Linux VFIO (driver/vfio) where a
// card is bound to vfio-pci, a vfio-user client of `npusim serve`, and the tests' fake.
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

  // Maps [offset, offset + size) of a memory BAR whose address and decoding are set up.
  // `offset` and `size` are multiples of 4 KiB. kNotFound: no such function or BAR;
  // kOutOfRange: not inside the BAR.
  virtual Result<std::unique_ptr<MmioRegion>> map_bar(Bdf bdf, unsigned bar, Bytes offset,
                                                      Bytes size, Caching caching) = 0;
  // `alignment` is a power of two, at least 4 KiB. kOutOfMemory, kNotFound.
  virtual Result<std::unique_ptr<DmaMemory>> allocate_dma(Bdf bdf, Bytes size, Bytes alignment,
                                                          DmaDirection direction) = 0;
  // Memory that somebody else keeps until after the object is destroyed, pinned and mapped for a
  // function: what the device writes is there at once. Address and size are multiples of 4 KiB.
  // kNotFound: no such function; kMisaligned; kOutOfMemory: it may not be pinned, or, of fresh
  // pages, there are no more; kOutOfResources: no mapping left; kUnsupported.
  virtual Result<std::unique_ptr<DmaMemory>> import_dma(Bdf bdf, ByteSpan memory,
                                                        DmaDirection direction, HostPages pages) {
    static_cast<void>(memory), static_cast<void>(direction), static_cast<void>(pages);
    return fail(ErrorCode::kUnsupported,
                "this platform maps no memory of others for " + to_string(bdf));
  }
  // Copies between memory of the program and DMA memory; sizes are equal. What is defined below
  // does so on a machine, where it takes its time by itself; the simulator charges it.
  virtual void copy(ByteSpan to, ConstByteSpan from) = 0;
  // Host memory of a process: requests with a PASID (queue_descriptor.hpp) reach it from now on
  // only if theirs is `pasid`, 1 .. 2^20 - 1. Those without may reach all memory of the function.
  // kUnsupported: no IOMMU that tells processes apart.
  virtual Status bind_pasid(DmaMemory& memory, std::uint32_t pasid) {
    static_cast<void>(memory);
    static_cast<void>(pasid);
    return fail(ErrorCode::kUnsupported, "this platform's IOMMU does not know PASIDs");
  }
  // Another function reaches the memory, too, from now on and until it is destroyed, at the address
  // returned. kNotFound: no such function; kOutOfMemory, kOutOfResources: no mapping left.
  virtual Result<BusAddress> share_dma(DmaMemory& memory, Bdf bdf) {
    static_cast<void>(memory);
    return fail(ErrorCode::kUnsupported, "memory of " + to_string(bdf) + " alone");
  }
  // How a function reaches memory behind a memory BAR of another one by DMA, from `offset` on,
  // without the host's memory (PCIe peer to peer). kNotFound: no such function or BAR;
  // kUnsupported: no way from the one to the other that the platform knows.
  virtual Result<BusAddress> peer_address(Bdf bdf, Bdf owner, unsigned bar, Bytes offset) {
    static_cast<void>(bar), static_cast<void>(offset);
    return fail(ErrorCode::kUnsupported,
                "no way from " + to_string(bdf) + " to the memory of " + to_string(owner));
  }
  // Processes' addresses for a function, one object at a time. kNotFound: no such function;
  // kAlreadyExists; kUnsupported: no ATS, PRI and PASIDs, in the function or on this platform.
  virtual Result<std::unique_ptr<ProcessAddresses>> open_process_addresses(Bdf bdf) {
    return fail(ErrorCode::kUnsupported,
                "this platform shares no addresses of processes with " + to_string(bdf));
  }
  // Programs and unmasks an MSI-X table entry. kNotFound: no such function;
  // kOutOfRange: beyond the table; kAlreadyExists: the vector is open.
  virtual Result<std::unique_ptr<InterruptVector>> open_vector(Bdf bdf, unsigned vector) = 0;
  // Function level reset; returns when configuration reads answer again. Where somebody else resets
  // the function, that is waited for, up to 100 ms. BARs lie where they did at boot, whatever was
  // written to them. kNotFound: no such function, or it does not answer; kUnsupported; kTimeout.
  virtual Status reset_function(Bdf bdf) = 0;

  // The virtual functions that a physical one has now, in order. kUnsupported: it cannot have any.
  virtual Result<std::vector<Bdf>> virtual_functions(Bdf bdf) {
    return fail(ErrorCode::kUnsupported, to_string(bdf) + " has no virtual functions");
  }
  // As Linux' sriov_numvfs: nothing, if there are `count`; kBusy: from one number above 0 to
  // another; kOutOfRange: more than it can have; kPermissionDenied: the operating system does not
  // let it. Returns when the new ones answer; a step that fails is taken back.
  virtual Status set_virtual_functions(Bdf bdf, unsigned count) {
    static_cast<void>(count);
    return fail(ErrorCode::kUnsupported, to_string(bdf) + " has no virtual functions");
  }

  // A driver that closes tells what its user has not given back: `count` of a kind ("event",
  // "pin"), `size` bytes in all, 0 if they have none. For tests, which name it; nothing happens by
  // it.
  virtual void note_never_freed(std::string_view kind, std::uint64_t count, Bytes size) {
    static_cast<void>(kind), static_cast<void>(count), static_cast<void>(size);
  }

  // Stores before are visible to the device before stores after; drains write combining.
  virtual void write_barrier() = 0;
  // Loads after are not satisfied before loads before.
  virtual void read_barrier() = 0;
};

inline void Platform::copy(ByteSpan to, ConstByteSpan from) {
  if (to.size != 0) std::memcpy(to.data, from.data, to.size);
}

}  // namespace npu::platform
