// SPDX-License-Identifier: Apache-2.0
// A queue, the memory that its entries use, and what is known of both. When its queue is gone a
// lane may have another one.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "tests/attack/queues/card.hpp"
#include "tests/attack/queues/journal.hpp"

namespace npu::attack {

// Which faults an entry ends with.
struct WrongEntry {
  abi::QueueEntry entry;
  std::vector<abi::FaultCode> codes;
  std::uint64_t address = 0;  // of the record, unless `size` is 0
  std::uint64_t size = 0;
  const char* kind = "";
};

enum class Outcome : std::uint8_t { kDone, kWaitTimeout };

struct Awaited {
  driver::QueueTicket ticket;
  std::size_t end = 0;       // operations of the journal up to it
  std::uint64_t number = 0;  // of the entry in the queue, from 0, by our own count
  Outcome outcome = Outcome::kDone;
  bool interrupt = false;
};

struct Stamp {
  std::size_t place = 0;
  std::uint64_t number = 0;  // of the entry
};

struct Lane {
  static constexpr unsigned kStamps = 8;  // the first half in host memory

  static constexpr std::uint32_t kArgumentBytes = 24;

  // --- Memory: arguments of the kernel, 0.5 everywhere, the cells, timestamps.
  Bytes cell = 0;
  driver::DeviceAddress memory;
  std::unique_ptr<platform::DmaMemory> host;
  driver::DeviceAddress arguments() const { return memory; }
  driver::DeviceAddress stamps() const { return memory + 64; }
  driver::DeviceAddress halves() const { return memory + 4_KiB; }
  driver::DeviceAddress device_cell(unsigned i) const { return halves() + (1 + i) * cell; }
  platform::BusAddress host_cell(unsigned i) const {
    return host->bus() + 4_KiB + (i - kDeviceCells) * cell;
  }
  ByteSpan host_bytes(unsigned i) const {
    return host->cpu().subspan(4_KiB + (i - kDeviceCells) * cell, cell);
  }

  driver::SignalId signal;
  std::uint64_t recorded = 0;  // the highest value that was submitted for it

  // --- The queue; none: not created.
  std::unique_ptr<driver::Queue> queue;
  driver::QueueOptions options;
  unsigned log2_ring = 0, log2_completions = 0;
  bool null_ring = false, disabled = false, suspended = false;

  std::uint64_t submitted = 0;  // entries
  std::uint64_t in_ring = 0;  // entries of the last one, with the driver's own, as its ticket says
  std::deque<Awaited> awaited;
  std::uint32_t touched = 0;  // cells, since the last barrier
  std::vector<Stamp> stamped;
  Journal journal;
  std::size_t known_done = 0;  // operations of the journal

  // --- A wrong entry; nothing behind it is sure.
  bool poisoned = false, fault_seen = false;
  WrongEntry wrong;
  std::size_t wrong_at = 0;        // in the journal
  std::uint64_t wrong_number = 0;  // by our own count
  std::uint64_t wrong_index = 0;   // as the ticket says

  bool held() const { return null_ring || disabled || suspended; }
};

}  // namespace npu::attack
