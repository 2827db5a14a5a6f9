// SPDX-License-Identifier: Apache-2.0
// Entries that must stop their queue, and nothing else.
#pragma once

#include "tests/attack/queues/process.hpp"

namespace npu::attack {

class WrongEntries {
 public:
  explicit WrongEntries(QueueProcess& process) : process_(process), random_(process.random) {}

  WrongEntry any(const Lane& lane);

 private:
  WrongEntry copies(const Lane& lane);
  WrongEntry fills(const Lane& lane);
  WrongEntry launches(const Lane& lane);
  WrongEntry signals(const Lane& lane);
  WrongEntry headers(const Lane& lane);
  WrongEntry garbage();
  driver::DeviceAddress nowhere();
  platform::BusAddress foreign(const Lane& lane);

  QueueProcess& process_;
  fuzz::Random& random_;
};

}  // namespace npu::attack
