// SPDX-License-Identifier: Apache-2.0
// Who looks for races or for writers of memory hears which bytes kernels access, and when entries
// of queues end. Nothing of this takes simulated time. Without a watch the models look at a null
// pointer.
#pragma once

#include <cstdint>

#include "model/core/space_id.hpp"
#include "npu/abi/dma.hpp"
#include "npu/abi/queue_entry.hpp"
#include "npu/base/units.hpp"

namespace npu::model {

struct HazardPlace;

class WorkWatch {
 public:
  virtual ~WorkWatch() = default;
  // An instruction in a kernel: of a pipe, or of the scalar unit (platform::Pipe).
  struct Instruction {
    std::uint64_t cause = 0;  // of its entry: platform::queue_cause()
    unsigned core = 0;
    unsigned pipe = 0;
    std::uint32_t number = 0;  // in its program
  };
  // With core.hazards: one that may access memory, and where in its program it is.
  virtual void issued(const Instruction&, const HazardPlace&) {}
  // `rows` pieces of `row` bytes of global memory, `pitch` bytes apart, by a kernel.
  struct Access {
    SpaceId space = 0;
    Instruction by;
    bool write = false;
    std::uint64_t first = 0;
    Bytes rows = 1, row = 0, pitch = 0;
  };
  virtual void accessed(const Access& access) = 0;
  // A queue is there: `cause` is that of its first entry.
  virtual void created(std::uint64_t cause) = 0;
  // An entry has ended, or was given up. Of a record: its signal is about to be written, and all
  // that it waits for has ended.
  struct Entry {
    SpaceId space = 0;
    std::uint64_t cause = 0;
    const abi::QueueEntry& entry;
  };
  virtual void ended(const Entry& entry) = 0;
  // The same of a command of a function's DMA ring.
  struct Transfer {
    SpaceId space = 0;
    unsigned device = 0, function = 0;
    std::uint64_t position = 0;  // in its ring, since that was enabled
    const abi::DmaEntry& entry;
    std::uint64_t cause = 0;
  };
  virtual void transferred(const Transfer&) {}
  // A doorbell has come to the card, with what the host has written.
  struct Doorbell {
    unsigned device = 0, function = 0;
    bool ring = false;                 // DMA_DOORBELL
    std::uint64_t page = 0, bell = 0;  // else: which one
    std::uint64_t value = 0;
    // Of the last entry that it tells of: `queue` (of the ring: nothing) and its index.
    std::uint32_t queue = 0;
    std::uint64_t last = 0;
  };
  virtual void rung(const Doorbell&) {}
  // The host has set a signal of the address space.
  virtual void released(unsigned /*device*/, SpaceId, std::uint32_t /*slot*/) {}
  // A write of the card for this cause is in the host's memory.
  virtual void landed(std::uint64_t /*cause*/, Bytes) {}
};

namespace detail {
inline WorkWatch* work_watch = nullptr;  // null: there is none
// With a watch: the cause of the write to a card's memory that its MemoryWatch hears of just now.
inline std::uint64_t write_cause = 0;
}  // namespace detail

}  // namespace npu::model
