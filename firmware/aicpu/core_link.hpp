// SPDX-License-Identifier: Apache-2.0
// How the scheduler talks to one core: over its registers, or over its line in memory
// (abi/handshake.hpp).
#pragma once

#include <array>
#include <memory>

#include "firmware/aicpu/run_view.hpp"

namespace npu::firmware {

// A block (or a mixed block's lane) that a core has been given.
struct Assignment {
  std::uint32_t dispatch = 0;  // id
  std::uint32_t task = kNoTask;
  std::uint32_t block = kNoBlock;
  std::uint32_t lanes = 1;    // of all blocks of the task
  std::uint64_t record = 0;   // device addresses of its TaskRecord, 0: it has none, and
  std::uint64_t payload = 0;  // of its DispatchPayload
};

// What a core has. What is sent may not have been seen by the core yet, what is running has;
// nothing may be sent before the core has seen what was sent last.
enum class Work : std::uint8_t { kNone, kSent, kRunning, kRunningAndSent };

// A core of this thread.
struct Worker {
  std::uint32_t index = 0;
  std::uint32_t physical = 0;
  abi::CoreType type = abi::CoreType::kCoupled;
  static constexpr unsigned kVector = 1;  // vector cores are of this kind, all others of kind 0
  unsigned place = 0, cluster = 0;        // in the thread's lists
  std::uint8_t kind = 0;
  Work work = Work::kNone;
  bool reserved = false;  // has a block that waits for others (kTaskCooperative)
  std::uint32_t last_dispatch = 0;
  // Dispatch ids alternate between two slots, as they do between the payloads.
  std::array<Assignment, 2> slots;

  bool busy() const { return work != Work::kNone; }
  Assignment& newest() { return slots[last_dispatch & 1]; }
  const Assignment& newest() const { return slots[last_dispatch & 1]; }
  // Of two blocks the one that runs, of one this one.
  const Assignment& oldest() const {
    return slots[(work == Work::kRunningAndSent ? ~last_dispatch : last_dispatch) & 1];
  }
};

// What a look at a core has found out.
enum class Seen : std::uint8_t {
  kNothing,      // new
  kBegun,        // what was sent runs
  kEnded,        // the one block
  kOldestEnded,  // of two; the other has not been seen
  kOldestEndedNewestBegun,
  kBothEnded,
};

class CoreLink {
 public:
  virtual ~CoreLink() = default;
  // Makes the core ready to be given work; answered() says when it is.
  virtual void open(const Worker& worker) = 0;
  virtual bool answered(const Worker& worker) = 0;
  // Whether a second block may be given to a core that runs one.
  virtual bool can_pend() const = 0;
  // Hands over worker.newest(), whose payload is in memory.
  virtual void ring(const Worker& worker) = 0;
  // At a worker that has work; changes nothing of it.
  virtual Seen look(const Worker& worker) = 0;
  // What the kernel of a block has said that has ended.
  virtual std::uint32_t result(const Worker& worker, const Assignment& what) = 0;
  // The executor is to leave; left() says when it has. urge() repeats it where that may be needed.
  virtual void dismiss(const Worker& worker) = 0;
  virtual void urge(const Worker& worker) = 0;
  virtual bool left(const Worker& worker) = 0;
  virtual void close(const Worker& worker) = 0;
  // FaultCode of a core that has stopped; 0: it has not. And COND, as it is.
  virtual std::uint32_t exception(const Worker& worker) = 0;
  virtual std::uint32_t cond(const Worker& worker) = 0;
};

std::unique_ptr<CoreLink> make_register_link(const RunView& run);
std::unique_ptr<CoreLink> make_memory_link(const RunView& run);
std::unique_ptr<CoreLink> make_core_link(const RunView& run);

}  // namespace npu::firmware
