// SPDX-License-Identifier: Apache-2.0
// Virtual addresses of processes that a function uses directly. Its requests carry the PASID of the
// process. The IOMMU translates them with the page tables of the process (PCIe ATS), and the
// function requests missing pages (PRI). Linux calls this shared virtual addressing; here the
// driver of the function handles the page requests. Source: PCIe Base 5.0, 10.4; virtualisation.md
// S7.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "npu/base/result.hpp"
#include "npu/platform/memory.hpp"
#include "npu/platform/time.hpp"

namespace npu::platform {

// A function's request for a page. The access waits for the response.
struct PageRequest {
  std::uint32_t pasid = 0;
  std::uint64_t address = 0;  // of the process, start of a page
  bool write = false;         // for writing, too
  std::uint16_t group = 0;    // 9 bits; identifies the request
};

// Codes of PRG Responses (PCIe 10.4.2).
enum class PageResponse : std::uint8_t {
  kSuccess = 0x0,  // the page is there; the function repeats the access
  kInvalid = 0x1,  // no page for this access
  kFailure = 0xF,  // the function must not request any more
};

// The process addresses of one function. Its destructor answers open page requests with kInvalid
// and removes all mappings.
class ProcessAddresses {
 public:
  virtual ~ProcessAddresses() = default;

  // Allocates zeroed memory of a process. The function can access it only after map(). It is
  // neither pinned nor mapped for DMA, so bus() has no meaning.
  // kInvalidArgument: `size` is 0 or no multiple of 4 KiB.
  // kOutOfMemory: no memory.
  virtual Result<std::unique_ptr<DmaMemory>> allocate(Bytes size) = 0;
  // The same for zeroed memory of the caller, which must outlive the object.
  // kInvalidArgument: address or size is no multiple of 4 KiB.
  // kOutOfMemory: the memory cannot be used.
  // kUnsupported: not on this platform.
  virtual Result<std::unique_ptr<DmaMemory>> import(ByteSpan memory) {
    static_cast<void>(memory);
    return fail(ErrorCode::kUnsupported, "this platform shares only memory of its own");
  }
  // Lets the function use addresses of the process, which has no pages at first. A second call does
  // nothing.
  // kInvalidArgument: `pasid` is not 1 .. 2^20 - 1.
  virtual Status attach(std::uint32_t pasid) = 0;
  // Maps `memory` at `address` of an attached process, for writing if `write`. A second call with
  // the same memory can add the permission to write.
  // kInvalidArgument: the process is not attached, `address` is no multiple of 4 KiB, or other
  // memory is mapped there.
  virtual Status map(std::uint32_t pasid, std::uint64_t address, DmaMemory& memory, bool write) = 0;
  // Removes a mapping. Returns when the function no longer uses it.
  // kNotFound: no mapping begins at `address`.
  virtual Status unmap(std::uint32_t pasid, std::uint64_t address) = 0;

  // Takes the oldest page request; nullopt: none.
  virtual std::optional<PageRequest> take() = 0;
  // Answers a request from take(), once.
  virtual void respond(const PageRequest& request, PageResponse response) = 0;
  // Counts a request that arrives when all earlier ones have been taken.
  virtual InterruptVector& arrivals() = 0;
};

}  // namespace npu::platform
