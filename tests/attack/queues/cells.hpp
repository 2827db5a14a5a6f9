// SPDX-License-Identifier: Apache-2.0
// The memory of lanes: made, set and looked at with the card's own DMA ring, which has nothing to
// do with compute queues.
#pragma once

#include "tests/attack/queues/process.hpp"

namespace npu::attack {

class Cells {
 public:
  explicit Cells(QueueProcess& process) : process_(process) {}

  static constexpr Bytes kStaging = 1_MiB;

  // The kernel into the process' memory, for all lanes.
  Status load_kernel();
  Status make(Lane& lane, Bytes cell);
  // Sets all cells to values of their own; the lane has no queue, or an idle one.
  void reset(Lane& lane);
  CellWords read(const Lane& lane);
  // Timestamps, in the order of their entries, do not go backwards.
  void check_stamps(Lane& lane);

 private:
  Status copy(bool to_device, driver::DeviceAddress at, Bytes size);

  QueueProcess& process_;
};

}  // namespace npu::attack
