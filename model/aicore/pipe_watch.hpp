// SPDX-License-Identifier: Apache-2.0
// Hears of all that a core's program issues, in an order that the program's waits allow.
#pragma once

#include "model/aicore/pipe_queue.hpp"

namespace npu::model {

class PipeWatch {
 public:
  using Pipe = platform::Pipe;

  virtual ~PipeWatch() = default;
  // The scalar unit hands an entry to a pipe.
  virtual void issued(Pipe pipe, const PipeEntry& entry) = 0;
  // The pipe comes to its next entry; to one that waits when what it waits for is there.
  virtual void reached(Pipe pipe, const PipeEntry& entry) = 0;
  // The scalar unit itself: flags, flags between cores, all pipes seen to end, a word of UB.
  virtual void raised(Pipe to, unsigned id) = 0;
  virtual void awaits(Pipe from, unsigned id) = 0;  // lowered() comes if it ends
  virtual void lowered(Pipe from, unsigned id) = 0;
  virtual void cross_raised(platform::CrossScope scope, unsigned flag) = 0;
  virtual void cross_awaits(platform::CrossScope scope, unsigned flag) = 0;
  virtual void cross_lowered(platform::CrossScope scope, unsigned flag) = 0;
  virtual void drained() = 0;
  virtual void accessed_ub(std::uint32_t offset, bool write) = 0;
  // The scalar unit loads or stores in global memory; told of only if somebody watches that.
  virtual void accessed_memory() = 0;
  // The program is stopped while the pipe waits in its next entry.
  virtual void stuck(Pipe pipe) = 0;
};

}  // namespace npu::model
