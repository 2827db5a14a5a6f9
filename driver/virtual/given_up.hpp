// SPDX-License-Identifier: Apache-2.0
// A command of the card's that was not over in time and that nobody waits for any more. What it was
// to make is taken back when the card has ended it; what it was to end is looked for.
#pragma once

#include <cstdint>
#include <optional>

#include "driver/virtual/partition_port.hpp"

namespace npu::driver {

class GivenUp {
 public:
  // `creating`: the command was to make the device, else to end it.
  void note(std::uint32_t index, bool creating) { command_ = Command{index, creating}; }
  // Waits for the card as long as the port does. Afterwards nothing is given up. The function
  // without a device by now, whose memory is nobody's; none: it has one, or there was no command.
  // kTimeout: the card is still at it, or at taking it back.
  Result<std::optional<std::uint32_t>> conclude(PartitionPort& port);

 private:
  struct Command {
    std::uint32_t index;
    bool creating;
  };
  std::optional<Command> command_;
};

}  // namespace npu::driver
