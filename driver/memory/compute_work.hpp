// SPDX-License-Identifier: Apache-2.0
// What runs on the card beside the driver's own DMA queue, as compaction sees it: compute queues.
#pragma once

#include "npu/base/result.hpp"
#include "npu/base/units.hpp"

namespace npu::driver {

class ComputeWork {
 public:
  virtual ~ComputeWork() = default;
  // Returns when nothing runs and nothing will until let_go(), which must follow also after an
  // error: then something may still run.
  virtual Status hold(Instant deadline) = 0;
  virtual void let_go() = 0;
};

}  // namespace npu::driver
