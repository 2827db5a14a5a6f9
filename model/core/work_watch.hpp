// SPDX-License-Identifier: Apache-2.0
// Who looks for races or for writers of memory hears which bytes kernels access, and when entries
// of queues end. Nothing of this takes simulated time. Without a watch the models look at a null
// pointer.
#pragma once

#include <cstdint>

#include "model/core/space_id.hpp"
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
};

namespace detail {
inline WorkWatch* work_watch = nullptr;  // null: there is none
// With a watch: the cause of the write to a card's memory that its MemoryWatch hears of just now.
inline std::uint64_t write_cause = 0;
}  // namespace detail

}  // namespace npu::model
