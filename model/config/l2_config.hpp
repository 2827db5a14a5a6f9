// SPDX-License-Identifier: Apache-2.0
// Configuration of the cache that the cores of a card share.
#pragma once

#include <cstdint>

#include "npu/base/units.hpp"

namespace npu::model {

struct L2Config {
  Bytes size;              // over all slices; 0: no L2, requests go to the HBM as they are
  Bytes line;              // power of two
  unsigned ways;           // associativity
  unsigned slices;         // power of two
  std::uint64_t clock_hz;  // of the slices
  Bytes slice_per_clock;   // bytes a slice moves per clock, reads and writes together; 0: no time
  Picoseconds noc;         // core to slice; slice to core as much
  Picoseconds hit;         // a read in its slice, beside the clocks that its bytes take
  Picoseconds write;       // the same of a write
  Picoseconds fill;        // slice to HBM port and back, beside the HBM's own time
  unsigned miss_buffers;   // lines on their way from the HBM, per slice
  unsigned write_buffers;  // dirty lines on their way to the HBM, per slice
};

}  // namespace npu::model
