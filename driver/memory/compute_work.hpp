// SPDX-License-Identifier: Apache-2.0
// What runs on the card beside the driver's own DMA queue, as compaction sees it: compute queues.
#pragma once

#include "npu/base/result.hpp"
#include "npu/base/units.hpp"

namespace npu::driver {

class ComputeWork {
 public:
  virtual ~ComputeWork() = default;
  // Returns when nothing runs and nothing will until resume(), which must follow also after an
  // error: then something may still run.
  virtual Status quiesce(Instant deadline) = 0;
  virtual void resume() = 0;
};

}  // namespace npu::driver
