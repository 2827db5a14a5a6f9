// SPDX-License-Identifier: Apache-2.0
// Addresses of processes that a function uses as they are: its requests carry the process' PASID,
// the IOMMU looks in the process' own page tables (PCIe ATS), and where there is no page the
// function asks for one (PRI). It is what Linux calls shared virtual addressing, with the faults
// handed to who drives the function. Source: PCIe Base 5.0, 10.4; virtualisation.md S7.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "npu/base/result.hpp"
#include "npu/platform/memory.hpp"
#include "npu/platform/time.hpp"

namespace npu::platform {

// A function waits for a page until it is answered.
struct PageRequest {
  std::uint32_t pasid = 0;
  std::uint64_t address = 0;  // of the process, begin of a page
  bool write = false;         // to write it, too
  std::uint16_t group = 0;    // 9 bits, the function's; tells requests apart
};

// Codes of PRG Responses (PCIe 10.4.2).
enum class PageResponse : std::uint8_t {
  kSuccess = 0x0,  // it is there; the function looks again
  kInvalid = 0x1,  // there is none for this access
  kFailure = 0xF,  // the function is not to ask any more
};

// Of one function. Destroying it takes everything back: open page requests are answered with
// kInvalid, and the processes' addresses mean nothing to the function any more.
class ProcessAddresses {
 public:
  virtual ~ProcessAddresses() = default;

  // Zeroed memory of a process, `size` a multiple of 4 KiB, which the function reaches only where
  // map() puts it: neither pinned nor mapped for DMA, so its bus() means nothing. kOutOfMemory.
  virtual Result<std::unique_ptr<DmaMemory>> allocate(Bytes size) = 0;
  // The same of zeroed memory that somebody else keeps until the object is destroyed. kOutOfMemory;
  // kUnsupported.
  virtual Result<std::unique_ptr<DmaMemory>> import(ByteSpan memory) {
    static_cast<void>(memory);
    return fail(ErrorCode::kUnsupported, "this platform shares only memory of its own");
  }
  // The function may use addresses of the process from now on; it has none at first. Once is
  // enough. kInvalidArgument: not 1 .. 2^20 - 1.
  virtual Status attach(std::uint32_t pasid) = 0;
  // A process that is attached has `memory` at `address`, a multiple of 4 KiB, from now on; with
  // `write` the function may write it. Of what is there already, write permission may be given so.
  // kInvalidArgument: no such process, no such address, or other memory is there.
  virtual Status map(std::uint32_t pasid, std::uint64_t address, DmaMemory& memory, bool write) = 0;
  // The process no longer has what map() put there; at the return the function does not use it any
  // more. kNotFound: nothing begins there.
  virtual Status unmap(std::uint32_t pasid, std::uint64_t address) = 0;

  // The oldest page request that has not been taken; nothing: there is none.
  virtual std::optional<PageRequest> take() = 0;
  // Once for each that take() gave.
  virtual void respond(const PageRequest& request, PageResponse response) = 0;
  // Counts when a request comes and all before it have been taken.
  virtual InterruptVector& arrivals() = 0;
};

}  // namespace npu::platform
