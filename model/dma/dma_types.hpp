// SPDX-License-Identifier: Apache-2.0
// What the parts of the DMA module share.
#pragma once

#include <cstdint>

#include "model/config/chip_config.hpp"
#include "model/core/ports.hpp"
#include "model/core/simulation.hpp"
#include "npu/abi/dma.hpp"
#include "npu/abi/fault.hpp"

namespace npu::model {

class CardRegisters;
class DmaPorts;
class TranslationCache;

// A ring entry on its way through the card.
struct DmaCommand {
  abi::DmaEntry entry;
  std::uint16_t ring_index = 0;
  std::uint64_t cause = 0;
  SimTime dispatched = 0;
  SimTime data_end = 0;
  std::uint8_t vmid = 0;  // its stream's
  CommandFault fault;

  // Of a request from the command processor: no stream, no event, not from the ring.
  bool requested = false;
  bool fill = false;          // the low half of `source` is a pattern of 32 bits
  std::uint32_t pasid = 0;    // of host addresses
  std::uint64_t context = 0;  // the requester's own
  bool stopped = false;

  abi::DmaOpcode opcode() const { return static_cast<abi::DmaOpcode>(entry.opcode); }
};

// The engines as the command processor uses them; implemented by Dma.
class DmaRequestPort {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    // A request is done: its last access has ended, its fault is known.
    virtual void dma_done(const DmaCommand& command) = 0;
    // An engine may have become free.
    virtual void dma_free() = 0;
  };
  virtual ~DmaRequestPort() = default;
  virtual void connect(Listener& listener) = 0;
  // True if an engine has no more than one command to work on, or a free place that the ring waits
  // for, too, and that is the requests' turn.
  virtual bool can_request() const = 0;
  // Commands without order among each other; `requested` is set. Only while can_request().
  virtual void request(const DmaCommand& command) = 0;
  // The request of that context ends at the next border of an access.
  virtual void stop(std::uint64_t context) = 0;
};

struct DmaStatistics {
  std::uint64_t doorbells = 0;
  std::uint64_t fetches = 0;       // ring reads
  std::uint64_t ring_entries = 0;  // read from the ring
  std::uint64_t commands = 0;      // completed, failed ones included
  std::uint64_t faults = 0;        // commands that failed
  std::uint64_t stopped = 0;       // requests that were given up
  Bytes bytes_host_to_device = 0;  // of commands that did not fail
  Bytes bytes_device_to_host = 0;
  Bytes bytes_device_to_device = 0;
  Bytes bytes_filled = 0;
  std::uint64_t translations = 0;  // ATS requests sent
};

// Transaction::context of everything the DMA module sends: who gets the response.
struct RequestTag {
  enum Role : std::uint8_t { kFetch, kRead, kWrite, kTranslate };
  static constexpr std::uint8_t kFrontEnd = 0xFF;

  std::uint8_t unit = 0;  // engine, or kFrontEnd
  Role role = kFetch;
  std::uint32_t epoch = 0;  // 24 bits; resets seen: older responses are dropped
  std::uint32_t slot = 0;   // 24 bits; the unit's own

  std::uint64_t pack() const {
    return std::uint64_t{unit} << 56 | std::uint64_t{role} << 48 |
           std::uint64_t{epoch & 0xFF'FFFF} << 24 | (slot & 0xFF'FFFF);
  }
  static RequestTag unpack(std::uint64_t v) {
    return {static_cast<std::uint8_t>(v >> 56), static_cast<Role>((v >> 48) & 0xFF),
            static_cast<std::uint32_t>((v >> 24) & 0xFF'FFFF),
            static_cast<std::uint32_t>(v & 0xFF'FFFF)};
  }
};

struct DmaShared {
  Simulation& sim;
  const ChipConfig& config;
  CardRegisters& registers;
  DmaPorts& ports;
  TranslationCache& translations;
  InterruptPort* interrupts = nullptr;
  DmaStatistics statistics;
  std::uint32_t epoch = 0;  // function resets so far
};

// The fault a failed request over the link means.
constexpr abi::FaultCode host_fault(Completion completion) {
  switch (completion) {
    case Completion::kSuccess:
      return abi::FaultCode::kNone;
    case Completion::kUnsupportedRequest:
      return abi::FaultCode::kHostAddress;
    case Completion::kCompleterAbort:  // the endpoint's own answer to a function that may not
      return abi::FaultCode::kBusMasterDisabled;
    case Completion::kPermission:
      return abi::FaultCode::kHostPermission;
    case Completion::kTimeout:
      return abi::FaultCode::kCompletionTimeout;
    case Completion::kPoisoned:
      return abi::FaultCode::kPoisoned;
    case Completion::kNotMapped:
    case Completion::kForbidden:
    case Completion::kBadTable:
    case Completion::kNoPeer:
    case Completion::kPeerLinkDown:
    case Completion::kPeerRefused:
      break;  // never over the link
  }
  return abi::FaultCode::kHostAddress;
}

}  // namespace npu::model
