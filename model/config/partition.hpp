// SPDX-License-Identifier: Apache-2.0
// What of a card belongs to one function: the physical one of a card that is not divided has all.
// Address spaces are not counted here: every function has kVmids of its own (core/space_id.hpp).
#pragma once

#include "npu/base/units.hpp"

namespace npu::model {

struct Partition {
  // Device memory [memory_base, memory_base + memory). The function and whoever works for it count
  // addresses from 0; what reaches beyond `memory` is refused. Whole pages of 2 MiB.
  Bytes memory_base = 0;
  Bytes memory = 0;
  Bytes usable = 0;                          // HBM_SIZE; the rest is reserved for the card
  unsigned first_cluster = 0, clusters = 0;  // of AI Cores (core_layout.hpp)
  unsigned first_aicpu = 0, aicpus = 0;
  unsigned doorbell_pages = 0;
  unsigned first_engine = 0, dma_engines = 0;  // engines may be shared with other functions
};

}  // namespace npu::model
