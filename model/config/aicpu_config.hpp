// SPDX-License-Identifier: Apache-2.0
// What programs on the AICPU cores cost (platform/aicpu_port.hpp). Clock and launch are those of
// the `aicpu` section.
#pragma once

#include <cstdint>

#include "npu/base/units.hpp"

namespace npu::model {

struct AicpuProgramConfig {
  std::uint64_t counter_hz;  // system counter, shared with the AI Cores
  unsigned ipc_percent;      // instructions per clock
  // Data cache of each core, lines of 64 bytes, coherent between them.
  Bytes l1;
  unsigned l1_ways;
  Picoseconds l1_hit;         // a load that hits the line of the core's last load
  Picoseconds l1_other_line;  // one that hits another line; not less than l1_hit
  Picoseconds invalidate;     // of a line, by the program
  bool snoops_dma;            // DMA writes drop the lines they hit, as AI Cores' writes do
  Picoseconds snoop;          // an AI Core's write in memory until caches have dropped the line
  // Stores to memory.
  Picoseconds store;       // of the core
  Picoseconds store_done;  // until it is in memory, for others and for a barrier
  unsigned store_buffer;   // stores that are not in memory yet
  Picoseconds atomic;      // a read-modify-write, at the point of coherence
  // Register windows of the AI Cores.
  Picoseconds register_store;       // of the core
  Picoseconds register_store_done;  // until the store is off the core's list
  unsigned register_stores;         // entries of that list
  Picoseconds register_visible;     // until the AI Core sees it
  Picoseconds register_load;        // there and back
  Bytes fetch;                      // a read of a program's image
};

}  // namespace npu::model
