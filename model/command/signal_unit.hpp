// SPDX-License-Identifier: Apache-2.0
// Event waits that were not met when their slot's value was read: which queues they hold up, and
// what wakes them. A record on the card wakes its waiters at once, without another read; the host
// writes a slot and then the process' signal doorbell, which makes the waiters read it again.
#pragma once

#include "model/command/command_types.hpp"

namespace npu::model {

class SignalUnit {
 public:
  explicit SignalUnit(CommandShared& shared) : shared_(shared) {}

  static bool met(const HeadWait& wait, std::uint64_t value);
  void park(HardwareQueue& queue);
  void unpark(HardwareQueue& queue);
  // A queue of the process has written `value`.
  void written(Process& process, const Place& place, std::uint64_t value);
  // What the queue waits for may have been written.
  void look_again(HardwareQueue& queue);
  // The host has written signal slot `slot`.
  void doorbell(Process& process, std::uint64_t slot);

 private:
  void expired(std::uint64_t name);
  void wake_unloaded(HardwareQueue& queue);

  CommandShared& shared_;
  std::vector<HardwareQueue*> told_;  // scratch
};

}  // namespace npu::model
