// SPDX-License-Identifier: Apache-2.0
// Interfaces between models where no payload travels and a TLM socket would only be in the way.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/core/space_id.hpp"
#include "model/core/transaction.hpp"
#include "npu/abi/fault.hpp"
#include "npu/base/units.hpp"

namespace npu::model {

// Who sends a DMA request: a function (packed BDF), and the process it does so for (PASID; 0:
// none). `is_translated`: under a translation that it has asked for before, as posted writes are;
// `asks`: it asks for one.
struct DmaRequester {
  DmaRequester(std::uint32_t bdf, std::uint32_t process = 0, bool is_translated = false)
      : function(bdf), pasid(process), translated(is_translated) {}
  std::uint32_t function;
  std::uint32_t pasid;
  bool translated;
  bool asks = false;
};

// The same inside the card, where a function is known by its number.
struct HostAgent {
  std::uint8_t function = 0;
  std::uint32_t pasid = 0;

  friend bool operator==(const HostAgent& a, const HostAgent& b) {
    return a.function == b.function && a.pasid == b.pasid;
  }
};

// Host memory behind the IOMMU, as the root complex uses it. Implemented by model/host.
class HostMemoryPort {
 public:
  struct Access {
    Completion status;     // kSuccess, kUnsupportedRequest (not mapped) or kPermission
    Picoseconds latency;   // IOMMU plus memory, of this access
    std::byte* data;       // null unless kSuccess
    Bytes contiguous;      // bytes from the address to the end of its mapping
    Picoseconds lookup{};  // the part of `latency` that is the IOMMU's: look-up and walk
    Picoseconds walk{};    // the part of `lookup` that reads tables
  };
  virtual ~HostMemoryPort() = default;
  // A DMA access by `requester` begins at the time of the call; [bus, bus + length) must lie in one
  // mapping. A PASID reaches the mappings bound to it alone. A failed access leaves an IOMMU fault
  // record; who asks for a translation of a process' address gets kSuccess and no bytes instead.
  virtual Access access(DmaRequester requester, std::uint64_t bus, Bytes length, bool device_writes,
                        std::uint64_t cause) = 0;
  // The same where the bytes move: what it reaches then, which takes no more time.
  virtual Access reach(DmaRequester requester, std::uint64_t bus, Bytes length, bool device_writes,
                       std::uint64_t cause) = 0;
  // Where the bytes lie that a process of the function has at `address`, or with `pasid` 0 the
  // function itself, if they are mapped for such an access; null: they are not. Takes no time and
  // leaves no record.
  virtual std::byte* find(std::uint32_t requester, std::uint32_t pasid, std::uint64_t address,
                          Bytes length, bool device_writes) {
    static_cast<void>(requester), static_cast<void>(pasid), static_cast<void>(address);
    static_cast<void>(length), static_cast<void>(device_writes);
    return nullptr;
  }
  // A Page Request has come (PCIe 10.4.1).
  virtual void page_requested(DmaRequester requester, std::uint64_t address,
                              const PageRequestMessage& request, std::uint64_t cause) {
    static_cast<void>(requester), static_cast<void>(address);
    static_cast<void>(request), static_cast<void>(cause);
  }
  // The bytes of a device write have been stored: wakes whoever watches them.
  virtual void written(const std::byte* data, Bytes length, std::uint64_t cause) = 0;
};

// Receives MSI-X messages at the root complex. Implemented by model/host.
class InterruptSink {
 public:
  virtual ~InterruptSink() = default;
  virtual void message(std::uint32_t requester, std::uint64_t address, std::uint32_t data,
                       std::uint64_t cause) = 0;
};

// Raises an MSI-X vector of a function; implemented by the endpoint. Leaves behind everything
// that the card sent before. Masked or disabled vectors set their pending bit instead.
class InterruptPort {
 public:
  virtual ~InterruptPort() = default;
  virtual void raise(unsigned function, unsigned vector, std::uint64_t cause) = 0;
};

// What a function may ask of the host's address translation, as its configuration space says.
// Implemented by the endpoint.
class HostServicesPort {
 public:
  virtual ~HostServicesPort() = default;
  virtual bool translations_enabled(unsigned function) const = 0;  // ATS and PASID
  virtual unsigned page_requests(unsigned function) const = 0;     // outstanding; 0: PRI is off
  // Bits of PRI's status that are set from now on.
  virtual void set_page_request_status(unsigned function, std::uint16_t bits) = 0;
  virtual std::uint32_t requester_of(unsigned function) const = 0;  // packed BDF
};

// Why a command or a block of a kernel failed and, if it was an access, which.
struct CommandFault {
  abi::FaultCode code = abi::FaultCode::kNone;
  std::uint64_t address = 0;
  SpaceId vmid = 0;  // of an access to device memory
  bool write = false;
  Bytes size = 0;  // of the access, or of the operand at fault; 0: unknown
  // Of a kernel: where it ran.
  std::uint32_t block = 0;
  unsigned core = 0;              // its number + 1; 0: no kernel's fault
  std::uint32_t instruction = 0;  // abi::InstructionPlace; 0: none

  bool failed() const { return code != abi::FaultCode::kNone; }
};

// The fault a failed access to device memory means.
constexpr abi::FaultCode device_fault(Completion completion) {
  switch (completion) {
    case Completion::kNotMapped:
      return abi::FaultCode::kTranslation;
    case Completion::kForbidden:
      return abi::FaultCode::kDevicePermission;
    case Completion::kBadTable:
      return abi::FaultCode::kPageTable;
    case Completion::kNoPeer:
      return abi::FaultCode::kNoPeer;
    case Completion::kPeerLinkDown:
      return abi::FaultCode::kPeerLinkDown;
    case Completion::kPeerRefused:
      return abi::FaultCode::kPeerRefused;
    // Of pages that are the host's (SHARED_SPACE).
    case Completion::kTimeout:
      return abi::FaultCode::kCompletionTimeout;
    case Completion::kPermission:
      return abi::FaultCode::kHostPermission;
    case Completion::kPoisoned:  // or an error of the memory that could not be corrected
      return abi::FaultCode::kPoisoned;
    default:
      return abi::FaultCode::kDeviceAddress;
  }
}

// Who does not wait in the MMU for a page that somebody serves (Transaction::replays): its requests
// are answered with kPageFault, and it makes them again when it is told.
class PageListener {
 public:
  virtual ~PageListener() = default;
  // kSuccess: the page of 2 MiB that `address` is in may be there; else nobody brings it, and that
  // is what the requests end with.
  virtual void page_resolved(SpaceId space, std::uint64_t address, Completion completion) = 0;
};

// The MMU as it sees it.
class PagePort {
 public:
  virtual ~PagePort() = default;
  virtual void connect(PageListener& listener) = 0;
  // Whether the listener will be told of the page; if not, it has been.
  virtual bool page_waits(SpaceId space, std::uint64_t address) const = 0;
};

struct ReportedFault {
  abi::FaultCode code = abi::FaultCode::kNone;
  std::uint64_t address = 0;
  std::uint8_t opcode = 0;
  std::uint8_t engine = 0xFF;
  std::uint16_t stream = 0;
  std::uint16_t ring_index = 0;
  std::uint64_t cause = 0;
  SpaceId vmid = 0;
  bool write = false;
};

// Latches FAULT_* and raises vector 0. Implemented by the card's registers.
class FaultSink {
 public:
  virtual ~FaultSink() = default;
  virtual void report(const ReportedFault& fault) = 0;
};

// Reset lines of a function, driven by the endpoint on FLR and by the card at power-up.
class ResetListener {
 public:
  virtual ~ResetListener() = default;
  virtual void function_reset(unsigned function) = 0;
};

// Told by the endpoint that a function had to drop a write of the host because it decodes no
// memory: what the host believes to have said to it is not so any more. And that a function may
// send again, bus mastering having been off: what it had to say meanwhile was refused.
class WriteLossListener {
 public:
  virtual ~WriteLossListener() = default;
  virtual void host_write_lost(unsigned function, std::uint64_t address) = 0;
  virtual void may_send_again(unsigned function) { static_cast<void>(function); }
};

// Hears of bytes that are written into device memory, by device-local address.
class WriteObserver {
 public:
  virtual ~WriteObserver() = default;
  virtual void bytes_written(std::uint64_t address, Bytes length) = 0;
};

}  // namespace npu::model
