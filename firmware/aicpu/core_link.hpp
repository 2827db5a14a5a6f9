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
  bool used = false;
  std::uint32_t dispatch = 0;  // id
  std::uint32_t task = kNoTask;
  std::uint32_t block = kNoBlock;
  std::uint32_t lanes = 1;   // of all blocks of the task
  std::uint64_t record = 0;  // device address of its TaskRecord
};

// A core of this thread. What is `sent` may not have been seen by the core yet, what is `running`
// has; nothing may be sent before the core has seen what was sent last.
struct Worker {
  std::uint32_t index = 0;
  std::uint32_t physical = 0;
  abi::CoreType type = abi::CoreType::kCoupled;
  unsigned cluster = 0;  // of this thread
  std::uint32_t last_dispatch = 0;
  Assignment running, sent;
  bool reserved = false;  // has a block that waits for others (kTaskTogether)

  bool busy() const { return running.used || sent.used; }
  bool idle() const { return !busy() && !reserved; }
};

struct Ended {
  Assignment what;
  std::uint32_t result = 0;
};
// What a look at a core has found; the first of two has ended before the second.
struct Look {
  std::array<Ended, 2> ended{};
  unsigned count = 0;
  bool changed = false;  // the core has gone on, even if nothing has ended
};

class CoreLink {
 public:
  virtual ~CoreLink() = default;
  // Makes the core ready to be given work; answered() says when it is.
  virtual void open(const Worker& worker) = 0;
  virtual bool answered(const Worker& worker) = 0;
  // Whether a second block may be given to a core that runs one.
  virtual bool can_pend(const Worker& worker) const = 0;
  // Hands over worker.sent, whose payload is in memory.
  virtual void ring(const Worker& worker) = 0;
  virtual Look look(Worker& worker) = 0;
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
