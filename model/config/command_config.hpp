// SPDX-License-Identifier: Apache-2.0
// Configuration of the command processor and of the cores it gives kernels to.
#pragma once

#include <cstdint>

#include "npu/base/units.hpp"

namespace npu::model {

// Compute queues (abi/queue.hpp).
struct CommandConfig {
  unsigned slots;                     // queues that are loaded at one time; 0: no command processor
  unsigned doorbell_pages;            // processes, 1..1024
  unsigned fetch_depth;               // entries of one fetch, 1..64
  unsigned window;                    // entries of a queue in flight at one time, 1..256
  Picoseconds quantum;                // of a queue whose descriptor says 0
  Picoseconds doorbell_decode;        // doorbell to the scheduler's or slot's look at it
  Picoseconds decode;                 // of an entry, in its slot
  Picoseconds completion_processing;  // work done to completion entry and MSI-X sent
  Picoseconds management;             // decoding of a management command
  Picoseconds drain_timeout;          // a management command waits for running work, at most
};

// Cores of one kind, all alike.
struct CoreConfig {
  std::uint64_t clock_hz;
  Picoseconds dispatch;  // command processor to core, per block
  Picoseconds init;      // of the core's hardware, per block
  // Of the program before it begins, per block; longer if the read of its begin is.
  Picoseconds software_init;
  Picoseconds report;  // last access of a block until the command processor knows
};

}  // namespace npu::model
