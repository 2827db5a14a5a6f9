// SPDX-License-Identifier: Apache-2.0
// The copies of one pipe between global memory and the core: split into requests, sent at the
// rate of the path, a bounded number of bytes in flight. The copies of one pipe follow one another
// as fast as their requests leave and end in order, each with its last response. Requests are for
// time alone; bytes move when a copy ends, by the tables of that time. From when all its requests
// are translated until then no invalidation that began meanwhile ends, so that nobody else owns its
// pages. Before that the copy holds up nobody: a request may wait for a page that somebody else's
// has to leave for, and an invalidation with it. Where pages come and go by page faults, a copy
// never holds up anybody, for the one before may wait for a page; if a page of its own has left
// when it is its turn to end, its requests are sent again.
#pragma once

#include <array>

#include "model/aicore/copy_chain.hpp"
#include "model/aicore/instruction_times.hpp"
#include "model/aicore/pipe_queue.hpp"
#include "model/core/device_memory_port.hpp"
#include "model/core/simulation.hpp"

namespace npu::model {

// Part of a copy, of `rows` rows of row_bytes.
struct MemoryRequest {
  bool write;
  std::uint64_t address;
  std::uint16_t rows;
  Bytes row_bytes;
  std::uint64_t pitch;
  std::uint32_t slot;  // below 2^28; comes back with the answer
};

class MemoryPipe {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void send(platform::Pipe pipe, const MemoryRequest& request) = 0;
    // A copy whose requests are all translated is in flight until its bytes have moved:
    // DeviceMemoryPort.
    virtual DeviceMemoryPort::Hold hold() = 0;
    virtual void release(DeviceMemoryPort::Hold hold) = 0;
    // DeviceMemoryPort, too.
    virtual bool pages_may_leave() const = 0;
    virtual bool reaches(std::uint64_t address, Bytes length, bool write) = 0;
    // The copy ends at `end`, not before now: its bytes are to be moved.
    virtual void copy_ended(platform::Pipe pipe, const PipeEntry& copy, SimTime begin, SimTime end,
                            Bytes bytes) = 0;
    // What the last copy's end followed from; ahead of copy_ended().
    virtual void copy_followed(platform::Pipe pipe, const PipeEntry& copy,
                               const CopyChain::Path& path) = 0;
    // A flag behind a copy is raised.
    virtual void raise_behind(platform::Pipe pipe, const PipeEntry& flag, SimTime when) = 0;
    // Something that the next entry of the pipe waits for has happened.
    virtual void copy_advanced(platform::Pipe pipe) = 0;
  };

  MemoryPipe(Simulation& sim, const ProgramCoreConfig& config, const CoreClock& clock,
             const InstructionTimes& times, platform::Pipe pipe, Owner& owner);

  // The next entry may begin.
  bool ready() const { return !sending_ && last_ - first_ < kInFlight; }
  // No copy is in flight.
  bool idle() const { return first_ == last_; }
  // When what begins next may: a move to another local buffer has ended, requests are not waited
  // for.
  SimTime port_free() const { return port_free_; }
  SimTime last_end() const { return last_end_; }
  // Now; ready(). `began`: why no earlier.
  void begin(const PipeEntry& copy, const Began& began);
  // Behind the copies in flight; ready() and not idle().
  void append_flag(const PipeEntry& flag);
  void answered(std::uint32_t slot, Bytes bytes, const RequestTimes& times);
  // Before it is answered, maybe while it is sent; not of requests without translation.
  void translated(std::uint32_t slot);
  // Of the copy in flight that a request belongs to.
  std::uint32_t instruction_of(std::uint32_t slot) const {
    return items_[slot % kInFlight].entry.number;
  }
  // Forgets everything; answers that are still to come are ignored.
  void cut();

 private:
  static constexpr unsigned kInFlight = 16;  // copies and flags behind them

  struct Item {
    bool flag = false, sent = false, finishing = false, held = false;
    unsigned answers = 0;       // still to come
    unsigned translations = 0;  // of its requests, still to come
    DeviceMemoryPort::Hold hold = 0;
    SimTime begun = 0;
    SimTime last = 0;      // answer, or the end of the last request's share of the rate
    CopyChain::Path path;  // of the last answer
    PipeEntry entry;
    std::uint64_t percent = 100;  // of what may be outstanding, that its rows make use of
  };
  // Where a copy lies in global memory.
  struct Range {
    bool write = false, strided = false;
    std::uint64_t address = 0, pitch = 0;
    Bytes rows = 0, row_bytes = 0;
    const CopyPathConfig* path = nullptr;  // none: to another local buffer
    Bytes element = 0;                     // of a transposing copy
  };

  // How far a copy's requests have been sent.
  struct Cursor {
    Range range;
    std::uint32_t slot = 0;
    Bytes row = 0;     // next to be sent
    Bytes offset = 0;  // in that row
  };

  Range range_of(const Instruction& copy) const;
  SimTime local_time(const Instruction& copy) const;
  // Short rows take more of what may be outstanding than they have bytes.
  static Bytes room_of(const Item& copy, Bytes bytes) { return bytes * 100 / copy.percent; }
  Item& item(std::uint64_t number) { return items_[number % kInFlight]; }
  bool stale(std::uint64_t argument) const { return argument != generation_; }
  std::uint32_t slot_of(std::uint64_t number) const;
  MemoryRequest next_request(const Cursor& at) const;
  static void take(Cursor& at, const MemoryRequest& request);
  bool is_there(const Range& range);
  void send_again(Item& copy, const Range& range);
  void send();
  void resume(std::uint64_t generation);
  void finish(std::uint64_t generation);
  void retire();
  bool retire_copy(Item& item);
  // Whether somebody hears what copies follow from.
  bool followed() const { return sim_.recorder.hears(platform::Activity::kCopyPath); }
  void tell_path(const Item& copy, SimTime end);
  void release(Item& item);

  Simulation& sim_;
  const ProgramCoreConfig& config_;
  const CoreClock& clock_;
  const InstructionTimes& times_;
  const platform::Pipe pipe_;
  Owner& owner_;

  std::array<Item, kInFlight> items_;
  std::uint64_t first_ = 0, last_ = 0;  // items in flight
  std::uint64_t generation_ = 0;
  SimTime port_free_ = 0, last_end_ = 0;
  Bytes outstanding_ = 0;
  bool sending_ = false, resuming_ = false;
  Cursor cursor_;  // of the copy that is being sent
  CopyChain chain_;
};

}  // namespace npu::model
