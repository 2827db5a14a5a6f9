// SPDX-License-Identifier: Apache-2.0
// What the parts of the DMA module share.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "model/config/chip_config.hpp"
#include "model/core/ports.hpp"
#include "model/core/simulation.hpp"
#include "model/core/space_id.hpp"
#include "model/dma/bandwidth_weights.hpp"
#include "npu/abi/dma.hpp"
#include "npu/abi/fault.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {

class DmaPorts;
class TranslationCache;
struct DmaRequest;

// Who asks the engines for something.
class DmaClient {
 public:
  virtual ~DmaClient() = default;
  // The request's last access has ended, its fault is known, and the engine has spent
  // completion_processing on it if it was `announced`. It is still the engine's.
  virtual void dma_ended(const DmaRequest&) {}
  // It is in no engine any more.
  virtual void dma_left(const DmaRequest& request) = 0;
  // An engine may have become free.
  virtual void dma_free() = 0;
};

// What an engine is asked to do.
struct DmaRequest {
  DmaClient* client = nullptr;
  std::uint64_t context = 0;  // the client's own
  std::uint64_t cause = 0;
  const abi::DmaOperation* operation = nullptr;  // null: none, and a fault is set
  std::uint8_t opcode = 0;                       // as it was asked for
  std::uint8_t function = 0;
  SpaceId space = 0;        // of device addresses
  std::uint32_t pasid = 0;  // of host addresses; 0: the driver's own
  std::uint64_t source = 0, destination = 0;
  Bytes size = 0;
  abi::ReduceOperation reduction =
      abi::ReduceOperation::kNone;  // of copies inside and between cards
  abi::ElementType element = abi::ElementType::kInt8;
  // Those of one function and stream that are `ordered` are executed one after another.
  std::uint16_t stream = 0;
  bool ordered = false;
  bool announced = false;  // the engine announces its end: completion_processing
  SimTime dispatched = 0;  // to the engine
  // Of the engine.
  std::uint64_t number = 0;
  SimTime data_end = 0;
  CommandFault fault;  // one that is known before lets nothing happen
  bool stopped = false;
  std::uint8_t engine = 0;  // that has it, or had it last
  // Of one that has met a page that was not there, and was taken up again: what is done, and bytes
  // behind that which are read and not yet written.
  bool replayed = false;
  bool held = false;  // it was, or is, in a line of HeldRequests
  Bytes done = 0;
  std::shared_ptr<const std::vector<unsigned char>> read;

  bool is_after(const DmaRequest& other) const {
    return ordered && other.ordered && stream == other.stream && function == other.function;
  }
  bool reduces() const { return reduction != abi::ReduceOperation::kNone; }
  bool has_source_address() const { return operation->source != abi::DmaSide::kPattern; }
  // Neither empty nor beyond the end of all addresses.
  bool has_sound_size() const {
    return size != 0 && checked_add(destination, size) &&
           (!has_source_address() || checked_add(source, size));
  }
};

// A page that a request needs, is not there, and may come.
struct MissingPage {
  std::uint64_t address = 0;  // of the access
  bool write = false;
};

// The engines as the command processor uses them; implemented by Dma.
class DmaRequestPort {
 public:
  virtual ~DmaRequestPort() = default;
  virtual void connect(DmaClient& client) = 0;
  // True if an engine of the function has no more than one command to work on, or a free place
  // that a ring waits for, too, and that is the requests' turn.
  virtual bool can_request(unsigned function) const = 0;
  // Without order among each other. Only while can_request().
  virtual void request(const DmaRequest& request) = 0;
  // The request of that context ends at the next border of an access.
  virtual void stop(std::uint64_t context) = 0;
};

struct DmaEngineStatistics {
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
  static constexpr std::uint8_t kFrontEnds = 0x80;

  std::uint8_t unit = 0;  // engine, or kFrontEnds + the function of a ring
  Role role = kFetch;
  std::uint32_t epoch = 0;  // 24 bits; the unit's resets: older responses are dropped
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
  DmaPorts& ports;
  TranslationCache& translations;
  DmaEngineStatistics statistics;
  std::vector<Partition> partitions;  // by function
  BandwidthWeights bandwidth;
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
    case Completion::kPageFault:
      break;  // never over the link
  }
  return abi::FaultCode::kHostAddress;
}

}  // namespace npu::model
